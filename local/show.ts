/** Shows resources becoming ready, until they are or for as long as one likes to look. */
import type { KubeObject } from '../charts/resource.ts';
import { rowsAsTable } from './live.ts';
import type { Live, Row } from './live.ts';
import type { OperatorProcess } from './operator-process.ts';

/** What is shown, who makes it so, and where. */
export interface View {
  readonly live: Live;
  readonly operator: Pick<OperatorProcess, 'ended'>;
  readonly screen: Screen;
}

/** The samples did not become ready; the message says which and why. */
export class NotReady extends Error {}

/** Shows the table at each change until all of `applied` are ready. Throws NotReady after `timeoutMs`. */
export async function untilReady(
  view: View,
  applied: readonly KubeObject[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(timeoutMs);
  const names = new Set(applied.map(({ kind, metadata }) => idOf({ kind, name: metadata.name })));
  for (;;) {
    const rows = view.live.rows();
    view.screen.show(rows);
    const waiting = [...names].filter((name) => !rows.some((row) => idOf(row) === name && row.ready));
    if (waiting.length === 0) return;
    if (limit.aborted) throw new NotReady(whyNot(waiting, rows, timeoutMs));
    await change(view, AbortSignal.any([signal, limit]));
    signal.throwIfAborted();
  }
}

/** Goes on showing until interrupted. */
export async function follow(view: View, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await change(view, signal);
    view.screen.show(view.live.rows());
  }
}

const idOf = ({ kind, name }: Pick<Row, 'kind' | 'name'>): string => `${kind}/${name}`;

function whyNot(waiting: readonly string[], rows: readonly Row[], timeoutMs: number): string {
  const reason = (name: string): string => rows.find((row) => idOf(row) === name)?.message ?? 'not there';
  return `not ready after ${timeoutMs / 1000} s: ${waiting.map((name) => `${name}: ${reason(name)}`).join('; ')}`;
}

/** Resolves at the next change; an operator that ends by itself is an error at once. */
async function change({ live, operator }: View, signal: AbortSignal): Promise<void> {
  const ended = operator.ended.then(({ code, signal: by, lastLines }) => {
    const how = by ?? `exit code ${code ?? 'unknown'}`;
    throw new Error(`the operator ended by itself (${how}). Its last lines:\n${lastLines}`);
  });
  // On Ctrl-C it ends because we ask it to.
  ended.catch(() => undefined);
  await Promise.race([live.changed(signal), ended]);
}

/** On a terminal the table is written over; elsewhere only the lines that changed are printed. */
export class Screen {
  readonly #out: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly #now: () => number;
  #shown: readonly string[] = [];

  constructor(out: { write(text: string): unknown; readonly isTTY?: boolean }, now: () => number = Date.now) {
    this.#out = out;
    this.#now = now;
  }

  show(rows: readonly Row[]): void {
    const lines = rows.length === 0 ? [] : rowsAsTable(rows, this.#now());
    if (this.#out.isTTY === true) {
      const up = this.#shown.length === 0 ? '' : `\u001b[${this.#shown.length}A`;
      this.#out.write(`${up}${lines.map((line) => `\u001b[K${line}\n`).join('')}\u001b[J`);
    } else {
      for (const line of lines) if (!this.#shown.includes(line)) this.#out.write(`${line}\n`);
    }
    this.#shown = lines;
  }

  /** Text that stays, below what was shown. */
  say(text: string): void {
    this.#out.write(`${text}\n`);
    this.#shown = [];
  }
}
