/** The schema language and the local validator against a real API server: what one takes the other takes, in both directions. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Answer, type TestApi, bodyOf, testApi } from '../test/api.ts';
import { evaluateCel } from '../test/cel.ts';
import { misuses } from '../test/misuses.ts';
import { comparing, stored, updates } from '../test/updates.ts';
import { formatted, oddlyFormatted, patterns, schemas, tamedOf, valuesOf } from '../test/schemas.ts';
import type { KubeObject } from '../charts/resource.ts';
import type { Format } from './formats.ts';
import type { JsonSchema, Property, Schema, StringProps } from './schema.ts';
import { array, map, object, optional, string, withRules } from './schema.ts';
import { validate, withDefaults } from './validate.ts';

const group = 'language.example.com';

/** Printed by a failing run; give them again to repeat it, or more runs for a longer one. */
const seed = Number(process.env['REPRISE_TEST_SEED'] ?? Date.now() % 2 ** 31);
const runs = Number(process.env['REPRISE_TEST_RUNS'] ?? 12);

/** A schema with values to judge by it. Each becomes a definition of its own. */
interface Trial {
  readonly number: number;
  readonly schema: Schema;
  readonly values: readonly unknown[];
}

const objectOf = (several: readonly Property[]): Schema =>
  object(Object.fromEntries(several.map((of, index) => [`field${index}`, of])));

const randomPairs = fc
  .array(schemas, { minLength: 8, maxLength: 8 })
  .map((several) => objectOf(several.map(optional)))
  .chain((schema) =>
    fc.tuple(
      fc.constant(schema),
      fc.array(fc.oneof(valuesOf(schema.json), tamedOf(schema.json)), { minLength: 80, maxLength: 80 }),
    ),
  );

let count = 0;
const trialOf = (schema: Schema, values: readonly unknown[]): Trial => ({ number: ++count, schema, values });

/** One definition for a whole table of texts: a field for each row. */
function tableOf(rows: readonly (readonly [props: StringProps, values: readonly unknown[]])[]): Trial {
  const schema = objectOf(rows.map(([props]) => optional(string({ maxLength: 300, ...props }))));
  return trialOf(
    schema,
    rows.flatMap(([, values], index) => values.map((value) => ({ [`field${index}`]: value }))),
  );
}

const updateTrial = trialOf(comparing, []);
const randomTrials = fc.sample(randomPairs, { seed, numRuns: runs }).map(([schema, values]) => trialOf(schema, values));
const otherTypes = [1, 1.5, true, {}];
const formatTrial = tableOf(
  Object.entries(formatted).map(([format, texts]) => [{ format: format as Format }, [...texts, ...otherTypes]]),
);
const oddTrial = tableOf(
  Object.entries(oddlyFormatted).map(([format, values]) => [{ format: format as Format }, values]),
);
const patternTrial = tableOf(Object.entries(patterns).map(([pattern, texts]) => [{ pattern }, texts]));

let api: TestApi;
let namespace: string;

/** All definitions at once: each takes the server two seconds, be they one or fifty. */
beforeAll(async () => {
  api = testApi();
  namespace = await api.namespace();
  const trials = [updateTrial, ...randomTrials, formatTrial, oddTrial, patternTrial];
  await Promise.all(trials.map(({ number, schema }) => api.establish(definitionWith(number, schema.json))));
}, 60_000);
afterAll(() => api.close());

