/** Free TCP ports on loopback. */
import { createServer } from 'node:net';

/** Below the range from which systems take the ports of outgoing connections, so that none of those is in the way. */
const lowest = 10_000;
const highest = 32_000;

/**
 * Gives `count` different ports on which 127.0.0.1 can be listened at this moment. Another starter may take one before
 * its program listens: the caller notices and asks again. Chosen at random, so that two starters seldom meet.
 */
export async function freePorts(count: number, random: () => number = Math.random): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let attempt = 0; found.size < count; attempt++) {
    if (attempt > 1_000) throw new Error(`No ${count} free ports between ${lowest} and ${highest} on 127.0.0.1`);
    const port = lowest + Math.floor(random() * (highest - lowest));
    if (!found.has(port) && (await isFree(port))) found.add(port);
  }
  return [...found];
}

/** Whether 127.0.0.1 can be listened on that port now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  return promise;
}
