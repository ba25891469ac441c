import { afterAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';

import { recorded, scratch, script } from '../fixtures/scratch.ts';
import { build, goEnvironment, meterOf, moduleFolder, modulesIn, whyNotBuild, whyNotWith } from './build.ts';
import { programs } from './table.ts';

const folder = scratch();
afterAll(() => folder[Symbol.dispose]());
let count = 0;

/** An environment whose `go` is this script. */
function withGo(...lines: readonly string[]): NodeJS.ProcessEnv {
  const bin = join(folder.path, `go-${++count}`);
  script(join(bin, 'go'), ...lines);
  return { PATH: [bin, process.env['PATH']].join(delimiter), GOFLAGS: '-mod=vendor', GOOS: 'plan9' };
}

function target(): string {
  const path = join(folder.path, `target-${++count}`);
  mkdirSync(path);
  return path;
}

/** Answers like Go: lists three packages; "compiles" them; leaves the binary under Go's name for it. */
const goodGo = [
  'if [ "$1" = list ]; then',
  '  echo "go: downloading example.org/a v1.0.0" >&2; echo unsafe; echo internal/cpu; echo example.org/a; exit 0',
  'fi',
  'while [ "$1" != -o ]; do echo "arg $1" >>"$PWD_LOG"; shift; done; out="$2"; shift 2',
  'echo "env $GOOS $GOFLAGS $CGO_ENABLED $GOWORK in $(pwd)" >>"$PWD_LOG"',
  'echo unsafe >&2; echo internal/cpu >&2; echo example.org/a >&2',
  'for package in "$@"; do echo "package $package" >>"$PWD_LOG"; touch "$out/$(basename "$(dirname "$package/x")" | sed s/^v3$/server/)"; done',
];

describe('a build', () => {
  test('makes all programs in one run of Go, under their own names', async () => {
    const to = target();
    const progress = recorded();
    const log = join(to, '.log');
    const environment = { ...withGo(...goodGo), PWD_LOG: log };
    const pids: number[] = [];
    await build([programs.etcd, programs.kwokctl], to, {
      progress,
      environment,
      onStart: (pid) => void pids.push(pid),
    });
    expect(existsSync(join(to, 'etcd'))).toBe(true);
    expect(existsSync(join(to, 'kwokctl'))).toBe(true);
    const said = readFileSync(log, 'utf8');
    expect(said).toContain('package go.etcd.io/etcd/server/v3\npackage sigs.k8s.io/kwok/cmd/kwokctl\n');
    expect(said).toContain(`env  -mod=readonly -p=${availableParallelism()} 0 off in ${moduleFolder}\n`);
    expect(said).toContain('arg -trimpath\n');
    expect(pids).toHaveLength(2);
    expect(progress.updates[0]).toMatch(/^Downloading Go modules: 1 of \d{3}, 0:00$/);
    expect(progress.said).toEqual([expect.stringMatching(/^Built etcd, kwokctl in 0:0\d$/)]);
  });

  test('that fails throws the last words of Go, without its progress', async () => {
    const go = ['[ "$1" = list ] && exit 0', 'echo example.org/a >&2; echo "a.go:1: no such thing" >&2; exit 1'];
    const running = build([programs.kwok], target(), { progress: recorded(), environment: withGo(...go) });
    await expect(running).rejects.toThrow('go failed (1): a.go:1: no such thing');
  });

  test('that is interrupted ends Go in order and throws the reason', async () => {
    const to = target();
    const ended = join(to, 'ended');
    const go = [
      '[ "$1" = list ] && exit 0',
      `trap 'touch ${ended}; exit 1' INT`,
      'echo example.org/a >&2; while true; do sleep 0.05; done',
    ];
    const abort = new AbortController();
    const reason = new Error('Ctrl-C');
    const pids: number[] = [];
    const running = build([programs.kwok], to, {
      progress: { say: () => undefined, update: () => abort.abort(reason) },
      environment: withGo(...go),
      signal: abort.signal,
      onStart: (pid) => void pids.push(pid),
    });
    await expect(running).rejects.toBe(reason);
    expect(pids).toHaveLength(2);
    expect(existsSync(ended)).toBe(true);
  });
});

describe('settings of Go', () => {
  test('two cores: single-threaded compilers, each with its share of the memory', () => {
    expect(
      goEnvironment({ GOFLAGS: '-mod=vendor', GOOS: 'plan9', HOME: '/me' }, { cores: 2, memoryBytes: 8 * 2 ** 30 }),
    ).toEqual({
      HOME: '/me',
      GOGC: 'off',
      GOMEMLIMIT: '2048MiB',
      GOMAXPROCS: '1',
      CGO_ENABLED: '0',
      GOWORK: 'off',
      GOFLAGS: '-mod=readonly -p=2',
    });
  });

  test('many cores: threads as Go likes; never too little memory, never more than is of use', () => {
    const small = goEnvironment({}, { cores: 16, memoryBytes: 4 * 2 ** 30 });
    expect([small['GOMEMLIMIT'], small['GOMAXPROCS']]).toEqual(['512MiB', undefined]);
    expect(goEnvironment({}, { cores: 2, memoryBytes: 64 * 2 ** 30 })['GOMEMLIMIT']).toBe('3072MiB');
  });

  test('what the user sets for memory counts', () => {
    expect(goEnvironment({ GOMEMLIMIT: '1GiB', GOGC: '100' }, { cores: 2, memoryBytes: 2 ** 33 })).toMatchObject({
      GOMEMLIMIT: '1GiB',
      GOGC: '100',
    });
  });
});

describe('whether Go can build', () => {
  test.each([
    ['go1.26.8', 'local', undefined],
    ['go1.27.0', 'auto', undefined],
    ['go1.24.1', 'auto', undefined],
    ['go1.24.1', 'local', 'go on PATH is 1.24.1, 1.26 is needed'],
    ['go1.19', 'auto', 'go on PATH is 1.19, 1.26 is needed'],
    ['devel go1.28-abc', 'local', undefined],
  ])('%s with GOTOOLCHAIN %s: %s', (version, toolchain, reason) => {
    expect(whyNotWith(version, toolchain)).toBe(reason);
  });

  test('asks the one on PATH', async () => {
    expect(await whyNotBuild(withGo('echo go1.20.1; echo auto'))).toBe('go on PATH is 1.20.1, 1.26 is needed');
    expect(await whyNotBuild(withGo('echo go1.26.1; echo auto'))).toBeUndefined();
    expect(await whyNotBuild(withGo('echo broken >&2; exit 1'))).toBe('go does not run: broken');
    expect(await whyNotBuild({ PATH: '/nowhere' })).toBe('no go on PATH');
  });
});

describe('the meter', () => {
  test('counts packages, tells them from other words, and shows both counts and the time', () => {
    let now = 0;
    const meter = meterOf({ packages: 2_341, programs: 8, now: () => now });
    for (let index = 0; index < 1_230; index++) expect(meter.take(`k8s.io/api/v${index}`)).toBe(true);
    expect(meter.take('gopkg.in/yaml.v3')).toBe(true);
    expect(meter.take('go: downloading x v1')).toBe(true);
    expect(meter.take('# k8s.io/api')).toBe(false);
    expect(meter.take('a.go:1:2: undefined: x')).toBe(false);
    now = 100_000;
    expect(meter.line(3)).toBe('Building 8 programs: 1,231 of 2,341 packages compiled, 3 of 8 linked, 1:40');
  });

  test('modules are those whose content go.sum pins', () => {
    expect(modulesIn('a v1 h1:x=\na v1/go.mod h1:y=\nb v2/go.mod h1:z=\n')).toBe(1);
    expect(modulesIn(readFileSync(join(moduleFolder, 'go.sum'), 'utf8'))).toBeGreaterThan(300);
  });
});