/** A definition with the schema as its spec. */
const definitionWith = (number: number, spec: JsonSchema): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `trial${number}s.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: `trial${number}s`, kind: `Trial${number}` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
});

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** What the server says of a schema, without installing it. */
async function verdictOn(schema: JsonSchema): Promise<string> {
  const dryRun = { query: { dryRun: 'All', fieldValidation: 'Strict' } };
  const { status, body } = await api.request<{ message?: string }>(
    'POST',
    definitions,
    definitionWith(0, schema),
    dryRun,
  );
  return status === 201 ? 'taken' : (body.message ?? '');
}

interface Outcome {
  readonly spec?: unknown;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
}

/** What the server says of a spec, without storing it. */
const attempt = (number: number, spec: unknown): Promise<Answer<Outcome>> =>
  api.request<Outcome>(
    'POST',
    resources(number),
    { apiVersion: `${group}/v1`, kind: `Trial${number}`, metadata: { name: 'x' }, spec },
    { query: { dryRun: 'All', fieldValidation: 'Strict' } },
  );

const resources = (number: number): string => `/apis/${group}/v1/namespaces/${namespace}/trial${number}s`;

/** Stores the object that updates are tried on, then says what the server makes of another spec for it. */
async function attemptUpdate(spec: unknown): Promise<Answer<Outcome>> {
  const { number } = updateTrial;
  const object = { apiVersion: `${group}/v1`, kind: `Trial${number}`, metadata: { name: 'x' }, spec: stored };
  const created = await api.request<KubeObject>('POST', resources(number), object);
  const current = created.status === 409 ? await api.request<KubeObject>('GET', `${resources(number)}/x`) : created;
  const changed = { ...bodyOf(current), spec };
  const query = { dryRun: 'All', fieldValidation: 'Strict' };
  return api.request<Outcome>('PUT', `${resources(number)}/x`, changed, { query });
}

/**
 * The server's answer as problems and stored value. Causes without a field say that the object was invalid anyway, and repeat
 * others; a strict refusal names the unknown fields alone.
 */
function judgementOf({ status, body }: Answer<Outcome>): object {
  if (status < 300) return { stored: body.spec };
  if (status === 422) {
    const causes = (body.details?.causes ?? []).filter((cause) => cause.field !== '<nil>');
    return { problems: causes.map((cause) => `${cause.field}: ${cause.message}`).sort() };
  }
  const unknown = /strict decoding error: (.*)$/.exec(body.message ?? '')?.[1];
  return unknown === undefined ? { status, message: body.message } : { unknown: unknown.split(', ').sort() };
}

/** The same from the local validator. */
function localJudgementOf<Spec>(schema: Schema<{ readonly spec?: Spec }>, value: { readonly spec: Spec }): object {
  const problems = validate(schema, value, { evaluate: evaluateCel });
  const unknown = problems.filter((one) => one.message.startsWith('unknown field'));
  if (unknown.length > 0) return { unknown: unknown.map((one) => one.message).sort() };
  if (problems.length > 0) return { problems: problems.map((one) => `${one.path}: ${one.message}`).sort() };
  return { stored: withDefaults(schema, value).spec };
}

async function expectSameJudgement({ number, schema, values }: Trial): Promise<void> {
  const answers = await Promise.all(values.map((value) => attempt(number, value)));
  const resource = object({ spec: optional(schema) });
  const seen = answers.map((answer, index) => ({ seed, value: values[index], ...judgementOf(answer) }));
  const expected = values.map((value) => ({ seed, value, ...localJudgementOf(resource, { spec: value }) }));
  expect(seen).toEqual(expected);
}

describe('the schema language', () => {
  test('says only what the API server takes', async () => {
    const several = fc.array(schemas, { minLength: 10, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(several, async (them) => {
        expect(await verdictOn(objectOf(them).json)).toBe('taken');
      }),
      { seed, numRuns: 3 * runs },
    );
  }, 60_000);
});

describe('rules over values of default bounds', () => {
  const list = array(string());
  const rule = (text: string) => ({ rule: text, message: 'must fit' });

  test.each<[what: string, schema: Schema]>([
    ['a pattern on each text of a list', withRules(list, rule("self.all(x, x.matches('^[a-z]+$'))"))],
    ['each text of a list against each other', withRules(list, rule('self.all(x, self.exists_one(y, x == y))'))],
    ['a rule on each text of lists in a map', map(array(withRules(string(), rule("!self.contains('..')"))))],
    ['keys and values of a map', withRules(map(string()), rule('self.all(key, key.size() < 64 && self[key] != key)'))],
    ['one list against another', object({ a: list, b: list }, { rules: [rule('self.a.all(x, x in self.b)')] })],
  ])('cost less than the API server allows: %s', async (_what, schema) => {
    expect(await verdictOn(object({ field: schema }).json)).toBe('taken');
  });
});

describe('what the language refuses', () => {
  test.each(misuses)('$what: the API server $server it', async ({ field, server }) => {
    const verdict = await verdictOn(object({ field }).json);
    if (server === 'takes') expect(verdict).toBe('taken');
    else expect(verdict).toContain('is invalid');
  });
});

describe('the local validator', () => {
  test('judges as the API server does, word for word, and fills in the same defaults', async () => {
    for (const trial of randomTrials) await expectSameJudgement(trial);
  }, 60_000);

  test('reads formats as the API server does', async () => {
    await expectSameJudgement(formatTrial);
  });

  test('reads patterns as the API server does', async () => {
    await expectSameJudgement(patternTrial);
  });

  test('refuses lists and odd texts for formats, as the API server does', async () => {
    const { number, schema, values } = oddTrial;
    for (const value of values) {
      expect({ value, status: (await attempt(number, value)).status }).toEqual({ value, status: 422 });
      expect({ value, problems: validate(schema, value) }).not.toEqual({ value, problems: [] });
    }
  });

  test.each(updates)('judges updates as the API server does: $what', async ({ spec, problems }) => {
    const answer = await attemptUpdate({ ...spec });
    expect(judgementOf(answer)).toEqual(problems.length === 0 ? { stored: spec } : { problems: [...problems].sort() });
  });
});
