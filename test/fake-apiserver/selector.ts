/** Label and field selectors, as far as the operator uses them. */
import type { KubeObject } from '../../charts/resource.ts';

type Test = (labels: Readonly<Record<string, string>>) => boolean;

const requirement = (text: string): Test => {
  const [, setKey = '', operator, values = ''] = /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(text) ?? [];
  if (operator !== undefined) {
    const set = values.split(',').map((value) => value.trim());
    return (labels) => (labels[setKey] !== undefined && set.includes(labels[setKey])) === (operator === 'in');
  }
  const [, key = '', sign, value = ''] = /^\s*([^!=\s]+)\s*(==|!=|=)\s*(\S*)\s*$/.exec(text) ?? [];
  if (sign !== undefined) return (labels) => (labels[key] === value) === (sign !== '!=');
  const absent = text.trim().startsWith('!');
  const name = text.trim().replace(/^!/, '');
  return (labels) => name in labels !== absent;
};

/** Commas within parentheses belong to a set. */
const split = (selector: string): string[] => selector.split(/,(?![^(]*\))/).filter((part) => part.trim() !== '');

export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Whether an object belongs to a list or watch. */
export const selects = ({ namespace, labelSelector, fieldSelector }: Selection): ((object: KubeObject) => boolean) => {
  const labelTests = split(labelSelector ?? '').map(requirement);
  const fieldTests = split(fieldSelector ?? '').map(requirement);
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    labelTests.every((holds) => holds(metadata.labels ?? {})) &&
    fieldTests.every((holds) =>
      holds({ 'metadata.name': metadata.name, 'metadata.namespace': metadata.namespace ?? '' }),
    );
};
