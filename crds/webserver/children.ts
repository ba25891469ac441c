/** What should exist for a WebServer: a Deployment and a Service of its name. */
import type { Construct } from 'constructs';
import { operatorName } from '../../charts/labels.ts';
import { Workload } from '../../charts/workload.ts';
import type { WebServer } from './schema.ts';

/** Value of `app.kubernetes.io/name` on all that belongs to a WebServer. Selectors hold it: it can never change. */
export const application = 'webserver';

/** The user `nginx` of the official images. As a number, for the kubelet refuses names where root is forbidden. */
const nginxUser = 101;

/**
 * What nginx writes to, all of it: bodies and answers too big for memory (below /var/cache/nginx, where it makes its own folders),
 * /run/nginx.pid (in the image /var/run is a link to /run, and mounts follow links), and what modules put into /tmp.
 *
 * The rest of its start gets by without: the entrypoint finds /etc/nginx/conf.d read-only, says so and goes on (nginx then listens on
 * IPv4 only); `user nginx;` is ignored with a warning, because there are no rights to drop; the logs are links to stdout and stderr,
 * which the runtime gives to the user. For port 80 see charts/pod-security.ts.
 */
const nginxPaths = ['/var/cache/nginx', '/var/run', '/tmp'];

/** Time for an image to listen, from its start; also the time without progress after which a rollout counts as failed. */
const startSeconds = 180;

/** A TCP connection, because it holds for any web server: many answer `/` with 401 or 404, and are well. */
const probes = {
  startup: { port: 'http', periodSeconds: 1, failureThreshold: startSeconds },
  readiness: { port: 'http', periodSeconds: 5 },
  liveness: { port: 'http', periodSeconds: 10, failureThreshold: 6 },
};

/** Pure: the same resource gives the same bytes. */
export function children(scope: Construct, server: WebServer): void {
  const { replicas, image, port, runAsUser, writablePaths } = server.spec;
  new Workload(scope, 'workload', {
    name: server.metadata.name,
    namespace: server.metadata.namespace,
    application,
    managedBy: operatorName,
    replicas,
    image,
    ports: [{ name: 'http', port }],
    user: runAsUser ?? nginxUser,
    writablePaths: [...new Set([...nginxPaths, ...(writablePaths ?? [])])],
    ...probes,
    // nginx starts a worker for each core of the node, a few megabytes each: the limit leaves room for the largest nodes.
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '1', memory: '512Mi' } },
    progressDeadlineSeconds: startSeconds,
  });
}
