/** What the API server itself counted: its audit log, one line a finished request. */
import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { eventually, type TestApi } from './api.ts';

export interface AuditedRequest {
  /** A watch is written when it starts and when it ends. */
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

/** A place in the audit log. */
export type Mark = number;

export class AuditLog {
  readonly #api: TestApi;
  readonly #path: string;

  constructor(api: TestApi, path = process.env['REPRISE_TEST_AUDIT_LOG'] ?? '') {
    this.#api = api;
    this.#path = path;
  }

  /** Now: what was answered before is before it, what is asked after is after it. */
  async mark(): Promise<Mark> {
    await this.#flushed();
    return statSync(this.#path).size;
  }

  /** Requests since then of whoever has that text in the user agent, in the order of their end. */
  async since(mark: Mark, userAgent: string): Promise<readonly AuditedRequest[]> {
    await this.#flushed();
    return this.#read(mark).filter((request) => request.userAgent?.includes(userAgent) === true && isFirst(request));
  }

  /** The log is written in the order of the answers: once a request of ours stands in it, all before do. */
  async #flushed(): Promise<void> {
    const start = statSync(this.#path).size;
    const sign = randomUUID();
    await this.#api.request('GET', '/version', undefined, { query: { sign } });
    await eventually(
      () => Promise.resolve(this.#read(start)),
      (requests) => requests.some(({ requestURI }) => requestURI.includes(sign)),
    );
  }

  #read(from: Mark): readonly AuditedRequest[] {
    const file = openSync(this.#path, 'r');
    try {
      const buffer = Buffer.alloc(fstatSync(file).size - from);
      readSync(file, buffer, 0, buffer.length, from);
      const whole = buffer.toString('utf8').split('\n').slice(0, -1);
      return whole.map((line) => JSON.parse(line) as AuditedRequest);
    } finally {
      closeSync(file);
    }
  }
}

/** Each request once: long ones at their start, since their end may be far away. */
const isFirst = ({ verb, stage }: AuditedRequest): boolean => (verb === 'watch') === (stage === 'ResponseStarted');

/** How a request looks in a failed expectation: `patch /apis/apps/v1/…`. */
export const textOf = ({ verb, requestURI }: AuditedRequest): string => `${verb} ${requestURI.split('?', 1)[0] ?? ''}`;
