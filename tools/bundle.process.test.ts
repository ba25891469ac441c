import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runToEnd } from '../test/operator.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
// Each test starts processes, on a machine that may be busy.
jest.setTimeout(60_000);

let folder: string;
let file: string;
let said: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-bundle-'));
  file = join(folder, 'main.mjs');
  said = await bundleTo(file, root);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function bundleTo(outfile: string, cwd: string): Promise<string> {
  const { stdout } = await run(process.execPath, [join(root, 'tools/bundle.ts'), outfile], { cwd });
  return stdout;
}

describe('the bundle', () => {
  test('is the same bytes when it is made again, elsewhere', async () => {
    const again = join(folder, 'deeper/again.mjs');
    await bundleTo(again, folder);
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
  });

  test('names no folder of the machine that made it', () => {
    expect(readFileSync(file, 'utf8')).not.toContain(root);
  });

  test('holds few packages, none for deploying and none for kubeconfigs', () => {
    const packages = said.trim().split(': ').at(-1)!.split(', ');
    expect(packages).toEqual(expect.arrayContaining(['cdk8s', 'constructs', 'prom-client']));
    expect(packages.filter((name) => /pulumi|client-node|jest|typescript/.test(name))).toEqual([]);
    expect(packages.length).toBeLessThanOrEqual(12);
    expect(statSync(file).size).toBeLessThan(6_000_000);
  });

  test('runs by itself, without node_modules', async () => {
    const help = await runToEnd(['--help'], {}, file);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('--resync-period DURATION');
    expect(await runToEnd(['--version'], {}, file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^reprise \d+\.\d+\.\d+\n$/),
    });
  });

  test('says what to do when it is given a kubeconfig, which it cannot read', async () => {
    const { code, stderr } = await runToEnd([`--kubeconfig=${file}`, '--log-format=text'], {}, file);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'this build reads no kubeconfig: run it in a pod with a ServiceAccount, or from the repository with npm run dev',
    );
  });
});
