/** Conditions as the API conventions want them (metav1.Condition): found by type, stamped with times that mean something. */
import type { Condition } from '../charts/resource.ts';
import type { ConditionInput } from './kind.ts';

/** The condition of that type, if it was ever stated. */
export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

/** Whether the condition of that type holds; one that was never stated does not. */
export const isConditionTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  findCondition(conditions, type)?.status === 'True';

/** Milliseconds as metav1.Time writes them: UTC, whole seconds. */
export const timestampOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export interface Stamp {
  /** As `timestampOf` writes it. */
  readonly now: string;
  /** Generation of the resource that was observed. */
  readonly generation: number;
}

/**
 * The conditions to store: what is stated now, with its time kept as long as its status is the same, and what others or earlier
 * versions stated, untouched. Sorted by type, so equal statements give equal bytes and no write. A type that is no longer stated
 * stays: state it as `False` to take it back. Of two statements of one type the last counts.
 */
export function stampConditions(
  previous: readonly Condition[] | undefined,
  next: readonly ConditionInput[],
  stamp: Stamp,
): readonly Condition[] {
  const byType = new Map((previous ?? []).map((condition) => [condition.type, condition]));
  for (const { type, status, reason, message } of next) {
    const before = findCondition(previous, type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : stamp.now;
    byType.set(type, { type, status, reason, message, observedGeneration: stamp.generation, lastTransitionTime });
  }
  return [...byType.values()].sort((one, other) => (one.type < other.type ? -1 : 1));
}
