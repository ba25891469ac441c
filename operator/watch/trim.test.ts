import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import { ownFieldsEntry, trimObject } from './trim.ts';

const fieldManager = 'reprise';

const deployment = (): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u1',
    resourceVersion: '7',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}', team: 'blue' },
    managedFields: [
      { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status' },
      { manager: 'reprise', operation: 'Update', subresource: 'status' },
      { manager: 'reprise', operation: 'Update' },
    ],
  },
  spec: { replicas: 2 },
  status: { replicas: 2, observedGeneration: 1, conditions: [] },
});

describe('trimming an object', () => {
  test('keeps what is read and nothing else', () => {
    expect(trimObject(deployment(), { fieldManager, statusFields: ['replicas', 'readyReplicas'] })).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: 'u1',
        resourceVersion: '7',
        annotations: { team: 'blue' },
        managedFields: [{ manager: 'reprise', operation: 'Update', index: 2 }],
      },
      spec: { replicas: 2 },
      status: { replicas: 2 },
    });
  });

  test('keeps the whole status when no fields are named', () => {
    expect(trimObject(deployment(), { fieldManager }).status).toEqual(deployment().status);
  });

  test('does not change the object that it is given', () => {
    const object = deployment();
    trimObject(object, { fieldManager, statusFields: [] });
    expect(object).toEqual(deployment());
  });

  test('trims nothing from what is trimmed', () => {
    const once = trimObject(deployment(), { fieldManager, statusFields: ['replicas'] });
    expect(trimObject(once, { fieldManager, statusFields: ['replicas'] })).toEqual(once);
  });

  test('forgets the managers of others altogether', () => {
    const trimmed = trimObject(deployment(), { fieldManager: 'someone-else' });
    expect(trimmed.metadata.managedFields).toBeUndefined();
  });

  test('ten thousand children share one record of their manager', () => {
    const [a, b] = [deployment(), deployment()].map((object) => trimObject(object, { fieldManager }));
    expect(a?.metadata.managedFields).toBe(b?.metadata.managedFields);
  });

  test('an object without status gets none', () => {
    const { status: _, ...rest } = deployment();
    expect(trimObject(rest, { fieldManager, statusFields: ['replicas'] })).not.toHaveProperty('status');
  });
});

describe('finding our entry in managedFields', () => {
  test('gives its place on the server, before and after trimming', () => {
    const expected = { manager: 'reprise', operation: 'Update', index: 2 };
    expect(ownFieldsEntry(deployment(), fieldManager, 'Update')).toEqual(expected);
    expect(ownFieldsEntry(trimObject(deployment(), { fieldManager }), fieldManager, 'Update')).toEqual(expected);
  });

  test('does not take a status entry for one of the main resource', () => {
    const object = deployment();
    const status = {
      ...object,
      metadata: { ...object.metadata, managedFields: object.metadata.managedFields!.slice(0, 2) },
    };
    expect(ownFieldsEntry(status, fieldManager, 'Update')).toBeUndefined();
  });

  test('tells Apply from Update', () => {
    expect(ownFieldsEntry(deployment(), fieldManager, 'Apply')).toBeUndefined();
  });
});
