/** A web server with a Service in front. */
import { Deployment, Service } from '../owned.ts';
import { defineKind, nameIsServiceName } from '../kind.ts';
import { children } from './children.ts';
import { observe } from './observe.ts';
import { spec, status } from './schema.ts';

export const WebServer = defineKind({
  group: 'webserver.example.com',
  version: 'v1',
  kind: 'WebServer',
  plural: 'webservers',
  shortNames: ['ws'],
  description:
    'A web server: as many pods of an image as asked for, and a Service of the same name in front of them. The pods satisfy PodSecurity ' +
    'restricted.',
  spec,
  status,
  rules: [nameIsServiceName],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  columns: [
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'Pods asked for.' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'Pods that are ready.' },
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Port', type: 'integer', jsonPath: '.spec.port', priority: 1 },
    {
      name: 'Available',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Available")].status',
      description: 'Whether all pods asked for can take traffic.',
      priority: 1,
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  owns: [Deployment, Service],
  children,
  observe,
});
