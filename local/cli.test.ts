import { describe, expect, test } from '@jest/globals';

import { parseCli, runCli } from './cli.ts';
import { silent } from './progress.ts';

const never = new AbortController().signal;

describe('npm run cluster', () => {
  test('without arguments it starts the cluster named reprise with three nodes', () => {
    expect(parseCli([])).toEqual({ action: 'start', name: 'reprise', nodes: 3 });
  });

  test.each([
    [['--stop', '--name', 'other'], { action: 'stop', name: 'other', nodes: 3 }],
    [['--nodes=0'], { action: 'start', name: 'reprise', nodes: 0 }],
    [['-h', '--stop'], { action: 'help', name: 'reprise', nodes: 3 }],
  ])('%j', (args, options) => {
    expect(parseCli(args)).toEqual(options);
  });

  test.each([
    [['--name', '../../etc'], '--name ../../etc: up to 40 lower-case letters'],
    [['--name', '-x'], /--name/],
    [['--name', 'Upper'], '--name Upper'],
    [['--nodes', '-1'], /--nodes/],
    [['--nodes', 'many'], '--nodes many: a number from 0 to 9999'],
    [['--stopp'], "Unknown option '--stopp'"],
    [['start'], /start/],
  ])('%j is refused in one line', (args, message) => {
    expect(() => parseCli(args)).toThrow(message);
  });

  test('help says how to use it', async () => {
    const text = await runCli({ action: 'help', name: 'reprise', nodes: 3 }, silent, never);
    expect(text).toContain('eval "$(npm run -s cluster)"');
    for (const option of ['--name', '--nodes', '--stop', '--help']) expect(text).toContain(option);
  });
});
