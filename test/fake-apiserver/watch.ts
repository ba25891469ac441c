/** Open watches of the fake server: which events go to whom, and what a fault makes of them. */
import type { ServerResponse } from 'node:http';
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import { apiVersionOf, resourceNameOf } from '../../charts/resource.ts';
import type { StreamFault } from './faults.ts';
import type { ApiRequest } from './request.ts';
import { selects } from './selector.ts';
import type { Commit, FakeState } from './state.ts';
import { expired, statusOf } from './status.ts';

interface Event {
  readonly type: string;
  readonly object: object;
}

const plain: StreamFault = { kind: 'stream', act: (line) => ({ send: [line.text] }) };

const bookmarkOf = (type: ResourceType, version: number, annotations?: Readonly<Record<string, string>>): Event => ({
  type: 'BOOKMARK',
  object: {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: {
      resourceVersion: String(version),
      ...(annotations !== undefined && { annotations }),
    },
  },
});

/** An object that leaves the selection is told as DELETED: as it was, but with the version of the change. */
const leaving = (before: KubeObject, version: number): KubeObject => ({
  ...before,
  metadata: { ...before.metadata, resourceVersion: String(version) },
});

export class FakeWatch {
  readonly request: ApiRequest;
  readonly #state: FakeState;
  readonly #response: ServerResponse;
  readonly #fault: StreamFault;
  readonly #selected: (object: KubeObject) => boolean;
  readonly #waiting: Buffer[] = [];
  #lines = -1;
  #closed = false;
  #stalled = false;
  #afterWrites: (() => void) | undefined;
  #writing = false;

  constructor(state: FakeState, request: ApiRequest, response: ServerResponse, fault: StreamFault = plain) {
    this.request = request;
    this.#state = state;
    this.#response = response;
    this.#fault = fault;
    this.#selected = selects({
      namespace: request.namespace,
      labelSelector: request.query.get('labelSelector') ?? undefined,
      fieldSelector: request.query.get('fieldSelector') ?? undefined,
    });
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** Accepts the watch and sends what happened before. `asOf` is in the past for a server that is behind. */
  start(asOf: number): void {
    this.#response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    this.#response.flushHeaders();
    this.#send('', '');
    const { query, type } = this.request;
    const from = Number(query.get('resourceVersion') ?? '0');
    if (query.get('sendInitialEvents') === 'true' || from === 0) {
      for (const object of this.#state.list(type, asOf))
        if (this.#selected(object)) this.#event({ type: 'ADDED', object });
      if (query.has('sendInitialEvents')) this.#event(bookmarkOf(type, asOf, { 'k8s.io/initial-events-end': 'true' }));
      return;
    }
    // As the real one: once a version was parsed, other errors come as an event, not as a status.
    if (from < this.#state.oldest) {
      this.#event({ type: 'ERROR', object: statusOf(expired(from, this.#state.oldest)) });
      this.end();
      return;
    }
    for (const commit of this.#state.commitsAfter(type, from)) if (commit.version <= asOf) this.tell(commit);
  }

  tell(commit: Commit): void {
    if (commit.resource !== resourceNameOf(this.request.type)) return;
    const was = commit.before !== undefined && this.#selected(commit.before);
    const is = commit.after !== undefined && this.#selected(commit.after);
    if (is) this.#event({ type: was ? 'MODIFIED' : 'ADDED', object: commit.after });
    else if (was) this.#event({ type: 'DELETED', object: leaving(commit.before, commit.version) });
  }

  bookmark(): void {
    if (this.request.query.get('allowWatchBookmarks') === 'true')
      this.#event(bookmarkOf(this.request.type, this.#state.version));
  }

  /** Polite: the last chunk is sent. */
  end(): void {
    this.#close(() => this.#response.end());
  }

  reset(): void {
    this.#close(() => this.#response.socket?.resetAndDestroy());
  }

  /** The client has gone. */
  gone(): void {
    this.#closed = true;
  }

  #event(event: Event): void {
    this.#send(event.type, `${JSON.stringify(event)}\n`);
  }

  #send(type: string, text: string): void {
    if (this.#closed || this.#stalled) return;
    const act = this.#fault.act({ type, text }, this.#lines);
    this.#lines += 1;
    for (const piece of act.send ?? []) this.#write(Buffer.from(piece));
    if (!('then' in act)) return;
    if (act.then === 'stall') this.#stalled = true;
    else if (act.then === 'end') this.end();
    else this.reset();
  }

  #write(bytes: Buffer): void {
    const size = this.#fault.pieces ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) this.#waiting.push(bytes.subarray(at, at + size));
    if (!this.#writing) this.#flush();
  }

  /** One piece a turn of the event loop, so that they arrive as pieces. */
  #flush(): void {
    const piece = this.#waiting.shift();
    this.#writing = piece !== undefined;
    if (piece === undefined) {
      this.#afterWrites?.();
      return;
    }
    this.#response.write(piece, () => setImmediate(() => this.#flush()));
  }

  /** What was written goes out first: a reset would take it along. */
  #close(close: () => void): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#afterWrites = close;
    if (!this.#writing) close();
  }
}
