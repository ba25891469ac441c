import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from './json.ts';
import { readinessOf } from './ready.ts';

const condition = (type: string, status: string, reason = '', message = ''): JsonObject => ({
  type,
  status,
  reason,
  message,
});

describe('a definition', () => {
  const definition = (...conditions: JsonObject[]): JsonObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    status: { conditions },
  });

  test('is waited for until it is established', () => {
    expect(readinessOf(definition())).toEqual({ state: 'waiting', why: 'waits to be established' });
    expect(readinessOf(definition(condition('NamesAccepted', 'True'), condition('Established', 'True')))).toEqual({
      state: 'ready',
    });
  });

  test('whose names another one has is not waited for', () => {
    const refused = definition(condition('NamesAccepted', 'False', 'ShortNamesConflict', '"ws" is already in use'));
    expect(readinessOf(refused)).toEqual({ state: 'failed', why: 'its names are refused: "ws" is already in use' });
  });
});

describe('a deployment', () => {
  const deployment = (status: JsonObject, annotations: JsonObject = {}): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { generation: 2, annotations },
    spec: { replicas: 2 },
    status,
  });

  test.each([
    [{}, 'waits for its controller'],
    [{ observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 }, 'waits for its controller'],
    [{ observedGeneration: 2, replicas: 2, updatedReplicas: 1, availableReplicas: 2 }, '1 of 2 replicas updated'],
    [{ observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 2 }, '1 old replicas still there'],
    [{ observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 1 }, '1 of 2 replicas available'],
    [{ observedGeneration: 2, replicas: 2, updatedReplicas: 2 }, '0 of 2 replicas available'],
  ])('with status %j: %s', (status, why) => {
    expect(readinessOf(deployment(status))).toEqual({ state: 'waiting', why });
  });

  test('is ready when all replicas are new and available', () => {
    const status = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
    expect(readinessOf(deployment(status))).toEqual({ state: 'ready' });
  });

  test('that its controller has given up is not waited for', () => {
    const conditions = [condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'has timed out progressing')];
    expect(readinessOf(deployment({ observedGeneration: 2, conditions }))).toEqual({
      state: 'failed',
      why: 'has timed out progressing',
    });
  });

  test('is not waited for where the annotation of Pulumi says so', () => {
    expect(readinessOf(deployment({}, { 'pulumi.com/skipAwait': 'true' }))).toEqual({ state: 'ready' });
  });
});

test('other kinds are ready once they are stored', () => {
  expect(readinessOf({ apiVersion: 'v1', kind: 'ServiceAccount' })).toEqual({ state: 'ready' });
});
