/** Official releases: fetched, checked against a checksum, unpacked. Nothing unchecked is ever put in place. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

import type { Release } from './table.ts';

const run = promisify(execFile);

export interface DownloadOptions {
  /** Until the first byte of an answer. Short: where releases are not to be had, the next way must not wait. @default 5 s */
  readonly answerMs?: number;
  /** Between two pieces of a download. @default 15 s */
  readonly stallMs?: number;
  /** Called with bytes so far and, when known, of how many. */
  readonly onBytes?: (received: number, total: number | undefined) => void;
  readonly signal?: AbortSignal;
}

/** A release could not be had; the message is for people and names the address. The caller takes the next way. */
export class DownloadFailed extends Error {
  /** Whether nobody answered: then other files of the same host are not worth a try. */
  readonly unreachable: boolean;

  constructor(
    url: string,
    problem: string,
    options: { readonly cause?: unknown; readonly unreachable?: boolean } = {},
  ) {
    super(`${url}: ${problem}`, { cause: options.cause });
    this.unreachable = options.unreachable ?? false;
  }
}

/** Puts the program of a release at `target`. Throws DownloadFailed; then nothing is at `target`. */
export async function download(release: Release, target: string, options: DownloadOptions = {}): Promise<void> {
  const expected = release.sha256 ?? (await publishedSum(release, options));
  const file = `${target}.download`;
  try {
    const actual = await fetchTo(release.url, file, options);
    if (actual !== expected) {
      throw new DownloadFailed(release.url, `SHA-256 is ${actual}, expected ${expected}`);
    }
    if (release.member === undefined) renameSync(file, target);
    else await unpack(file, release.member, target);
    chmodSync(target, 0o755);
  } finally {
    rmSync(file, { force: true });
  }
}

/** The hash that the release itself publishes for the file. */
async function publishedSum(release: Release, options: DownloadOptions): Promise<string> {
  const url = release.checksums;
  if (url === undefined) throw new DownloadFailed(release.url, 'has no checksum');
  const { response, stop } = await ask(url, options);
  const text = await response.text().catch((error: unknown) => {
    throw new DownloadFailed(url, 'ended early', { cause: error });
  });
  stop();
  const sum = sumIn(text, basename(new URL(release.url).pathname));
  if (sum === undefined) throw new DownloadFailed(url, 'holds no SHA-256 for this file');
  return sum;
}

/** The hash in a checksum file: alone, or on the line that names the file. */
export function sumIn(text: string, file: string): string | undefined {
  const alone = /^\s*([0-9a-f]{64})\s*$/.exec(text);
  if (alone !== null) return alone[1];
  const lines = text.split('\n').map((line) => line.trim().split(/\s+\*?/));
  return lines.find(([sum, name]) => name === file && /^[0-9a-f]{64}$/.test(sum ?? ''))?.[0];
}

/** Writes what the address gives to a file and gives its SHA-256. */
async function fetchTo(url: string, file: string, options: DownloadOptions): Promise<string> {
  const { response, stop, alive } = await ask(url, options);
  const length = response.headers.get('content-length');
  const total = length === null ? undefined : Number(length);
  const hash = createHash('sha256');
  let received = 0;
  const counted = async function* (body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      alive();
      hash.update(chunk);
      received += chunk.length;
      options.onBytes?.(received, total);
      yield chunk;
    }
  };
  try {
    if (response.body === null) throw new Error('empty answer');
    await pipeline(response.body, counted, createWriteStream(file));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new DownloadFailed(url, `ended early, after ${received} of ${total ?? 'unknown'} bytes`, { cause: error });
  } finally {
    stop();
  }
  return hash.digest('hex');
}

interface Asked {
  readonly response: Response;
  /** Another piece has come: the stall clock starts anew. */
  readonly alive: () => void;
  readonly stop: () => void;
}

async function ask(url: string, { answerMs = 5_000, stallMs = 15_000, signal }: DownloadOptions): Promise<Asked> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), answerMs);
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), stallMs);
  };
  const stop = (): void => clearTimeout(timer);
  try {
    const signals = signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal]);
    const response = await fetch(url, { signal: signals });
    if (!response.ok) throw new DownloadFailed(url, `answered ${response.status}`);
    alive();
    return { response, alive, stop };
  } catch (error) {
    stop();
    signal?.throwIfAborted();
    if (error instanceof DownloadFailed) throw error;
    throw new DownloadFailed(new URL(url).host, reasonOf(error, silence.signal, answerMs), {
      cause: error,
      unreachable: true,
    });
  }
}

function reasonOf(error: unknown, silence: AbortSignal, answerMs: number): string {
  if (silence.aborted) return `no answer within ${answerMs / 1000} s`;
  const cause = (error as Error).cause as { code?: string; message?: string } | undefined;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

/** Takes one file out of a tar.gz archive. */
async function unpack(archive: string, member: string, target: string): Promise<void> {
  const folder = `${target}.unpacked`;
  mkdirSync(folder, { recursive: true });
  try {
    await run('tar', ['-xzf', archive, '-C', folder, member]);
    renameSync(join(folder, member), target);
  } catch (error) {
    throw new DownloadFailed(archive, `cannot be unpacked (${(error as Error).message.trim()})`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
