/** A whole resource judged as the API server judges it: for samples, tools and webhooks. */
import type { KubeObject } from '../charts/resource.ts';
import { apiVersionOf } from '../charts/resource.ts';
import { type Kind, rootSchemaOf } from './kind.ts';
import { type Judging, problemsOfStored, refusedAsUnknown } from './validate.ts';
import { fillDefaults } from './defaults.ts';
import { type Problem, invalid } from './wording.ts';

/** Everything that the API server would refuse in the resource. Of `metadata` only the name is looked at. */
export function validateResource(
  kind: Kind,
  object: KubeObject,
  judging: Omit<Judging, 'path'> = {},
): readonly Problem[] {
  const mistaken = typeProblems(kind, object);
  if (mistaken.length > 0) return mistaken;
  const root = rootSchemaOf(kind);
  const { apiVersion: _version, kind: _kind, metadata, ...fields } = object;
  return [
    ...refusedAsUnknown(root, fields, ''),
    ...nameProblems(metadata),
    ...problemsOfStored(root, fillDefaults(root, object), judging),
  ];
}

/** Another type is answered with nothing else. */
function typeProblems(kind: Kind, object: KubeObject): readonly Problem[] {
  const expected = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
  return (['kind', 'apiVersion'] as const)
    .filter((field) => object[field] !== expected[field])
    .map((field) => invalid(field, object[field], `must be ${expected[field]}`));
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function nameProblems({
  name,
  generateName,
}: KubeObject['metadata'] & { readonly generateName?: string }): readonly Problem[] {
  // The server makes a name from generateName before it judges.
  if (generateName !== undefined) return [];
  if (name === '') {
    return [
      {
        path: 'metadata.name',
        message: 'Required value: name or generateName is required',
        reason: 'FieldValueRequired',
      },
    ];
  }
  if (name.length > 253) return [invalid('metadata.name', name, 'must be no more than 253 bytes')];
  if (subdomain.test(name)) return [];
  return [invalid('metadata.name', name, subdomainRule)];
}

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
