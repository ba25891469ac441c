import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Condition } from '../charts/resource.ts';
import { findCondition, isConditionTrue, stampConditions, timestampOf } from './conditions.ts';
import type { ConditionInput } from './kind.ts';

const available: Condition = {
  type: 'Available',
  status: 'True',
  reason: 'AllReady',
  message: 'all replicas are ready',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const later = { now: '2026-01-01T01:00:00Z', generation: 2 };

describe('stamping conditions', () => {
  test('the time of a condition stays while its status is the same, though reason, message and generation change', () => {
    const next: ConditionInput = { type: 'Available', status: 'True', reason: 'Enough', message: '2 of 3 are ready' };
    expect(stampConditions([available], [next], later)).toEqual([
      {
        type: 'Available',
        status: 'True',
        reason: 'Enough',
        message: '2 of 3 are ready',
        observedGeneration: 2,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ]);
  });

  test('a changed status gets the time of the change', () => {
    const next: ConditionInput = { type: 'Available', status: 'False', reason: 'NoneReady', message: '' };
    expect(stampConditions([available], [next], later)[0]?.lastTransitionTime).toBe('2026-01-01T01:00:00Z');
  });

  test('the first statement of a condition gets the time of now', () => {
    const next: ConditionInput = { type: 'Available', status: 'Unknown', reason: 'NotYet', message: '' };
    expect(stampConditions(undefined, [next], later)[0]?.lastTransitionTime).toBe('2026-01-01T01:00:00Z');
  });

  test('a condition that somebody else wrote stays exactly as it was', () => {
    const foreign: Condition = {
      type: 'policy.example.com/Approved',
      status: 'True',
      reason: 'Reviewed',
      message: 'by a human',
      lastTransitionTime: '2025-12-01T00:00:00Z',
    };
    const next: ConditionInput = { type: 'Progressing', status: 'False', reason: 'Done', message: '' };
    const stamped = stampConditions([foreign, available], [next], later);
    expect(stamped.find((condition) => condition.type === foreign.type)).toEqual(foreign);
    expect(stamped.map((condition) => condition.type)).toEqual([
      'Available',
      'Progressing',
      'policy.example.com/Approved',
    ]);
  });
});

describe('reading conditions', () => {
  test('a condition is found by its type', () => {
    expect(findCondition([available], 'Available')).toBe(available);
    expect(findCondition([available], 'Degraded')).toBeUndefined();
    expect(findCondition(undefined, 'Available')).toBeUndefined();
  });

  test('what was never stated does not hold', () => {
    expect(isConditionTrue([available], 'Available')).toBe(true);
    expect(isConditionTrue([{ ...available, status: 'Unknown' }], 'Available')).toBe(false);
    expect(isConditionTrue(undefined, 'Available')).toBe(false);
  });

  test('times are whole seconds in UTC, as metav1.Time', () => {
    expect(timestampOf(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe('2026-01-02T03:04:05Z');
  });
});

const types = fc.constantFrom('Available', 'Degraded', 'Progressing', 'Ready');
const statuses = fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const);
const statements: fc.Arbitrary<ConditionInput[]> = fc.uniqueArray(
  fc.record({ type: types, status: statuses, reason: fc.constantFrom('One', 'Two'), message: fc.string() }),
  { selector: (condition) => condition.type },
);

describe('any run of statements', () => {
  test('the time tells when the status last changed, and each type stands once', () => {
    fc.assert(
      fc.property(fc.array(statements, { maxLength: 8 }), (run) => {
        let stored: readonly Condition[] = [];
        const changed = new Map<string, { status: string; time: string }>();
        for (const [step, next] of run.entries()) {
          const now = timestampOf(step * 1000);
          for (const { type, status } of next)
            if (changed.get(type)?.status !== status) changed.set(type, { status, time: now });
          stored = stampConditions(stored, next, { now, generation: step });
        }
        expect(stored.map((condition) => condition.type)).toEqual([...changed.keys()].sort());
        for (const { type, status, lastTransitionTime } of stored)
          expect({ status, time: lastTransitionTime }).toEqual(changed.get(type));
      }),
    );
  });

  test('the order in which conditions are stated or stored changes nothing', () => {
    fc.assert(
      fc.property(statements, statements, (before, next) => {
        const stored = stampConditions(undefined, before, { now: '2026-01-01T00:00:00Z', generation: 1 });
        const expected = stampConditions(stored, next, later);
        expect(stampConditions([...stored].reverse(), [...next].reverse(), later)).toEqual(expected);
        expect(stampConditions(expected, next, later)).toEqual(expected);
      }),
    );
  });
});
