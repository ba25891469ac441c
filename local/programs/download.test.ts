import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import { cutOff, mute, releaseServer, sha256, stalled, whole } from '../fixtures/release-server.ts';
import { scratch } from '../fixtures/scratch.ts';
import { freePorts } from '../ports.ts';
import { download, DownloadFailed, sumIn } from './download.ts';

const program = Buffer.from('#!/bin/sh\necho v1.2.3\n'.padEnd(20_000, '#'));

describe('a download', () => {
  test('is put in place, executable, when its checksum is the pinned one', async () => {
    await using server = await releaseServer();
    using folder = scratch();
    server.serve('/program', whole(program));
    const seen: number[] = [];
    await download({ url: `${server.base}/program`, sha256: sha256(program) }, `${folder.path}/program`, {
      onBytes: (received) => void seen.push(received),
    });
    expect(readFileSync(`${folder.path}/program`)).toEqual(program);
    expect(statSync(`${folder.path}/program`).mode & 0o777).toBe(0o755);
    expect(seen.at(-1)).toBe(20_000);
  });

  test('a pinned checksum is not read from the server', async () => {
    await using server = await releaseServer();
    using folder = scratch();
    server.serve('/program', whole(program));
    server.serve('/sums', whole(sha256('other')));
    const release = { url: `${server.base}/program`, sha256: sha256(program), checksums: `${server.base}/sums` };
    await download(release, `${folder.path}/program`);
    expect(server.asked).toEqual(['/program']);
  });

  test('without a pinned one, the checksum that the release publishes counts', async () => {
    await using server = await releaseServer();
    using folder = scratch();
    server.serve('/program', whole(program));
    server.serve('/program.sha256', whole(`${sha256(program)}\n`));
    await download(
      { url: `${server.base}/program`, checksums: `${server.base}/program.sha256` },
      `${folder.path}/program`,
    );
    expect(readdirSync(folder.path)).toEqual(['program']);
  });

  test('one file is taken out of an archive', async () => {
    await using server = await releaseServer();
    using folder = scratch();
    using source = scratch();
    mkdirSync(`${source.path}/etcd-v1`);
    writeFileSync(`${source.path}/etcd-v1/etcd`, program);
    writeFileSync(`${source.path}/etcd-v1/README`, 'more');
    const archive = execFileSync('tar', ['-czf', '-', '-C', source.path, 'etcd-v1']);
    server.serve('/etcd.tar.gz', whole(archive));
    const release = { url: `${server.base}/etcd.tar.gz`, sha256: sha256(archive), member: 'etcd-v1/etcd' };
    await download(release, `${folder.path}/etcd`);
    expect(readFileSync(`${folder.path}/etcd`)).toEqual(program);
    expect(readdirSync(folder.path)).toEqual(['etcd']);
  });
});

describe('a download that fails leaves nothing behind and says why', () => {
  const limits = { answerMs: 200, stallMs: 200 };

  async function problemOf(
    serve: (server: Awaited<ReturnType<typeof releaseServer>>) => void,
  ): Promise<DownloadFailed> {
    await using server = await releaseServer();
    using folder = scratch();
    serve(server);
    const release = { url: `${server.base}/program`, checksums: `${server.base}/sums` };
    const problem: unknown = await download(release, `${folder.path}/program`, limits).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(DownloadFailed);
    expect(readdirSync(folder.path)).toEqual([]);
    return problem as DownloadFailed;
  }

  test('wrong checksum', async () => {
    const problem = await problemOf((server) => {
      server.serve('/sums', whole(sha256('what was promised')));
      server.serve('/program', whole(program));
    });
    expect(problem.message).toContain(`SHA-256 is ${sha256(program)}, expected ${sha256('what was promised')}`);
    expect(problem.unreachable).toBe(false);
  });

  test('cut off', async () => {
    const problem = await problemOf((server) => {
      server.serve('/sums', whole(sha256(program)));
      server.serve('/program', cutOff(program));
    });
    expect(problem.message).toMatch(/\/program: ended early, after \d+ of 20000 bytes$/);
  });

  test('stalled half-way', async () => {
    const problem = await problemOf((server) => {
      server.serve('/sums', whole(sha256(program)));
      server.serve('/program', stalled(program));
    });
    expect(problem.message).toMatch(/ended early, after 10000 of 20000 bytes$/);
  });

  test('no answer', async () => {
    const problem = await problemOf((server) => server.serve('/sums', mute));
    expect(problem.message).toMatch(/^127\.0\.0\.1:\d+: no answer within 0\.2 s$/);
    expect(problem.unreachable).toBe(true);
  });

  test('not there', async () => {
    const problem = await problemOf((server) => server.serve('/sums', whole(sha256(program))));
    expect(problem.message).toMatch(/\/program: answered 404$/);
    expect(problem.unreachable).toBe(false);
  });

  test('a checksum file without this file', async () => {
    const problem = await problemOf((server) => server.serve('/sums', whole('<html>not found</html>')));
    expect(problem.message).toMatch(/\/sums: holds no SHA-256 for this file$/);
  });

  test('nobody listens', async () => {
    const [port] = await freePorts(1);
    const release = { url: `http://127.0.0.1:${port}/program`, sha256: sha256(program) };
    const problem = await download(release, '/nowhere/program').catch((error: unknown) => error as DownloadFailed);
    expect(problem).toHaveProperty('message', `127.0.0.1:${port}: ECONNREFUSED`);
    expect(problem).toHaveProperty('unreachable', true);
  });

  test('interrupted: the reason is the interruption, not a failed release', async () => {
    await using server = await releaseServer();
    using folder = scratch();
    const abort = new AbortController();
    server.serve('/program', stalled(program));
    const reason = new Error('Ctrl-C');
    const running = download({ url: `${server.base}/program`, sha256: sha256(program) }, `${folder.path}/program`, {
      signal: abort.signal,
      onBytes: () => abort.abort(reason),
    });
    await expect(running).rejects.toBe(reason);
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

test('checksum files: a hash alone, or the line that names the file', () => {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
  expect(sumIn(a, 'x')).toBe(a);
  expect(sumIn(`${a}  x.tar.gz\n${b}  y.tar.gz\n`, 'y.tar.gz')).toBe(b);
  expect(sumIn(`${a} *x\n`, 'x')).toBe(a);
  expect(sumIn(`${a}  xx\n`, 'x')).toBeUndefined();
  expect(sumIn('short  x', 'x')).toBeUndefined();
});
