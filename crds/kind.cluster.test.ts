/** What follows from a kind, on a real API server. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, bodyOf, testApi } from '../test/api.ts';
import { Gadget } from '../test/gadget.ts';
import { resources } from '../test/resources.ts';
import { definitionOf, userRolesOf } from './kind.ts';

const base = '/apis/test.example.com/v1beta1';

let api: TestApi;
let namespace: string;
beforeAll(async () => {
  api = testApi();
  namespace = await api.namespace();
  await api.establish(definitionOf(Gadget));
}, 30_000);
afterAll(() => api.close());

interface Listed {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
    readonly singularName: string;
  }[];
}

interface Refusal {
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
}

describe('a definition', () => {
  test('is taken as it is: nothing unknown, nothing added to its schema, no warning', async () => {
    const definition = definitionOf(Gadget);
    const query = { dryRun: 'All', fieldValidation: 'Strict' };
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
    const answer = await api.request('PATCH', path, definition, {
      contentType: 'application/apply-patch+yaml',
      query: { ...query, fieldManager: 'test', force: 'true' },
    });
    expect(answer.status).toBe(200);
    expect(answer.warnings).toEqual([]);
    expect(bodyOf(answer)['spec']).toMatchObject(definition['spec'] as object);
  });

  test('is structural and established, under all its names', async () => {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definitionOf(Gadget).metadata.name}`;
    const { status } = bodyOf(
      await api.request<{ status: { conditions: { type: string; status: string }[] } }>('GET', path),
    );
    expect(status.conditions.map((one) => `${one.type}=${one.status}`)).toEqual([
      'NamesAccepted=True',
      'Established=True',
    ]);
    const { resources: listed } = bodyOf(await api.request<Listed>('GET', base));
    expect(listed.map((one) => one.name).sort()).toEqual(['gadgets', 'gadgets/scale', 'gadgets/status']);
    expect(listed.find((one) => one.name === 'gadgets')).toMatchObject({
      singularName: 'gadget',
      kind: 'Gadget',
      shortNames: ['gd'],
      categories: ['reprise', 'toys'],
    });
  });
});

describe('a resource', () => {
  test.each(resources)('$what', async ({ resource, problems }) => {
    const query = { dryRun: 'All', fieldValidation: 'Strict' };
    const { status, body } = await api.request<Refusal>('POST', `${base}/namespaces/${namespace}/gadgets`, resource, {
      query,
    });
    const causes = (body.details?.causes ?? []).filter((cause) => cause.field !== '<nil>');
    if (resource.kind === 'Gadget') {
      expect(causes.map((cause) => `${cause.field}: ${cause.message}`).sort()).toEqual([...problems].sort());
    }
    expect(status < 300).toBe(problems.length === 0);
  });
});

test('the roles of users are taken as they are', async () => {
  for (const role of userRolesOf(Gadget)) {
    const answer = await api.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', role, {
      query: { dryRun: 'All', fieldValidation: 'Strict' },
    });
    expect({ status: answer.status, warnings: answer.warnings }).toEqual({ status: 201, warnings: [] });
    expect(bodyOf(answer)['rules']).toEqual(role['rules']);
  }
});
