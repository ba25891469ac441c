/** The events of one watch connection. */
import type { WatchEvent } from './client.ts';
import { apiErrorOfStatus, ProtocolError, type Status } from './errors.ts';
import { LineSplitter } from './lines.ts';

const types: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

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
  if (!types.has(value?.type) || typeof value?.object !== 'object')
    throw new ProtocolError('a watch sent a line that is no event');
  return value as WatchEvent;
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
