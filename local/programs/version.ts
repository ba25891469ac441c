/** Versions of programs: read from the program itself, judged by the table's rule. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { Fit, Program } from './table.ts';

const run = promisify(execFile);

/** Enough for a cold start from a slow disk; a program that says nothing for longer is not what it claims to be. */
const timeoutMs = 20_000;

/** The first version number in a program's answer; `undefined` when there is none. */
export function parseVersion(answer: string): string | undefined {
  return /\bv?(\d+\.\d+\.\d+)/.exec(answer)?.[1];
}

/** Asks the program at `path` for its version; the reason in words when it does not say. */
export async function askVersion(
  program: Program,
  path: string,
  timeout: number = timeoutMs,
): Promise<{ readonly version: string } | { readonly problem: string }> {
  try {
    const { stdout, stderr } = await run(path, [...program.versionArgs], {
      timeout,
      killSignal: 'SIGKILL',
      env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: 'true' },
    });
    const version = parseVersion(stdout) ?? parseVersion(stderr);
    return version === undefined ? { problem: 'does not tell its version' } : { version };
  } catch (error) {
    const { killed, code } = error as { killed?: boolean; code?: unknown };
    return { problem: killed === true ? 'does not answer' : `cannot be run (${String(code)})` };
  }
}

/** Whether a found version will do. */
export function fits(program: Program, version: string): boolean {
  const [major, minor, patch] = numbersOf(version);
  const [wantedMajor, wantedMinor, wantedPatch] = numbersOf(lowestFitting(program));
  if (major !== wantedMajor) return false;
  switch (program.fits.rule) {
    case 'same-minor':
      return minor === wantedMinor;
    case 'within-one-minor':
      return Math.abs(minor - wantedMinor) <= 1;
    case 'at-least':
      return minor > wantedMinor || (minor === wantedMinor && patch >= wantedPatch);
  }
}

/** The rule in words: `1.36`. */
export function wordingOf(program: Program): string {
  const [major, minor] = numbersOf(lowestFitting(program));
  const words: Record<Fit['rule'], string> = {
    'same-minor': `${major}.${minor}`,
    'within-one-minor': `${major}.${minor - 1} to ${major}.${minor + 1}`,
    'at-least': `${major}.${minor} or a later ${major}`,
  };
  return words[program.fits.rule];
}

function lowestFitting(program: Program): string {
  return program.fits.rule === 'at-least' ? program.fits.version : program.version;
}

function numbersOf(version: string): readonly [number, number, number] {
  const [major, minor, patch] = version.split('.').map(Number);
  return [major ?? NaN, minor ?? NaN, patch ?? NaN];
}
