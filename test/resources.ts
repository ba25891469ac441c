/** Gadgets, good and bad, with what the API server says of them. Texts written by hand from its answers. */
import type { KubeObject } from '../charts/resource.ts';

interface Example {
  readonly what: string;
  readonly resource: KubeObject;
  readonly problems: readonly string[];
}

const gadget = (name: string, spec?: object, more: object = {}): KubeObject => ({
  apiVersion: 'test.example.com/v1beta1',
  kind: 'Gadget',
  metadata: { name },
  ...(spec && { spec }),
  ...more,
});

const serviceName =
  'the name is also the name of a Service: at most 63 lower-case letters, digits and dashes, first a letter, last a letter or digit';

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

export const resources: readonly Example[] = [
  { what: 'needs no spec where everything has a default', resource: gadget('one'), problems: [] },
  {
    what: 'may have labels and annotations',
    resource: gadget('two', {}, { metadata: { name: 'two', labels: { a: 'b' } } }),
    problems: [],
  },
  {
    what: 'is told what is wrong with its spec',
    resource: gadget('three', { replicas: 11, mode: 'Slow' }),
    problems: [
      'spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10',
      'spec.mode: Unsupported value: "Slow": supported values: "Fast", "Safe"',
    ],
  },
  {
    what: 'cannot have a name that is no name of a Service',
    resource: gadget('9four'),
    problems: [`metadata.name: Invalid value: ${serviceName}`],
  },
  {
    what: 'cannot have a name of more than 63 characters',
    resource: gadget('f'.repeat(64)),
    problems: [`metadata.name: Invalid value: ${serviceName}`],
  },
  {
    what: 'cannot have a name in capitals',
    resource: gadget('Six'),
    problems: [`metadata.name: Invalid value: "Six": ${subdomain}`, `metadata.name: Invalid value: ${serviceName}`],
  },
  {
    what: 'must be of the kind',
    resource: gadget('seven', {}, { kind: 'Widget' }),
    problems: ['kind: Invalid value: "Widget": must be Gadget'],
  },
];
