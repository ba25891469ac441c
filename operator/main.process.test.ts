import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../test/api.ts';
import { runToEnd, startOperator } from '../test/operator.ts';

// Each test starts processes, on a machine that may be busy.
jest.setTimeout(60_000);

let folder: string;
let kubeconfig: string;
let nobody: Server;
/** A server that takes connections and never answers would be a different fault; here nothing listens at all. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-main-'));
  nobody = createServer().listen(0, '127.0.0.1');
  await once(nobody, 'listening');
  const { port } = nobody.address() as AddressInfo;
  nobody.close();
  kubeconfig = write('kubeconfig', kubeconfigFor(`https://127.0.0.1:${port}`));
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const kubeconfigFor = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 't' } }],
  });
const text = '--log-format=text';

describe('the command line', () => {
  test('explains itself', async () => {
    const { code, stdout, stderr } = await runToEnd(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: operator \[flags\]\n\nServes custom resources of the kinds .*WebServer/);
  });

  test('refuses bad usage with 2 and one line a problem', async () => {
    const { code, stdout, stderr } = await runToEnd(['--log-level=loud', '--resync-period=5'], {
      CDK8S_DISABLE_SORT: '1',
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trim().split('\n')).toEqual([
      '--resync-period: expected a duration such as 30s or 5m, from 1s to 24h, got "5"',
      '--log-level: expected one of debug, info, warn, error, got "loud"',
      'CDK8S_DISABLE_SORT (environment): expected it to be unset, got "1"',
    ]);
  });
});

/** The lines at error level. */
const errorsOf = (stderr: string): string[] => stderr.split('\n').filter((line) => line.includes(' ERROR '));

describe('a start that cannot be', () => {
  test.each([
    ['a kubeconfig that is not there', ['--kubeconfig=/nonexistent/config'], 'no kubeconfig at /nonexistent/config'],
    ['a context that is not there', ['--context=elsewhere'], 'has no context "elsewhere" (it has: here)'],
  ])('for %s ends with 1 and one line that says so', async (_, args, expected) => {
    const { code, stderr } = await runToEnd([`--kubeconfig=${kubeconfig}`, text, ...args]);
    expect(code).toBe(1);
    expect(errorsOf(stderr)).toEqual([expect.stringContaining('ERROR cannot run')]);
    expect(stderr).toContain(JSON.stringify(expected).slice(1, -1));
  });

  test('for a kubeconfig that does not parse ends with 1 and one line that names the file', async () => {
    const broken = write('broken', 'clusters: [');
    const { code, stderr } = await runToEnd([`--kubeconfig=${broken}`, text]);
    expect(code).toBe(1);
    expect(errorsOf(stderr)).toEqual([expect.stringContaining(`kubeconfig ${broken} cannot be read`)]);
  });

  test('for a port that is taken ends with 1 and one line that names the flag', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await runToEnd([
      `--kubeconfig=${kubeconfig}`,
      text,
      `--health-probe-bind-address=127.0.0.1:${port}`,
    ]);
    taken.close();
    expect(code).toBe(1);
    expect(errorsOf(stderr)).toHaveLength(1);
    expect(stderr).toContain(
      `cannot listen on 127.0.0.1:${port}: the port is taken; choose another with --health-probe-bind-address`,
    );
  });
});

describe('an operator whose API server is away', () => {
  test('waits, says so once, is healthy but not ready, and stops in order', async () => {
    await using operator = await startOperator({ namespaces: ['shop'], kubeconfig });
    await eventually(
      () => Promise.resolve(operator.log().map(({ msg }) => msg)),
      (messages) => messages.includes('the API server does not answer; waiting for it'),
    );
    expect((await operator.probe('/readyz?verbose')).body).toContain(
      '[-]synced-webservers.webserver.example.com failed: reason withheld',
    );
    expect((await operator.probe('/readyz/synced-webservers.webserver.example.com')).body).toContain(
      'connection refused',
    );
    expect((await operator.probe('/healthz')).status).toBe(200);
    expect(await operator.metric('rest_client_requests_total', { code: '<error>' })).toBeGreaterThan(0);
    const { code } = await operator.stop();
    expect(code).toBe(0);
    const messages = operator.log().map(({ msg }) => msg);
    expect(messages.filter((message) => message === 'the API server does not answer; waiting for it')).toHaveLength(1);
    expect(messages.slice(-2)).toEqual(['stopping', 'stopped']);
  });
});
