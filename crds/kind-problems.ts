/** What is wrong with a kind, found before the API server or the operator would stumble over it. */
import { findField } from './field-path.ts';
import type { JsonSchema } from './json-schema.ts';
import { type Flaw, flawsOf } from './structural.ts';

/** The parts of a kind that can be wrong. */
export interface Definition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly jsonPath: string }[];
  readonly scale: ScalePaths | undefined;
  readonly owns: readonly { readonly group: string; readonly kind: string }[];
}

interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** Everything that is wrong with the kind whose resources have this schema, each with its place. */
export const flawsOfKind = (kind: Definition, root: JsonSchema): readonly Flaw[] => [
  ...nameFlaws(kind),
  ...statusFlaws(root),
  ...flawsOf(root, ''),
  ...columnFlaws(kind, root),
  ...(kind.scale ? scaleFlaws(kind.scale, root) : []),
  ...twice(
    'owns',
    kind.owns.map((owned) => `${owned.kind}.${owned.group}`),
  ),
];

const label = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsName = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

function nameFlaws(kind: Definition): readonly Flaw[] {
  const must = (path: string, holds: boolean, rule: string): readonly Flaw[] =>
    holds ? [] : [{ path, message: `must be ${rule}` }];
  const aLabel = 'lower-case letters, digits and dashes, first a letter, at most 63';
  return [
    ...must(
      'group',
      dnsName.test(kind.group),
      `a DNS name of at least two parts such as web.example.com, but is ${JSON.stringify(kind.group)}`,
    ),
    ...must(
      'version',
      /^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/.test(kind.version),
      'such as v1, v1beta2 or v1alpha1',
    ),
    ...must('kind', /^[A-Z][A-Za-z0-9]{0,62}$/.test(kind.kind), 'one word in PascalCase'),
    ...must('plural', label.test(kind.plural), `${aLabel}: the kind in the plural`),
    ...must(
      'description',
      kind.description.trim() !== '',
      'a sentence or two: kubectl explain and the reference begin with it',
    ),
    ...kind.shortNames.flatMap((name, index) => must(`shortNames[${index}]`, label.test(name), aLabel)),
    ...kind.categories.flatMap((name, index) => must(`categories[${index}]`, label.test(name), aLabel)),
    ...twice('shortNames', [kind.plural, kind.kind.toLowerCase(), ...kind.shortNames]),
  ];
}

function twice(path: string, names: readonly string[]): readonly Flaw[] {
  const repeated = names.filter((name, index) => names.indexOf(name) < index);
  return [...new Set(repeated)].map((name) => ({ path, message: `${name} stands twice` }));
}

/** The engine writes both, whatever the kind. */
function statusFlaws(root: JsonSchema): readonly Flaw[] {
  const status = root.properties?.['status']?.properties ?? {};
  const isList = status['conditions']?.['x-kubernetes-list-map-keys']?.join() === 'type';
  return [
    ...(isList
      ? []
      : [{ path: 'status.conditions', message: 'every status has `conditions`, the one that schema.ts exports' }]),
    ...(status['observedGeneration']?.type === 'integer'
      ? []
      : [{ path: 'status.observedGeneration', message: 'every status has `observedGeneration: integer()`' }]),
  ];
}

const ofMetadata: Readonly<Record<string, string>> = {
  '.metadata.name': 'string',
  '.metadata.namespace': 'string',
  '.metadata.uid': 'string',
  '.metadata.generation': 'integer',
  '.metadata.creationTimestamp': 'date',
  '.metadata.deletionTimestamp': 'date',
};

function columnFlaws({ columns }: Definition, root: JsonSchema): readonly Flaw[] {
  const flaws = columns.flatMap(({ name, type, jsonPath }): readonly Flaw[] => {
    const path = `columns ${name}`;
    const found = ofMetadata[jsonPath] ?? columnType(root, jsonPath);
    if (found === undefined) return [{ path, message: `jsonPath ${jsonPath} leads to no field of the resource` }];
    return found === type
      ? []
      : [{ path, message: `jsonPath ${jsonPath} leads to a ${found}, but the column is of type ${type}` }];
  });
  return [
    ...flaws,
    ...twice(
      'columns',
      columns.map((column) => column.name),
    ),
  ];
}

/** One entry of a list by the value of a field: `[?(@.type=="Available")]`. */
const filter = /\[\?\(@(\.[A-Za-z0-9]+)==["'][^"']*["']\)\]/;

function columnType(root: JsonSchema, jsonPath: string): string | undefined {
  const [list = '', key, field = ''] = jsonPath.split(filter);
  const found = findField(root, list)?.schema;
  if (key === undefined) return typeOfColumn(found);
  const entry = found?.items;
  return entry && findField(entry, key) ? typeOfColumn(findField(entry, field)?.schema) : undefined;
}

function typeOfColumn(schema: JsonSchema | undefined): string | undefined {
  if (schema === undefined) return undefined;
  if (schema['x-kubernetes-int-or-string']) return 'string';
  return schema.format === 'date-time' ? 'date' : schema.type;
}

function scaleFlaws(scale: ScalePaths, root: JsonSchema): readonly Flaw[] {
  const { specReplicasPath: spec, statusReplicasPath: status, labelSelectorPath: selector } = scale;
  const wrong = (name: string, message: string): Flaw => ({ path: `scale.${name}`, message });
  const wanted = findField(root, spec)?.schema;
  return [
    ...(spec.startsWith('.spec.') && wanted?.type === 'integer'
      ? (wanted.minimum ?? -1) < 0
        ? [wrong('specReplicasPath', `${spec} must have a minimum of 0 or more`)]
        : []
      : [wrong('specReplicasPath', `must lead to an integer below .spec, but is ${spec}`)]),
    ...(status.startsWith('.status.') && findField(root, status)?.schema.type === 'integer'
      ? []
      : [wrong('statusReplicasPath', `must lead to an integer below .status, but is ${status}`)]),
    ...(selector === undefined ||
    (/^\.(spec|status)\./.test(selector) && findField(root, selector)?.schema.type === 'string')
      ? []
      : [wrong('labelSelectorPath', `must lead to a string below .spec or .status, but is ${selector}`)]),
  ];
}
