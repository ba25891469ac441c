import { describe, expect, test } from '@jest/globals';
import { ownedBy } from './floor-order.ts';
import { planOf } from './plan.ts';

describe('a plan', () => {
  const planned = planOf('shop', 3);

  test('has a WebServer for each, as a user would write it', () => {
    expect(planned.map(({ server }) => server.metadata.name)).toEqual(['web-00000', 'web-00001', 'web-00002']);
    expect(planned[0]?.server).toEqual({
      apiVersion: 'webserver.example.com/v1',
      kind: 'WebServer',
      metadata: { name: 'web-00000', namespace: 'shop' },
      spec: { replicas: 1 },
    });
  });

  test('has the least writes: Deployment, Service and one status', () => {
    const [first] = planned;
    expect(
      first?.children.map(({ type, object }) => [type.plural, object.metadata.name, object.metadata.namespace]),
    ).toEqual([
      ['deployments', 'web-00000', 'shop'],
      ['services', 'web-00000', 'shop'],
    ]);
    expect(first?.status).toMatchObject({ observedGeneration: 1, replicas: 0, readyReplicas: 0 });
  });

  test('names the owner, whose UID is filled in when it is known', () => {
    const child = planned[1]!.children[0]!.object;
    const owned = ownedBy('the-uid', child);
    expect(owned.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'webserver.example.com/v1',
        kind: 'WebServer',
        name: 'web-00001',
        uid: 'the-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect({ ...owned, metadata: { ...owned.metadata, ownerReferences: child.metadata.ownerReferences } }).toEqual(
      child,
    );
  });
});
