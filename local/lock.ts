/**
 * One process at a time does a piece of work; others wait, say so, and see how far it is. The lock only keeps order and
 * saves work: what it guards is also safe when a lock was wrongly given up.
 */
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { readJson } from './owned-folder.ts';
import { isAlive, thisProcess } from './owner.ts';
import type { Owner } from './owner.ts';
import type { Progress } from './progress.ts';

/** A holder that cannot be asked (another container on the same folder) is given up after so long without a word. */
const silenceMs = 60_000;

export interface LockOptions {
  /** What the holder does, for those who wait: `gets the programs`. */
  readonly what: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  /** @default 300 */
  readonly pollMs?: number;
  /** @default Date.now */
  readonly now?: () => number;
}

/**
 * Waits for the lock at `path`, does the work, lets go. `work` gets a Progress that the waiting processes see too.
 * A lock whose holder is gone is taken over.
 */
export async function withLock<Result>(
  path: string,
  options: LockOptions,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  const { what, progress, signal, pollMs = 300, now = Date.now } = options;
  let told = false;
  while (!take(path, now())) {
    signal?.throwIfAborted();
    if (!told) progress.say(`Another process (${holderOf(path)?.pid ?? 'unknown'}) ${what}: waiting for it`);
    told = true;
    const word = wordOf(path);
    if (word !== undefined) progress.update(word);
    await delay(pollMs, undefined, signal === undefined ? {} : { signal });
  }
  try {
    return await work(shared(path, progress));
  } finally {
    letGo(path);
  }
}

function letGo(path: string): void {
  // Given up as silent, it may be another's by now.
  if (holderOf(path)?.pid !== process.pid) return;
  rmSync(wordPath(path), { force: true });
  rmSync(path, { force: true });
}

/** Makes the lock ours if it is free or its holder is gone. */
function take(path: string, now: number): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const holder = holderOf(path);
  if (holder !== undefined && isGone(holder, path, now)) rmSync(path, { force: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(thisProcess()));
  try {
    // A link appears whole and only if the name is free; writing in place could be seen half-written.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function isGone(holder: Owner, path: string, now: number): boolean {
  const alive = isAlive(holder);
  return alive === undefined ? now - Math.max(changedAt(path), changedAt(wordPath(path))) > silenceMs : !alive;
}

/** When the file last changed; 0 when there is none. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function holderOf(path: string): Owner | undefined {
  return readJson(path) as Owner | undefined;
}

const wordPath = (path: string): string => `${path}.progress`;

function wordOf(path: string): string | undefined {
  try {
    return readFileSync(wordPath(path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Progress that is also written down for those who wait. */
function shared(path: string, progress: Progress): Progress {
  const write = (line: string): void => writeFileSync(wordPath(path), line);
  return {
    say(line) {
      write(line);
      progress.say(line);
    },
    update(line) {
      write(line);
      progress.update(line);
    },
  };
}
