/**
 * A programmable API server over real sockets: storage with versions, lists in pages, watches with bookmarks and streamed
 * lists, and faults as arguments (faults.ts). Nothing happens by time: bookmarks and ends come when a test asks for them.
 * fake-apiserver.cluster.test.ts holds it to what a real one does.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import type { Fault, On, StreamFault, Verb } from './faults.ts';
import { handle, refusalReply, type Reply } from './handlers.ts';
import { apiRequestOf, type ApiRequest } from './request.ts';
import { FakeState } from './state.ts';
import { refusal } from './status.ts';
import { FakeWatch } from './watch.ts';

export interface FakeApiServerProps {
  readonly types: readonly ResourceType[];
  /** Serves https with these. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string };
  /** @default any that is free */
  readonly port?: number;
  /** Path before `/api`, as some proxies have it. */
  readonly prefix?: string;
}

/** One request as it was seen. */
export interface Seen {
  readonly verb: Verb | 'unknown';
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Of the client, as the server verified it; '' without a certificate. */
  readonly clientName: string;
}

interface Armed {
  readonly on: On;
  readonly fault: Fault;
  skip: number;
  left: number;
}

export class FakeApiServer implements AsyncDisposable {
  readonly state = new FakeState();
  /** Every request, in order of arrival. */
  readonly requests: Seen[] = [];
  readonly #types: Set<ResourceType>;
  readonly #prefix: string;
  readonly #secure: boolean;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Set<FakeWatch>();
  readonly #faults: Armed[] = [];
  #token: string | undefined;
  #connections = 0;
  #port = 0;

  private constructor(props: FakeApiServerProps) {
    this.#types = new Set(props.types);
    this.#prefix = props.prefix ?? '';
    this.#secure = props.tls !== undefined;
    const serve = (request: IncomingMessage, response: ServerResponse): void => void this.#serve(request, response);
    this.#server =
      props.tls === undefined
        ? createServer(serve)
        : createSecureServer({ ...props.tls, requestCert: true, rejectUnauthorized: false }, serve);
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket) => this.#connected(socket));
    this.state.subscribe((commit) => {
      for (const watch of this.#watches) watch.tell(commit);
    });
  }

  static async start(props: FakeApiServerProps): Promise<FakeApiServer> {
    const fake = new FakeApiServer(props);
    await fake.listen(props.port ?? 0);
    return fake;
  }

  /** Stays the same after `stop`. */
  get port(): number {
    return this.#port;
  }

  get url(): URL {
    return new URL(`${this.#secure ? 'https' : 'http'}://127.0.0.1:${this.port}${this.#prefix}`);
  }

  /** Connections that are open now. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Connections since the start. */
  get connections(): number {
    return this.#connections;
  }

