import { describe, expect, test } from '@jest/globals';
import type { ResourceType } from '../../charts/resource.ts';
import { collectionPath, listParameters, objectPath, watchParameters } from './paths.ts';

const Service: ResourceType = { group: '', version: 'v1', kind: 'Service', plural: 'services', scope: 'Namespaced' };
const Deployment: ResourceType = { ...Service, group: 'apps', kind: 'Deployment', plural: 'deployments' };
const Node: ResourceType = { ...Service, kind: 'Node', plural: 'nodes', scope: 'Cluster' };

describe('paths', () => {
  test.each([
    [Service, 'shop', '/api/v1/namespaces/shop/services'],
    [Service, undefined, '/api/v1/services'],
    [Deployment, 'shop', '/apis/apps/v1/namespaces/shop/deployments'],
    [Node, undefined, '/api/v1/nodes'],
    [Node, 'shop', '/api/v1/nodes'],
  ])('of a collection: %#', (type, namespace, path) => {
    expect(collectionPath(type, namespace)).toBe(path);
  });

  test('of a namespaced object without a namespace are a mistake of the caller', () => {
    expect(() => objectPath(Service, { name: 'web' })).toThrow('Service web: a namespaced object needs a namespace');
  });

  test.each(['', '..', 'a/b'])('never lead out of a namespace: %j', (namespace) => {
    expect(() => collectionPath(Service, namespace)).toThrow(/cannot be the namespace of an object/);
  });
});

describe('queries', () => {
  test('leave out what is not set', () => {
    expect(listParameters({})).toBe('');
    expect(listParameters({ limit: 500, labelSelector: 'a=b,c' })).toBe('?labelSelector=a%3Db%2Cc&limit=500');
  });

  test('send no resourceVersion beside a continue token: the server would refuse it', () => {
    expect(listParameters({ resourceVersion: '7' })).toBe('?resourceVersion=7');
    expect(listParameters({ resourceVersion: '7', continue: 'token' })).toBe('?continue=token');
  });

  test('for a watch from a version do not ask for the state before it', () => {
    expect(watchParameters({ resourceVersion: '7' })).toBe('?watch=true&allowWatchBookmarks=true&resourceVersion=7');
  });
});
