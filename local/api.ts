/** One request to an API server, for the few questions that local/ has before anything else runs. */
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { RequestOptions } from 'node:https';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Question extends Omit<RequestOptions, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST with this value as JSON. */
  readonly post?: unknown;
  /** @default 5 s */
  readonly timeoutMs?: number;
}

/** Gives the answer whatever its status; throws when there is none in time. Nothing is tried twice. */
export async function ask(url: URL, { post, timeoutMs = 5_000, ...options }: Question): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = url.protocol === 'http:' ? plainRequest : secureRequest;
  const body = post === undefined ? undefined : JSON.stringify(post);
  const headers = { ...options.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const method = body === undefined ? 'GET' : 'POST';
  const sent = request(url, { ...options, method, headers, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
    );
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}
