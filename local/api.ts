/** One GET on an API server: all that local/ needs of it. */
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Gives the answer whatever its status; throws when there is none within `timeoutMs`. */
export async function get(url: URL, options: RequestOptions, timeoutMs = 5_000): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(url, { ...options, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
    );
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}
