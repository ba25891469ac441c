/** What a user writes into a WebServer, and what the operator says about it. */
import type { Resource } from '../kind.ts';
import { array, conditions, defaulted, integer, object, optional, port, string, type Infer } from '../schema.ts';

/** Segments of letters, digits and `._-`; so neither `/` itself nor `.` or `..` on the way. */
const directory = '^(/[.]?[A-Za-z0-9_-][A-Za-z0-9._-]*)+$';

export const spec = object({
  replicas: integer({ minimum: 1, maximum: 10, description: 'How many pods serve.' }),
  image: defaulted(
    string({
      minLength: 1,
      maxLength: 512,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@-]*$',
      description:
        'Image of the web server. It runs as a user without rights, on a root file system that is read-only but for /var/cache/nginx, ' +
        '/var/run and /tmp; nginx:latest lives so. For an image that does not, see runAsUser and writablePaths.',
    }),
    'nginx:latest',
  ),
  port: defaulted(
    port({
      description:
        'Port that the image listens on. The field states it and cannot change it: nginx:latest listens on 80. ' +
        'The Service offers the same port.',
    }),
    80,
  ),
  runAsUser: optional(
    integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description:
        "User id that the image runs as, where it needs its own. Without it 101, the nginx image's; never root.",
    }),
  ),
  writablePaths: optional(
    array(string({ minLength: 2, maxLength: 256, pattern: directory }), {
      listType: 'set',
      maxItems: 8,
      description:
        'Further directories that the image writes to, as absolute paths. Each is empty when a pod starts, whatever the image has ' +
        'there, holds up to 512Mi, and goes with the pod.',
    }),
  ),
});

export const status = object({
  replicas: optional(integer({ minimum: 0, description: 'Pods that exist.' })),
  readyReplicas: optional(integer({ minimum: 0, description: 'Pods that are ready.' })),
  selector: optional(string({ maxLength: 256, description: 'Selects the pods, as text: autoscalers read it.' })),
  observedGeneration: optional(
    integer({ minimum: 0, description: 'Generation of the spec that this status is about.' }),
  ),
  conditions: optional(conditions),
});

/** A WebServer as the operator reads it. */
export type WebServer = Resource<Infer<typeof spec>, Infer<typeof status>>;
