import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { freePorts, isFree } from './ports.ts';

describe('ports', () => {
  test('a port that somebody listens on is not free', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await isFree(port)).toBe(false);
    server.close();
    await once(server, 'close');
    expect(await isFree(port)).toBe(true);
  });

  test('a port that somebody listens on at all addresses is not free either', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    expect(await isFree((server.address() as AddressInfo).port)).toBe(false);
    server.close();
  });

  test('gives different ports, and passes over a taken one', async () => {
    const [taken] = await freePorts(1);
    const server = createServer().listen(taken, '127.0.0.1');
    await once(server, 'listening');
    // A random source that would give the taken port first, then the same free one twice.
    const place = (port: number): number => (port - 10_000) / 22_000 + 1e-9;
    const order = [taken!, 20_001, 20_001, 20_002].map(place);
    expect(await freePorts(2, () => order.shift() ?? 0.9)).toEqual([20_001, 20_002]);
    server.close();
  });
});
