import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Condition } from '../../charts/resource.ts';
import type { ConditionInput, Resource } from '../../crds/kind.ts';
import { mergePatch, statusOf } from './status.ts';

const now = Date.parse('2026-05-01T10:00:00Z');
const resource = (status?: object): Resource => ({
  ...{ apiVersion: 'example.com/v1', kind: 'X', spec: {} },
  metadata: { name: 'a', namespace: 'n', uid: 'u', generation: 4 },
  ...(status && { status }),
});
const available: ConditionInput = { type: 'Available', status: 'True', reason: 'Up', message: 'all well' };
const conditionsOf = (status: Readonly<Record<string, unknown>>) => status['conditions'] as readonly Condition[];

describe('the status to store', () => {
  test('is what was observed, with the generation, times, and a Degraded that says no', () => {
    expect(statusOf(resource(), { ready: 2, gone: undefined, conditions: [available] }, undefined, now)).toEqual({
      ready: 2,
      observedGeneration: 4,
      conditions: [
        { ...available, observedGeneration: 4, lastTransitionTime: '2026-05-01T10:00:00Z' },
        {
          ...{ type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' },
          ...{ observedGeneration: 4, lastTransitionTime: '2026-05-01T10:00:00Z' },
        },
      ],
    });
  });

  test('a problem of the engine wins over what the kind says of Degraded', () => {
    const fine: ConditionInput = { type: 'Degraded', status: 'False', reason: 'Fine', message: '' };
    const problem = { reason: 'Conflict', message: 'Service a exists already' };
    expect(conditionsOf(statusOf(resource(), { conditions: [fine] }, problem, now))).toMatchObject([
      { type: 'Degraded', status: 'True', ...problem },
    ]);
    expect(conditionsOf(statusOf(resource(), { conditions: [fine] }, undefined, now))).toMatchObject([fine]);
  });

  test('a problem that is gone is taken back, with a new time', () => {
    const before = statusOf(resource(), { conditions: [] }, { reason: 'Conflict', message: 'x' }, now);
    const after = statusOf(resource(before), { conditions: [] }, undefined, now + 60_000);
    expect(conditionsOf(after)).toMatchObject([
      { type: 'Degraded', status: 'False', lastTransitionTime: '2026-05-01T10:01:00Z' },
    ]);
  });

  test('the same observation later gives the same status: times stay', () => {
    const before = statusOf(resource(), { ready: 1, conditions: [available] }, undefined, now);
    expect(statusOf(resource(before), { ready: 1, conditions: [available] }, undefined, now + 1e6)).toEqual(before);
  });

  test('when nothing could be observed the last status stays but for the conditions', () => {
    const before = { ready: 1, observedGeneration: 3, conditions: [] };
    expect(statusOf(resource(before), undefined, { reason: 'ObserveFailed', message: 'x' }, now)).toMatchObject({
      ready: 1,
      observedGeneration: 4,
      conditions: [{ type: 'Degraded', reason: 'ObserveFailed' }],
    });
  });
});

describe('the patch', () => {
  test('holds what changed, and null for what has to go', () => {
    const from = { same: 1, changed: 1, gone: 1, nested: { same: 1, gone: 2 }, list: [1, 2] };
    const to = { same: 1, changed: 2, nested: { same: 1, added: 3 }, list: [2] };
    expect(mergePatch(from, to)).toEqual({ changed: 2, gone: null, nested: { gone: null, added: 3 }, list: [2] });
  });

  test('there is none between equals, whatever the order of their keys', () => {
    expect(mergePatch({ a: 1, b: { c: [{ d: 1, e: 2 }] } }, { b: { c: [{ e: 2, d: 1 }] }, a: 1 })).toBeUndefined();
    expect(mergePatch({}, { a: undefined })).toBeUndefined();
    expect(mergePatch({ a: { b: 1 } }, { a: { b: 1, c: undefined } })).toBeUndefined();
  });

  /** RFC 7386, by its own pseudo-code. */
  const applied = (target: unknown, patch: unknown): unknown => {
    if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
    const isMap = typeof target === 'object' && target !== null && !Array.isArray(target);
    const result: Record<string, unknown> = isMap ? { ...target } : {};
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) Reflect.deleteProperty(result, key);
      else result[key] = applied(result[key], value);
    }
    return result;
  };

  test('turns any status into any other', () => {
    const leaf = fc.oneof(
      fc.integer(),
      fc.string({ maxLength: 3 }),
      fc.boolean(),
      fc.array(fc.integer(), { maxLength: 2 }),
    );
    const key = fc.constantFrom('a', 'b', 'c');
    const status = fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf)));
    fc.assert(
      fc.property(status, status, (from, to) => {
        expect(applied(from, mergePatch(from, to) ?? {})).toEqual(to);
      }),
    );
  });
});
