import { describe, expect, test } from '@jest/globals';

import { scratch, script } from '../fixtures/scratch.ts';
import { programs } from './table.ts';
import type { ProgramName } from './table.ts';
import { askVersion, fits, parseVersion, wordingOf } from './version.ts';

describe('versions of programs', () => {
  test.each([
    ['etcd Version: 3.6.14\nGit SHA: Not provided\nGo Version: go1.26.8\n', '3.6.14'],
    ['Kubernetes v1.36.2\n', '1.36.2'],
    ['Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0\n', '1.32.4'],
    ['kwok version v0.8.0 go1.26.8 (linux/amd64)\n', '0.8.0'],
    ['v3.259.0\n', '3.259.0'],
    ['Kubernetes v0.0.0-master+$Format:%H$\n', '0.0.0'],
    ['hello', undefined],
  ])('%j says %s', (answer, version) => {
    expect(parseVersion(answer)).toBe(version);
  });

  test.each<[ProgramName, string, boolean]>([
    ['kube-apiserver', '1.36.0', true],
    ['kube-apiserver', '1.36.9', true],
    ['kube-apiserver', '1.35.9', false],
    ['kube-apiserver', '1.37.0', false],
    ['kube-apiserver', '2.36.2', false],
    ['kubectl', '1.35.0', true],
    ['kubectl', '1.37.4', true],
    ['kubectl', '1.34.9', false],
    ['etcd', '3.6.0', true],
    ['etcd', '3.5.21', false],
    ['kwokctl', '0.8.1', true],
    ['kwokctl', '0.7.0', false],
    ['pulumi', '3.100.0', true],
    ['pulumi', '3.99.0', false],
    ['pulumi', '3.300.1', true],
    ['pulumi', '4.0.0', false],
  ])('%s %s will do: %s', (name, version, will) => {
    expect(fits(programs[name], version)).toBe(will);
  });

  test('says what is needed', () => {
    expect(wordingOf(programs['kube-apiserver'])).toBe('1.36');
    expect(wordingOf(programs.kubectl)).toBe('1.35 to 1.37');
    expect(wordingOf(programs.pulumi)).toBe('3.100 or a later 3');
  });

  test('asks the program, and says why it cannot', async () => {
    using folder = scratch();
    const ask = (...lines: string[]): ReturnType<typeof askVersion> =>
      askVersion(programs.etcd, script(`${folder.path}/etcd`, ...lines), 500);
    expect(await ask('[ "$1" = --version ] && echo "etcd Version: 3.6.1"')).toEqual({ version: '3.6.1' });
    expect(await ask('echo hello')).toEqual({ problem: 'does not tell its version' });
    expect(await ask('exit 3')).toEqual({ problem: 'cannot be run (3)' });
    expect(await ask('exec sleep 60')).toEqual({ problem: 'does not answer' });
    expect(await askVersion(programs.etcd, `${folder.path}/nothing`)).toEqual({ problem: 'cannot be run (ENOENT)' });
  });
});
