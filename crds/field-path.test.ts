import { describe, expect, test } from '@jest/globals';
import { findField } from './field-path.ts';
import { array, integer, map, object, optional, string } from './schema.ts';

const schema = object({
  port: integer(),
  labels: optional(map(string({ maxLength: 9 }))),
  nested: object({ list: array(integer()), deep: object({ x: string() }) }),
}).json;

describe('a field path', () => {
  test.each([
    ['.port', 'port'],
    ["['port']", 'port'],
    ['.nested.deep.x', 'nested.deep.x'],
    [".labels['a.b/c']", 'labels[a.b/c]'],
    ['.labels.any', 'labels[any]'],
    [".labels['it\\'s']", "labels[it's]"],
  ])('%s leads to %s', (path, found) => {
    expect(findField(schema, path)?.path).toBe(found);
  });

  test.each([
    '',
    'port',
    '.',
    '.nope',
    '.port.x',
    '.nested.list[0]',
    ".nested['deep'",
    '.nested..deep',
    '.constructor',
  ])('%j leads nowhere', (path) => {
    expect(findField(schema, path)).toBeUndefined();
  });
});
