/** A network that a test can cut: a TCP proxy on loopback in front of the API server. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Breaks every connection, and refuses new ones until `restore`. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** From now on the server hears nothing of what is said through it, while clients go on hearing the server. For good. */
  deafen(): void;
}

/** Forwards to that address of this machine. */
export async function tcpProxy(target: URL): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isDeaf = false;
  const forward = (client: Socket): void => {
    const server = connect(Number(target.port), target.hostname);
    clients.add(client);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      if (from === server || !isDeaf) from.pipe(to);
      // Either end breaking breaks the other: that is what a proxy is.
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        clients.delete(from);
        to.destroy();
      });
    }
  };
  let server = await listen(forward, 0);
  const { port } = server.address() as AddressInfo;
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const restore = async (): Promise<void> => {
    server = await listen(forward, port);
  };
  const deafen = (): void => {
    isDeaf = true;
    for (const client of clients) client.unpipe();
  };
  return { port, cut, restore, deafen, [Symbol.asyncDispose]: cut };
}

async function listen(forward: (socket: Socket) => void, port: number): Promise<Server> {
  const server = createServer(forward);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Writes a copy of the kubeconfig that goes through the proxy. */
export function kubeconfigThrough(proxy: TcpProxy, kubeconfig: string, copy: string): void {
  const text = readFileSync(kubeconfig, 'utf8').replace(/(server: https:\/\/)\S+/, `$1127.0.0.1:${proxy.port}`);
  writeFileSync(copy, text, { mode: 0o600 });
}
