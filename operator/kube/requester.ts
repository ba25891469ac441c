/** Requests with the retries that belong to the connection, and answers as JSON or typed errors. */
import type { KubeObject } from '../../charts/resource.ts';
import type { Clock, Random } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Observer } from '../metrics/observer.ts';
import type { Connection, Credentials } from './connection.ts';
import type { ApiError } from './errors.ts';
import { apiErrorOfStatus, ConnectionError, ProtocolError, type Status } from './errors.ts';
import { Transport, type Answer, type Exchange, type Limits } from './transport.ts';
import { unlessAborted, waitFor } from './wait.ts';

export interface RequesterProps {
  readonly connection: Connection;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  /** @default reprise */
  readonly userAgent?: string;
  readonly observer?: Pick<Observer, 'request'>;
  readonly log?: Log;
}

/** A server that asks for longer is not waited for here: the caller has better things to do. */
const maxWaitMs = 10_000;
const maxTries = 3;

export class Requester {
  readonly #props: RequesterProps;
  readonly #transport: Transport;

  constructor(props: RequesterProps) {
    this.#props = props;
    const { connection, limits, clock, userAgent = 'reprise' } = props;
    this.#transport = new Transport(connection, limits, clock, userAgent);
  }

  /** The answer's JSON. Throws ApiError for any status but 2xx. */
  async json(exchange: Exchange, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#patiently(exchange, signal);
    return parse(await this.#transport.read(answer, signal), exchange);
  }

  async object(exchange: Exchange, signal: AbortSignal): Promise<KubeObject> {
    const value = (await this.json(exchange, signal)) as Partial<KubeObject> | null;
    if (typeof value?.metadata === 'object') return value as KubeObject;
    throw new ProtocolError(`${nameOf(exchange)}: the answer is not an object of the API`);
  }

  /** The body of a 2xx answer as it comes, for as long as it comes. No retries: the watch machine has its own. */
  async *stream(exchange: Exchange, signal: AbortSignal, opened?: () => void): AsyncGenerator<Buffer, void, void> {
    const answer = await this.#authorized(exchange, signal);
    if (!isSuccess(answer)) throw await this.#refusal(answer, exchange, signal);
    opened?.();
    yield* this.#transport.chunks(answer, undefined, signal);
  }

  close(): void {
    this.#transport.close();
  }

  /** Obeys a short Retry-After: 429 and 503 say that nothing was done yet, so that a write may be sent again. */
  async #patiently(exchange: Exchange, signal: AbortSignal): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#authorized(exchange, signal);
      if (isSuccess(answer)) return answer;
      const error = await this.#refusal(answer, exchange, signal);
      const waitMs = error.retryAfterMs;
      const worthIt = waitMs !== undefined && waitMs <= maxWaitMs && (error.status === 429 || error.status === 503);
      if (!worthIt || tries >= maxTries) throw error;
      await waitFor(this.#props.clock, waitMs * (1 + this.#props.random() / 4), signal);
    }
  }

  async #authorized(exchange: Exchange, signal: AbortSignal): Promise<Answer> {
    const credentials = await unlessAborted(this.#props.connection.credentials(), signal);
    const answer = await this.#once(exchange, credentials, signal);
    if (answer.status !== 401) return answer;
    const renewed = await unlessAborted(this.#props.connection.renew(credentials), signal);
    if (renewed === credentials) return answer;
    await this.#transport.read(answer, signal);
    return this.#once(exchange, renewed, signal);
  }

  /** A kept connection may have been closed by the server while our request was on its way: harmless for a GET. */
  async #once(exchange: Exchange, credentials: Credentials, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.#observed(exchange, credentials, signal);
    } catch (error) {
      const stale = exchange.method === 'GET' && error instanceof ConnectionError && error.onKeptConnection;
      if (!stale) throw error;
      return this.#observed(exchange, credentials, signal);
    }
  }

  async #observed(exchange: Exchange, credentials: Credentials, signal: AbortSignal): Promise<Answer> {
    const { host } = this.#props.connection.server;
    try {
      const answer = await this.#transport.send(exchange, credentials, signal);
      this.#props.observer?.request(exchange.method, host, String(answer.status));
      return answer;
    } catch (error) {
      this.#props.observer?.request(exchange.method, host, '<error>');
      throw error;
    }
  }

  async #refusal(answer: Answer, exchange: Exchange, signal: AbortSignal): Promise<ApiError> {
    const text = await this.#transport.read(answer, signal);
    const seconds = Number(answer.headers['retry-after']);
    const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
    const fallback = {
      status: answer.status,
      request: nameOf(exchange),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
    return apiErrorOfStatus(statusOf(text), fallback);
  }
}

const isSuccess = (answer: Answer): boolean => answer.status >= 200 && answer.status < 300;

const nameOf = (exchange: Exchange): string => `${exchange.method} ${exchange.path.split('?', 1)[0] ?? ''}`;

const parse = (text: string, exchange: Exchange): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ProtocolError(`${nameOf(exchange)}: the answer is not JSON`, error);
  }
};

/** Proxies and the server's own mux answer in plain text. */
const statusOf = (text: string): Partial<Status> => {
  try {
    const body = JSON.parse(text) as Partial<Status> | null;
    if (body?.kind === 'Status') return body;
  } catch {
    // Not JSON: shown as it is, below.
  }
  const line = text.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';
  return line === '' ? {} : { message: line };
};
