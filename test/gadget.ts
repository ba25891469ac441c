/** A kind for tests that uses all that a kind can say. It is not in the list of kinds. */
import { Deployment, Service } from '../crds/owned.ts';
import {
  type Kind,
  type Observed,
  type Resource,
  type StatusInput,
  defineKind,
  nameIsServiceName,
} from '../crds/kind.ts';
import type { Infer } from '../crds/schema.ts';
import {
  array,
  conditions,
  defaulted,
  enumeration,
  integer,
  map,
  object,
  optional,
  quantity,
  string,
} from '../crds/schema.ts';

export const spec = object({
  replicas: defaulted(integer({ minimum: 0, maximum: 10, description: 'How many.' }), 1),
  mode: defaulted(enumeration(['Fast', 'Safe'], { description: 'Fast | or safe.' }), 'Safe'),
  memory: optional(quantity({ description: 'How much.' })),
  hosts: optional(
    array(
      object({ name: string({ maxLength: 63, description: 'Its name.' }), weight: optional(integer({ minimum: 1 })) }),
      {
        listType: 'map',
        keys: ['name'],
        maxItems: 4,
        description: 'Where it is served.',
      },
    ),
  ),
  labels: optional(map(string({ maxLength: 63 }), { maxProperties: 4 })),
});

export const status = object({
  replicas: integer({ minimum: 0, description: 'How many there are.' }),
  selector: optional(string({ maxLength: 256 })),
  observedGeneration: integer({ minimum: 0 }),
  conditions,
});

export type Gadget = Resource<Infer<typeof spec>, Infer<typeof status>>;

const observe = (gadget: Gadget, observed: Observed): StatusInput<Infer<typeof status>> => ({
  replicas: observed.get(Deployment, gadget.metadata.name)?.status?.replicas ?? 0,
  conditions: [],
});

export const gadgetProps = {
  group: 'test.example.com',
  version: 'v1beta1',
  kind: 'Gadget',
  plural: 'gadgets',
  shortNames: ['gd'],
  categories: ['toys'],
  description: 'A gadget for tests.',
  spec,
  status,
  rules: [nameIsServiceName],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  columns: [
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  owns: [Deployment, Service],
  children: () => undefined,
  observe,
} as const;

export const Gadget: Kind = defineKind(gadgetProps);
