import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../charts/resource.ts';
import { problemsOf, type Answer } from './answer.ts';

const server = (name: string, observedGeneration = 1): KubeObject => ({
  apiVersion: 'webserver.example.com/v1',
  kind: 'WebServer',
  metadata: { name, uid: `uid-of-${name}`, generation: 1 },
  status: { observedGeneration, conditions: [{ type: 'Available', status: 'False' }] },
});

const owned = (name: string, uid: string) => ({
  name,
  ownerReferences: [{ apiVersion: 'webserver.example.com/v1', kind: 'WebServer', name, uid, controller: true }],
});

const deployment = (name: string, { uid = `uid-of-${name}`, image = 'nginx:latest' } = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: owned(name, uid),
  spec: { replicas: 1, template: { spec: { containers: [{ image, ports: [{ containerPort: 80 }] }] } } },
});

const service = (name: string, port = 80): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: owned(name, `uid-of-${name}`),
  spec: { ports: [{ port }] },
});

const right: Answer = {
  servers: [server('a'), server('b')],
  deployments: [deployment('b'), deployment('a')],
  services: [service('a'), service('b')],
};

describe('an answer', () => {
  test('is right when every resource has its children and its status', () => {
    expect(problemsOf(right, 2)).toEqual([]);
  });

  test('is wrong when objects are missing or too many', () => {
    expect(problemsOf({ ...right, services: [service('a')] }, 2)).toEqual([
      '1 Services where there should be 2',
      'WebServer b: there is no Service of its name',
    ]);
    expect(problemsOf({ ...right, deployments: [...right.deployments, deployment('c')] }, 2)).toEqual([
      '3 Deployments where there should be 2',
    ]);
    expect(problemsOf({ servers: [], deployments: [], services: [] }, 1)).toHaveLength(3);
  });

  test('is wrong when a child belongs to another resource, or to none', () => {
    const stranger = { ...deployment('b'), metadata: { name: 'b' } };
    expect(problemsOf({ ...right, deployments: [deployment('a', { uid: 'uid-of-b' }), stranger] }, 2)).toEqual([
      'WebServer a: its Deployment is not owned by it',
      'WebServer b: its Deployment is not owned by it',
    ]);
  });

  test('is wrong when a child is not what was asked for', () => {
    const answer = {
      ...right,
      deployments: [deployment('a', { image: 'httpd' }), deployment('b')],
      services: [service('a'), service('b', 81)],
    };
    expect(problemsOf(answer, 2)).toEqual([
      'WebServer a: its Deployment is not what was asked for',
      'WebServer b: its Service is not what was asked for',
    ]);
  });

  test('is wrong when the status is old, absent, or says more than anybody can know', () => {
    const { status: _status, ...bare } = server('b');
    const available = { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True' }] };
    expect(problemsOf({ ...right, servers: [server('a', 0), bare] }, 2)).toEqual([
      'WebServer a: observedGeneration is 0, generation 1',
      'WebServer b: observedGeneration is absent, generation 1',
      'WebServer b: Available is not False',
    ]);
    expect(problemsOf({ ...right, servers: [server('a'), { ...server('b'), status: available }] }, 2)).toEqual([
      'WebServer b: Available is not False',
    ]);
  });
});
