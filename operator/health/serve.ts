/** Small read-only HTTP endpoints (probes, metrics): GET and HEAD, no bodies, limits on time and connections. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BindAddress } from '../flags.ts';

export interface TextAnswer {
  readonly status: number;
  readonly body: string;
  /** @default text/plain; charset=utf-8 */
  readonly contentType?: string;
}

/** May throw: the asker then gets status 500 without details, and `onError` hears why. */
export type Answerer = (path: string, query: URLSearchParams) => TextAnswer | Promise<TextAnswer>;

export interface Serving extends AsyncDisposable {
  /** Where it listens really: `127.0.0.1:40123`. */
  readonly address: string;
}

/** The address is taken, or may not be used. The message is for the user and says which flag to change. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
  readonly reason = 'CannotListen';
}

export interface ServeProps {
  readonly bind: BindAddress;
  /** The flag that chose the address, for the message when it cannot be used. */
  readonly flag: string;
  readonly answer: Answerer;
  readonly onError: (error: unknown) => void;
}

/** Listens until disposed. Rejects with CannotListen. */
export async function serve({ bind, flag, answer, onError }: ServeProps): Promise<Serving> {
  const server = createServer((request, response) => {
    respond(request, response, answer).catch((error: unknown) => {
      onError(error);
      write(response, { status: 500, body: 'internal server error\n' });
    });
  });
  limit(server);
  server.listen({ ...bind, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new CannotListen(
      `cannot listen on ${bind.host ?? ''}:${bind.port}: ${whyNot(error)}; choose another with --${flag}`,
      {
        cause: error,
      },
    );
  }
  server.on('error', onError);
  return { address: addressOf(server), [Symbol.asyncDispose]: () => close(server) };
}

/** A prober asks once in some seconds; whoever holds more connections, or is slow to ask, is none. */
function limit(server: Server): void {
  server.maxConnections = 64;
  server.headersTimeout = 5000;
  server.requestTimeout = 5000;
  server.keepAliveTimeout = 30_000;
  server.maxRequestsPerSocket = 1000;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'no permission for that port',
  EADDRNOTAVAIL: 'no interface has that address',
  ENOTFOUND: 'no such host',
};

const whyNot = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return reasons[code] ?? code;
};

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

async function respond(request: IncomingMessage, response: ServerResponse, answer: Answerer): Promise<void> {
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    write(response, { status: 405, body: 'method not allowed\n' });
    return;
  }
  const target = URL.parse(request.url ?? '/', 'http://localhost');
  write(
    response,
    target === null ? { status: 400, body: 'bad request\n' } : await answer(target.pathname, target.searchParams),
  );
}

function write(response: ServerResponse, { status, body, contentType }: TextAnswer): void {
  response.writeHead(status, {
    'content-type': contentType ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  // Node leaves the body of an answer to HEAD out by itself.
  response.end(body);
}

function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}