  /** Watches that are open now. */
  get watches(): readonly FakeWatch[] {
    return [...this.#watches];
  }

  /** Requests of that verb, all or for one type. */
  seen(verb: Verb, plural?: string): Seen[] {
    return this.requests.filter((each) => each.verb === verb && (plural === undefined || each.resource === plural));
  }

  /** Puts a fault on requests to come. The first that fits a request is used up by it. */
  fault(on: On, fault: Fault): void {
    this.#faults.push({ on, fault, skip: on.after ?? 0, left: on.times ?? 1 });
  }

  /** Faults that are not used up. */
  get pendingFaults(): number {
    return this.#faults.length;
  }

  clearFaults(): void {
    this.#faults.length = 0;
  }

  /** From now on only this token is let in; undefined: anybody. */
  requireToken(token: string | undefined): void {
    this.#token = token;
  }

  /** A definition is installed. */
  install(type: ResourceType): void {
    this.#types.add(type);
  }

  uninstall(type: ResourceType): void {
    this.#types.delete(type);
    for (const watch of this.#watches) if (watch.request.type === type) watch.end();
  }

  /** Somebody else creates an object. */
  create(type: ResourceType, object: KubeObject): KubeObject {
    const made = this.state.create(type, object, { manager: 'somebody', operation: 'Update' });
    if ('refused' in made) throw new Error(String(made.message));
    return made;
  }

  /** A bookmark for every open watch, as comes each minute. */
  bookmark(): void {
    for (const watch of this.#watches) watch.bookmark();
  }

  /** Every watch ends politely, as each does after its timeoutSeconds. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  resetWatches(): void {
    for (const watch of this.#watches) watch.reset();
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Gone: refuses connections and breaks those that are open. `listen(port)` brings it back. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.stop();
  }

  #connected(socket: Socket): void {
    this.#connections += 1;
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const url = (incoming.url ?? '').slice(this.#prefix.length);
    const raw = { method: incoming.method ?? '', url, contentType: incoming.headers['content-type'] ?? '', body };
    const request = (incoming.url ?? '').startsWith(this.#prefix) ? apiRequestOf(raw, this.#types) : undefined;
    this.requests.push(seenOf(request, incoming, body));
    if (this.#token !== undefined && incoming.headers.authorization !== `Bearer ${this.#token}`) {
      send(response, refusalReply(refusal(401, 'Unauthorized', 'Unauthorized')));
    } else if (request === undefined) {
      sendText(response, 404, '404 page not found\n');
    } else this.#answer(request, response);
  }

  #answer(request: ApiRequest, response: ServerResponse): void {
    const fault = this.#takeFault(request);
    const asOf = fault?.kind === 'stale' ? fault.version : this.state.version;
    const spoils = fault !== undefined && fault.kind !== 'stale' && fault.kind !== 'stream';
    if (request.verb === 'watch' && !spoils) {
      this.#watch(request, response, asOf, fault?.kind === 'stream' ? fault : undefined);
    } else if (spoils) spoil(fault, response, () => handle(this.state, request, asOf));
    else send(response, handle(this.state, request, asOf));
  }

  #watch(request: ApiRequest, response: ServerResponse, asOf: number, fault: StreamFault | undefined): void {
    const watch = new FakeWatch(this.state, request, response, fault);
    this.#watches.add(watch);
    response.once('close', () => {
      watch.gone();
      this.#watches.delete(watch);
    });
    watch.start(asOf);
    // What a server that is behind has not seen yet comes later, as news.
    if (asOf < this.state.version) for (const commit of this.state.commitsAfter(request.type, asOf)) watch.tell(commit);
  }

  #takeFault(request: ApiRequest): Fault | undefined {
    for (const armed of this.#faults) {
      if (!fits(armed.on, request)) continue;
      if (armed.skip > 0) {
        armed.skip -= 1;
        continue;
      }
      armed.left -= 1;
      if (armed.left <= 0) this.#faults.splice(this.#faults.indexOf(armed), 1);
      return armed.fault;
    }
    return undefined;
  }
}

const fits = (on: On, request: ApiRequest): boolean =>
  (on.verb === undefined || on.verb === request.verb) &&
  (on.resource === undefined || on.resource === request.type.plural) &&
  (on.query === undefined || request.query.has(on.query));

const seenOf = (request: ApiRequest | undefined, incoming: IncomingMessage, body: string): Seen => {
  const certificate = (
    incoming.socket as { getPeerCertificate?: () => { subject?: { CN?: string } } }
  ).getPeerCertificate?.();
  return {
    verb: request?.verb ?? 'unknown',
    resource: request?.type.plural ?? '',
    namespace: request?.namespace,
    name: request?.name,
    query: Object.fromEntries(request?.query ?? []),
    path: incoming.url ?? '',
    headers: incoming.headers,
    body,
    clientName: certificate?.subject?.CN ?? '',
  };
};

const send = (response: ServerResponse, reply: Reply, headers: Readonly<Record<string, string>> = {}): void => {
  const body = Buffer.from(JSON.stringify(reply.body));
  response.writeHead(reply.code, { 'content-type': 'application/json', 'content-length': body.length, ...headers });
  response.end(body);
};

const sendText = (response: ServerResponse, code: number, body: string): void => {
  response.writeHead(code, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body) });
  response.end(body);
};

type Spoiling = Exclude<Fault, StreamFault | { readonly kind: 'stale' }>;

/** `work` does what was asked and makes the honest reply. */
const spoil = (fault: Spoiling, response: ServerResponse, work: () => Reply): void => {
  switch (fault.kind) {
    case 'refuse': {
      const seconds = fault.retryAfterSeconds;
      const reply = refusalReply(refusal(fault.code, fault.reason, `injected ${fault.reason}`));
      send(response, reply, seconds === undefined ? {} : { 'retry-after': String(seconds) });
      return;
    }
    case 'text':
      sendText(response, fault.code, fault.text);
      return;
    case 'reset':
      if (fault.when === 'after') work();
      response.socket?.resetAndDestroy();
      return;
    case 'hang':
      return;
    case 'hold': {
      const reply = work();
      void fault.until.then(() => send(response, reply));
      return;
    }
    case 'truncate':
    case 'drip': {
      const body = Buffer.from(JSON.stringify(work().body));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      const part = body.subarray(0, fault.kind === 'drip' ? fault.bytes : Math.floor(body.length / 2));
      response.write(part, () => fault.kind === 'truncate' && response.socket?.end());
    }
  }
};
