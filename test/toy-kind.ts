/** A kind for tests of the engine: its spec says what its children look like, and what goes wrong. */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { defineKind, type Observed, type Resource, type StatusInput } from '../crds/kind.ts';
import { Deployment, Service } from '../crds/owned.ts';
import {
  array,
  boolean,
  conditions,
  defaulted,
  enumeration,
  integer,
  map,
  object,
  optional,
  string,
  type Infer,
} from '../crds/schema.ts';

const spec = object({
  image: defaulted(string(), 'nginx:1'),
  /** Absent: left to others, such as an autoscaler. */
  replicas: optional(integer({ minimum: 0 })),
  env: optional(map(string())),
  labels: optional(map(string())),
  args: optional(array(string())),
  cpu: optional(string()),
  hasService: defaulted(boolean(), true),
  /** @default that of the resource */
  serviceName: optional(string()),
  fault: optional(enumeration(['render', 'observe', 'invalid'])),
});

const status = object({
  deployments: integer(),
  readyReplicas: integer(),
  message: optional(string()),
  observedGeneration: integer(),
  conditions,
});

export type ToyResource = Resource<Infer<typeof spec>, Infer<typeof status>>;

/** Two children of the resource's name; fields that are absent in the spec are not said. */
function children(scope: Construct, { metadata: { name }, spec: its }: ToyResource): void {
  if (its.fault === 'render') throw new Error('the spec asks for a fault');
  const selector = { 'app.kubernetes.io/instance': name };
  const { env, args, cpu } = its;
  new ApiObject(scope, 'deployment', {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
    metadata: { name, ...(its.labels && { labels: its.labels }) },
    spec: {
      ...(its.replicas !== undefined && { replicas: its.replicas }),
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          containers: [
            {
              name: its.fault === 'invalid' ? 'Not A Name' : 'main',
              image: its.image,
              ...(env && { env: Object.entries(env).map(([key, value]) => ({ name: key, value })) }),
              ...(args && { args }),
              ...(cpu !== undefined && { resources: { requests: { cpu } } }),
            },
          ],
        },
      },
    },
  });
  if (!its.hasService) return;
  new ApiObject(scope, 'service', {
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { name: its.serviceName ?? name },
    spec: { selector, ports: [{ port: 80, targetPort: 80 }] },
  });
}

function observe(toy: ToyResource, observed: Observed): StatusInput<Infer<typeof status>> {
  if (toy.spec.fault === 'observe') throw new Error('the spec asks for a fault');
  const deployment = observed.get(Deployment, toy.metadata.name);
  const ready = deployment?.status?.readyReplicas ?? 0;
  const isAvailable = ready > 0;
  return {
    deployments: observed.all(Deployment).length,
    readyReplicas: ready,
    ...(isAvailable && { message: 'up' }),
    conditions: [
      { type: 'Available', status: isAvailable ? 'True' : 'False', reason: isAvailable ? 'Up' : 'Down', message: '' },
    ],
  };
}

export const Toy = defineKind({
  group: 'engine.test.example.com',
  version: 'v1',
  kind: 'Toy',
  plural: 'toys',
  description: 'For tests of the engine.',
  spec,
  status,
  columns: [],
  owns: [Deployment, Service],
  children,
  observe,
});
