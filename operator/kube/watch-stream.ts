/** The events of one watch connection. */
import type { WatchEvent } from './client.ts';
import { apiErrorOfStatus, ProtocolError, type Status } from './errors.ts';
import { LineSplitter } from './lines.ts';

const types: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** An object of the API has metadata, if only for its resourceVersion; the Status of an ERROR needs none. */
const isEvent = (value: Partial<WatchEvent> | null): value is WatchEvent =>
  types.has(value?.type) && isMap(value?.object) && (value.type === 'ERROR' || isMap(value.object.metadata));

/** A line that is no event is an error, never skipped: what it said would be lost for ever. */
const eventOf = (line: string): WatchEvent => {
  let value: Partial<WatchEvent & Status> | null;
  try {
    value = JSON.parse(line) as Partial<WatchEvent & Status> | null;
  } catch (error) {
    throw new ProtocolError('a watch sent a line that is not JSON', error);
  }
  // Some servers and proxies answer 200 and then a bare Status in place of a stream.
  if (value?.kind === 'Status') throw apiErrorOfStatus(value, { status: 500 });
  if (!isEvent(value)) throw new ProtocolError('a watch sent a line that is no event');
  return value;
};

/** Ends when the server ends the stream; throws when the connection breaks or the stream ends within a line. */
export async function* watchEvents(
  open: () => AsyncIterable<Buffer>,
  maxEventBytes: number,
): AsyncGenerator<WatchEvent, void, void> {
  const lines = new LineSplitter(maxEventBytes);
  for await (const chunk of open()) {
    for (const line of lines.push(chunk)) yield eventOf(line);
  }
  if (lines.pendingBytes > 0) throw new ProtocolError('a watch ended in the middle of an event');
}
