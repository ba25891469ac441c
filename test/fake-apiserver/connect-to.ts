/** Connections to the fake server, without files. */
import type { Connection, Credentials } from '../../operator/kube/connection.ts';

/** Always the same credentials; none by default. */
export const connectTo = (server: URL, credentials: Credentials = { tls: {} }): Connection => ({
  server,
  description: 'the fake server',
  credentials: () => Promise.resolve(credentials),
  renew: () => Promise.resolve(credentials),
});
