/** From what is observed to what is stored: status as a value, and the least patch that makes it so. Pure. */
import type { Condition } from '../../charts/resource.ts';
import { stampConditions, timestampOf } from '../../crds/conditions.ts';
import type { ConditionInput, Resource, StatusInput } from '../../crds/kind.ts';
import { isObject, isSameJson, sorted } from './canonical.ts';
import type { Problem } from './memory.ts';

type Fields = Readonly<Record<string, unknown>>;

export const storedStatusOf = (resource: Resource): Fields => (isObject(resource.status) ? resource.status : {});

export const storedConditionsOf = (resource: Resource): readonly Condition[] => {
  const { conditions } = storedStatusOf(resource);
  return Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
};

/**
 * The status to store. A problem of the engine's own is the condition `Degraded`, whatever `observe` says of it; without
 * one, and where the kind has no opinion, it is False. When `observe` could not be asked, what it said last stays.
 */
export function statusOf(
  resource: Resource,
  observed: StatusInput<Fields> | undefined,
  problem: Problem | undefined,
  now: number,
): Fields {
  const { conditions: stated, ...fields } = observed ?? { ...storedStatusOf(resource), conditions: [] };
  const conditions = stampConditions(storedConditionsOf(resource), withDegraded(stated, problem), {
    now: timestampOf(now),
    generation: resource.metadata.generation,
  });
  return sorted({ ...fields, observedGeneration: resource.metadata.generation, conditions }) as Fields;
}

function withDegraded(stated: readonly ConditionInput[], problem: Problem | undefined): readonly ConditionInput[] {
  if (problem !== undefined) return [...stated, { type: 'Degraded', status: 'True', ...problem }];
  if (stated.some(({ type }) => type === 'Degraded')) return stated;
  return [...stated, { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' }];
}

/** RFC 7386: what turns `from` into `to`, with null for what has to go; undefined when they are equal. */
export function mergePatch(from: Fields, to: Fields): Fields | undefined {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(from)) if (to[name] === undefined) patch[name] = null;
  for (const [name, wanted] of Object.entries(to)) {
    const stored = from[name];
    if (wanted === undefined || isSameJson(stored, wanted)) continue;
    const change = isObject(stored) && isObject(wanted) ? mergePatch(stored, wanted) : wanted;
    if (change !== undefined) patch[name] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
