/**
 * `npm run check`: everything that must hold before a commit. The steps of one lane run in order, the lanes side by side: on two
 * cores that takes little more than half of the time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const lanes = [['typecheck', 'lint', 'format:check'], ['test:unit']] as const;

interface Result {
  readonly step: string;
  readonly isOk: boolean;
}

/** Runs an npm script; prints what it said once it has ended, so that lanes do not mix. */
async function run(step: string): Promise<Result> {
  const begun = Date.now();
  const child = spawn('npm', ['run', '--silent', step], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  const isOk = code === 0;
  const seconds = ((Date.now() - begun) / 1000).toFixed(0);
  if (!isOk || step.startsWith('test')) process.stdout.write(Buffer.concat(said));
  console.log(`${isOk ? 'ok' : 'FAILED'}  ${step} (${seconds} s)`);
  return { step, isOk };
}

async function inOrder(steps: readonly string[]): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const step of steps) results.push(await run(step));
  return results;
}

const results = (await Promise.all(lanes.map(inOrder))).flat();
const failed = results.filter(({ isOk }) => !isOk).map(({ step }) => step);
if (failed.length > 0) console.error(`check failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
