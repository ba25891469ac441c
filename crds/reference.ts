/** The reference page of a kind, in Markdown: what a user may write, what comes back, and what `kubectl` shows. */
import { apiVersionOf } from '../charts/resource.ts';
import type { JsonSchema, Rule } from './json-schema.ts';
import type { Column, Kind } from './kind.ts';

/** An example for the page: the text of a sample file. */
export interface Example {
  readonly title: string;
  readonly yaml: string;
}

/** The page. Everything on it follows from the kind but the examples, which are its samples. */
export const referenceOf = (kind: Kind, examples: readonly Example[] = []): string =>
  [
    `<!-- Written by \`npm run reference\` from crds/: do not edit. -->`,
    `# ${kind.kind}`,
    kind.description,
    table(['', ''], factsOf(kind)),
    ...examples.map(({ title, yaml }) => `## ${title}\n\n\`\`\`yaml\n${yaml.trimEnd()}\n\`\`\``),
    ...(kind.rules.length > 0 ? ['## Rules', listed(kind.rules)] : []),
    '## Spec',
    'What you write. Fields in bold are required; the API server fills in defaults.',
    table(['Field', 'Type', 'Default', 'Bounds', 'Description'], fieldsOf(kind.spec.json, '').map(specRow)),
    '## Status',
    'What the operator says. Nobody else writes it.',
    table(['Field', 'Type', 'Description'], fieldsOf(kind.status.json, '').map(statusRow)),
    '## Columns',
    table(['Column', 'Shows', 'With'], kind.columns.map(columnRow)),
  ].join('\n\n') + '\n';

function factsOf(kind: Kind): readonly (readonly string[])[] {
  const { plural, shortNames, categories, scale, owns } = kind;
  return [
    ['apiVersion', code(apiVersionOf(kind))],
    ['kind', code(kind.kind)],
    ['In `kubectl`', [plural, kind.kind.toLowerCase(), ...shortNames].map(code).join(', ')],
    ['Also in', categories.map((category) => code(`kubectl get ${category}`)).join(', ')],
    ['Scope', kind.scope],
    ...(scale ? [['Scaled by', `\`kubectl scale\` and autoscalers, through ${code(scale.specReplicasPath)}`]] : []),
    ['Makes', owns.map((owned) => `${owned.kind} (${code(apiVersionOf(owned))})`).join(', ')],
  ];
}

/** One line of a table of fields. */
interface Field {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** The fields of an object, each followed by those inside of it: `hosts[].name` is of each entry, `labels{}` each value. */
function fieldsOf(schema: JsonSchema, path: string): readonly Field[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, property]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [{ path: at, schema: property, isRequired: required.includes(name) }, ...insideOf(property, at)];
  });
}

function insideOf(schema: JsonSchema, path: string): readonly Field[] {
  const { items, additionalProperties } = schema;
  if (items) return insideOf(items, `${path}[]`);
  if (additionalProperties) return insideOf(additionalProperties, `${path}{}`);
  return fieldsOf(schema, path);
}

function specRow({ path, schema, isRequired }: Field): readonly string[] {
  const name = isRequired ? `**${code(path)}**` : code(path);
  const value = schema.default === undefined ? '' : code(JSON.stringify(schema.default));
  return [name, typeOf(schema), value, boundsOf(schema).join('; '), descriptionOf(schema)];
}

const statusRow = ({ path, schema }: Field): readonly string[] => [code(path), typeOf(schema), descriptionOf(schema)];

const columnRow = ({ name, jsonPath, priority = 0 }: Column): readonly string[] => [
  name,
  code(jsonPath),
  priority === 0 ? '`kubectl get`' : '`kubectl get -o wide`',
];

function typeOf(schema: JsonSchema): string {
  const { type = 'integer or string', items, additionalProperties, format, nullable } = schema;
  const plain = items
    ? `list of ${typeOf(items)}`
    : additionalProperties
      ? `map of ${typeOf(additionalProperties)}`
      : type === 'string' && format !== undefined
        ? `string (${format})`
        : type;
  return nullable ? `${plain}, or null` : plain;
}

/** What bounds the value, in words. */
function boundsOf(schema: JsonSchema): readonly string[] {
  const { enum: choices, pattern, items, additionalProperties, 'x-kubernetes-list-map-keys': keys } = schema;
  const own = [
    between(schema.minimum, schema.maximum, ''),
    between(schema.minLength, schema.maxLength, ' characters'),
    between(schema.minItems, schema.maxItems, ' entries'),
    between(schema.minProperties, schema.maxProperties, ' entries'),
    choices && `one of ${choices.map(code).join(', ')}`,
    pattern !== undefined && `matches ${code(pattern)}`,
    schema['x-kubernetes-list-type'] === 'set' && 'no entry twice',
    keys && `no two entries with the same ${keys.map(code).join(' and ')}`,
  ].filter((text) => typeof text === 'string');
  const inner = items ?? additionalProperties;
  const each = inner && inner.properties === undefined ? boundsOf(inner).map((bound) => `each ${bound}`) : [];
  return [...own, ...each];
}

function between(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (most !== undefined) return `at most ${most}${unit}`;
  return least === undefined ? undefined : `at least ${least}${unit}`;
}

/** The description, then the messages of the rules. */
function descriptionOf({ description = '', 'x-kubernetes-validations': rules = [] }: JsonSchema): string {
  return [description, ...rules.map((rule) => `*Rule: ${textOf(rule)}.*`)].join(' ').trim();
}

const listed = (rules: readonly Rule[]): string =>
  rules.map((rule) => `- ${textOf(rule)} (${code(rule.rule)})`).join('\n');

const textOf = (rule: Rule): string => rule.message ?? code(rule.messageExpression ?? '');

/** Text as code, also where it holds backticks. */
const code = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A table's cell is one line, and its bars are escaped, also in code. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');
