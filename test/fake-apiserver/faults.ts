/**
 * Faults as arguments. A fault is put on requests (`on`), so many times; it either spoils the reply or the stream of a watch.
 *
 *   server.fault({ verb: 'watch', times: 3 }, reset(2))       the next three watches are cut after two events
 *   server.fault({ verb: 'create' }, lostAnswer())            the next create is done, but its answer never comes
 */

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'status' | 'delete';

/** Which requests a fault is for. */
export interface On {
  readonly verb?: Verb;
  /** Plural. */
  readonly resource?: string;
  /** @default 1 */
  readonly times?: number;
  /** Of the requests that match, leaves so many alone first. @default 0 */
  readonly after?: number;
  /** Only those with this query parameter, for example `sendInitialEvents`. */
  readonly query?: string;
}

/** What becomes of one reply. */
export type ReplyFault =
  | { readonly kind: 'refuse'; readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number }
  | { readonly kind: 'text'; readonly code: number; readonly text: string }
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  | { readonly kind: 'truncate' }
  | { readonly kind: 'drip'; readonly bytes: number }
  | { readonly kind: 'stale'; readonly version: number };

/** What a watch does with one line. `index` counts the lines that the server means to send, from 0. */
export type StreamAct =
  | { readonly send: readonly (string | Buffer)[]; readonly then?: 'end' | 'reset' | 'stall' }
  | { readonly send?: undefined; readonly then: 'end' | 'reset' | 'stall' };

export interface StreamFault {
  readonly kind: 'stream';
  /** Called once before any line, with index -1 and no line, then for each line. */
  readonly act: (line: StreamLine, index: number) => StreamAct;
  /** Writes go out in pieces of so many bytes. */
  readonly pieces?: number;
}

export interface StreamLine {
  readonly type: string;
  /** With its newline. */
  readonly text: string;
}

export type Fault = ReplyFault | StreamFault;

// Replies ------------------------------------------------------------------------------------------------------------

/** An error reply; nothing is done. */
export const refuse = (code: number, reason: string, retryAfterSeconds?: number): ReplyFault => ({
  kind: 'refuse',
  code,
  reason,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
});

/** A reply that is no JSON, or the wrong JSON. */
export const text = (code: number, body: string): ReplyFault => ({ kind: 'text', code, text: body });

/** The connection is reset; nothing is done. */
export const lostRequest = (): ReplyFault => ({ kind: 'reset', when: 'before' });

/** Done, but the connection is reset before the answer. */
export const lostAnswer = (): ReplyFault => ({ kind: 'reset', when: 'after' });

/** Never answers. */
export const hang = (): ReplyFault => ({ kind: 'hang' });

/** Works on the request at once, answers when the promise resolves. */
export const hold = (until: Promise<void>): ReplyFault => ({ kind: 'hold', until });

/** Half of the body, then the connection is closed. */
export const truncate = (): ReplyFault => ({ kind: 'truncate' });

/** So many bytes of the body, then silence. */
export const drip = (bytes: number): ReplyFault => ({ kind: 'drip', bytes });

/** Answers from the past: another API server that is behind. */
export const stale = (version: number): ReplyFault => ({ kind: 'stale', version });

// Streams ------------------------------------------------------------------------------------------------------------

const stream = (act: StreamFault['act'], pieces?: number): StreamFault => ({
  kind: 'stream',
  act,
  ...(pieces !== undefined && { pieces }),
});

const after =
  (count: number, then: 'end' | 'reset' | 'stall', last: readonly (string | Buffer)[] = []): StreamFault['act'] =>
  (line, index) => {
    if (index + 1 < count) return { send: [line.text] };
    return { send: [line.text, ...last], then };
  };

/** The server ends the stream politely after so many lines; 0: at once. */
export const end = (count: number): StreamFault => stream(after(count, 'end'));

/** The connection is reset after so many lines. */
export const reset = (count: number): StreamFault => stream(after(count, 'reset'));

/** Silent for ever after so many lines: half-open, as far as the client can tell. */
export const stall = (count: number): StreamFault => stream(after(count, 'stall'));

/** After so many lines an ERROR event with that code, then the end. */
export const streamError = (count: number, code: number, reason: string): StreamFault => {
  const object = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code,
    reason,
    message: `injected ${reason}`,
  };
  return stream(after(count, 'end', [`${JSON.stringify({ type: 'ERROR', object })}\n`]));
};

/** After so many lines one that is no JSON. The stream goes on. */
export const garbage = (count: number): StreamFault =>
  stream((line, index) => ({ send: index + 1 === count ? [line.text, '{"type":"MODIF\n'] : [line.text] }));

/** A line that is JSON but no event. */
export const notAnEvent = (count: number, value: unknown): StreamFault =>
  stream((line, index) => ({ send: index + 1 === count ? [line.text, `${JSON.stringify(value)}\n`] : [line.text] }));

/** Cut within the line after so many: `where` finds the place, in bytes. */
export const cutWithin = (count: number, where: (line: Buffer) => number): StreamFault =>
  stream((line, index) => {
    if (index < count) return { send: [line.text] };
    const bytes = Buffer.from(line.text);
    return { send: [bytes.subarray(0, where(bytes))], then: 'reset' };
  });

/** Everything, in pieces of so many bytes: JSON and UTF-8 characters are split. */
export const inPieces = (bytes: number): StreamFault => stream((line) => ({ send: [line.text] }), bytes);

/** Every event twice. */
export const twice = (): StreamFault => stream((line) => ({ send: [line.text, line.text] }));

/** Lines for which it holds are never sent: a DELETED that is lost, an end bookmark that does not come. */
export const without = (holds: (line: StreamLine) => boolean): StreamFault =>
  stream((line) => ({ send: holds(line) ? [] : [line.text] }));

export const withoutEndBookmark = (): StreamFault => without((line) => line.text.includes('k8s.io/initial-events-end'));

/** Neighbours change places, two by two; the last of an odd number waits for its neighbour. */
export const swapped = (): StreamFault => {
  let kept: string | undefined;
  return stream((line, index) => {
    if (index < 0) return { send: [] };
    if (kept === undefined) {
      kept = line.text;
      return { send: [] };
    }
    const send = [line.text, kept];
    kept = undefined;
    return { send };
  });
};
