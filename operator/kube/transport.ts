/** One HTTP exchange with the API server: kept connections, credentials, time limits, typed errors. Knows no Kubernetes. */
import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../clock.ts';
import type { Connection, Credentials, TlsSettings } from './connection.ts';
import { ConnectionError, ProtocolError } from './errors.ts';

export interface Limits {
  /** From having a connection to the answer's headers. */
  readonly headersMs: number;
  /** Between two pieces of a body. Watches bring their own. */
  readonly idleMs: number;
  /** Connections for requests; watches have their own. */
  readonly connections: number;
  readonly bodyBytes: number;
  /** One event of a watch. */
  readonly eventBytes: number;
}

export const defaultLimits: Limits = {
  headersMs: 30_000,
  idleMs: 30_000,
  connections: 8,
  bodyBytes: 256 * 1024 * 1024,
  eventBytes: 32 * 1024 * 1024,
};

export interface Exchange {
  readonly method: string;
  /** Path and query, already encoded. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** A watch: its own connection, no limit on the body's length in time. */
  readonly stream?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly response: IncomingMessage;
}

/** A free connection is closed before the server (90 s) would do it under our hands. */
const freeSocketMs = 45_000;
const tcpKeepAliveMs = 15_000;

interface Agents {
  readonly requests: HttpAgent;
  readonly watches: HttpAgent;
}

const agentsFor = (secure: boolean, tls: TlsSettings, connections: number): Agents => {
  const common = {
    keepAlive: true,
    keepAliveMsecs: tcpKeepAliveMs,
    timeout: freeSocketMs,
    scheduling: 'lifo' as const,
  };
  const make = (sizes: { maxSockets: number; maxFreeSockets: number }): HttpAgent =>
    secure ? new HttpsAgent({ ...common, ...tls, ...sizes }) : new HttpAgent({ ...common, ...sizes });
  return {
    requests: make({ maxSockets: connections, maxFreeSockets: connections }),
    watches: make({ maxSockets: Infinity, maxFreeSockets: 2 }),
  };
};

/** Lets running requests finish, then closes their connections. */
const retire = (agents: Agents): void => {
  for (const agent of [agents.requests, agents.watches]) {
    for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    agent.on('free', (socket: { destroy(): void }) => socket.destroy());
  }
};

/** Turns what Node throws into our types; what the caller's signal did stays as it is. */
const asConnectionError = (error: unknown, { server, description }: Connection, onKeptConnection = false): Error => {
  if (error instanceof ConnectionError || error instanceof ProtocolError) return error;
  const { code = 'UNKNOWN', message = String(error) } = error as { code?: string; message?: string };
  const why = code === 'ECONNREFUSED' ? 'connection refused' : code === 'ECONNRESET' ? 'connection reset' : message;
  return new ConnectionError(`no answer from ${server.origin} (${description}): ${why}`, code, {
    cause: error,
    onKeptConnection,
  });
};

export class Transport {
  readonly #connection: Connection;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #userAgent: string;
  #tls: TlsSettings | undefined;
  #agents: Agents | undefined;

  constructor(connection: Connection, limits: Limits, clock: Clock, userAgent: string) {
    this.#connection = connection;
    this.#limits = limits;
    this.#clock = clock;
    this.#userAgent = userAgent;
  }

  /** Resolves with the headers, the body unread. Rejects with a ConnectionError, or with the signal's reason. */
  async send(exchange: Exchange, credentials: Credentials, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const response = await this.#headersOf(this.#open(exchange, credentials), exchange, signal);
    return { status: response.statusCode ?? 0, headers: response.headers, response };
  }

  /** The whole body as text, within the limits of size and silence. */
  async read(answer: Answer, signal: AbortSignal): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.chunks(answer, this.#limits.idleMs, signal)) {
      bytes += chunk.length;
      if (bytes > this.#limits.bodyBytes)
        throw new ProtocolError(`the answer is larger than ${this.#limits.bodyBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, bytes).toString('utf8');
  }

  /** The body as it comes. Leaving the loop early closes the connection. */
  async *chunks(answer: Answer, idleMs: number | undefined, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
    const { response } = answer;
    const abort = (): void => void response.destroy(asError(signal.reason));
    let cancelIdle = this.#afterSilence(idleMs, response);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      for await (const chunk of response) {
        cancelIdle();
        yield chunk as Buffer;
        cancelIdle = this.#afterSilence(idleMs, response);
      }
    } catch (error) {
      signal.throwIfAborted();
      throw asConnectionError(error, this.#connection);
    } finally {
      cancelIdle();
      signal.removeEventListener('abort', abort);
      if (!response.complete) response.destroy();
    }
  }

  /** Closes every connection, also those in use. */
  close(): void {
    this.#agents?.requests.destroy();
    this.#agents?.watches.destroy();
  }

  #afterSilence(idleMs: number | undefined, response: IncomingMessage): () => void {
    if (idleMs === undefined) return () => undefined;
    const silent = (): void =>
      void response.destroy(new ConnectionError(`the answer stopped for ${idleMs / 1000} s`, 'TIMEOUT'));
    return this.#clock.after(idleMs, silent);
  }

  #open(exchange: Exchange, credentials: Credentials): ClientRequest {
    const { server } = this.#connection;
    const secure = server.protocol === 'https:';
    const agents = this.#agentsOf(secure, credentials.tls);
    return (secure ? httpsRequest : httpRequest)({
      hostname: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port === '' ? (secure ? 443 : 80) : server.port,
      method: exchange.method,
      path: server.pathname.replace(/\/$/, '') + exchange.path,
      agent: exchange.stream === true ? agents.watches : agents.requests,
      headers: { 'user-agent': this.#userAgent, ...headersOf(exchange, credentials) },
    });
  }

  #agentsOf(secure: boolean, tls: TlsSettings): Agents {
    if (this.#agents !== undefined && this.#tls === tls) return this.#agents;
    if (this.#agents !== undefined) retire(this.#agents);
    this.#tls = tls;
    this.#agents = agentsFor(secure, tls, this.#limits.connections);
    return this.#agents;
  }

  #headersOf(request: ClientRequest, exchange: Exchange, signal: AbortSignal): Promise<IncomingMessage> {
    const { server } = this.#connection;
    return new Promise<IncomingMessage>((resolve, reject) => {
      let cancelTimer = (): void => undefined;
      const abort = (): void => void request.destroy(asError(signal.reason));
      const settle = (): void => {
        cancelTimer();
        signal.removeEventListener('abort', abort);
      };
      setMaxListeners(0, signal);
      signal.addEventListener('abort', abort, { once: true });
      request.once('socket', () => {
        const { headersMs } = this.#limits;
        const silence = (): Error =>
          new ConnectionError(`no answer from ${server.origin} within ${headersMs / 1000} s`, 'TIMEOUT');
        cancelTimer = this.#clock.after(headersMs, () => void request.destroy(silence()));
      });
      request.once('response', (response: IncomingMessage) => {
        settle();
        resolve(response);
      });
      request.on('error', (error) => {
        settle();
        reject(
          signal.aborted ? asError(signal.reason) : asConnectionError(error, this.#connection, request.reusedSocket),
        );
      });
      request.end(exchange.body);
    });
  }
}

const asError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('aborted', { cause: reason });

const headersOf = (exchange: Exchange, credentials: Credentials): Record<string, string | number> => ({
  accept: 'application/json',
  ...(credentials.authorization !== undefined && { authorization: credentials.authorization }),
  ...(exchange.body !== undefined && {
    'content-type': exchange.contentType ?? 'application/json',
    'content-length': Buffer.byteLength(exchange.body),
  }),
});
