import { describe, expect, test } from '@jest/globals';
import { Gadget } from '../test/gadget.ts';
import { referenceOf } from './reference.ts';

const lines = referenceOf(Gadget, [{ title: 'Example: small', yaml: 'kind: Gadget\n' }]).split('\n');

describe('the reference page', () => {
  test('begins with the command that writes it, the name and what the kind is for', () => {
    expect(lines.slice(0, 5)).toEqual([
      '<!-- Written by `npm run reference` from crds/: do not edit. -->',
      '',
      '# Gadget',
      '',
      'A gadget for tests.',
    ]);
  });

  test.each([
    '| apiVersion | `test.example.com/v1beta1` |',
    '| In `kubectl` | `gadgets`, `gadget`, `gd` |',
    '| Also in | `kubectl get reprise`, `kubectl get toys` |',
    '| Makes | Deployment (`apps/v1`), Service (`v1`) |',
    '## Example: small',
    'kind: Gadget',
    '| `replicas` | integer | `1` | 0 to 10 | How many. |',
    '| `mode` | string | `"Safe"` | one of `Fast`, `Safe` | Fast \\| or safe. |',
    '| `hosts` | list of object |  | at most 4 entries; no two entries with the same `name` | Where it is served. |',
    '| **`hosts[].name`** | string |  | at most 63 characters | Its name. |',
    '| `hosts[].weight` | integer |  | at least 1 |  |',
    '| `labels` | map of string |  | at most 4 entries; each at most 63 characters |  |',
    '| `conditions[].lastTransitionTime` | string (date-time) | When the status last changed. |',
    '| Ready | `.status.conditions[?(@.type=="Ready")].status` | `kubectl get -o wide` |',
    '| Age | `.metadata.creationTimestamp` | `kubectl get` |',
  ])('has the line %s', (line) => {
    expect(lines).toContain(line);
  });

  test('tells the rules in words and in CEL', () => {
    const [rule] = lines.slice(lines.indexOf('## Rules') + 2);
    expect(rule).toMatch(/^- the name is also the name of a Service: .* \(`self\.metadata\.name\.size\(\) <= 63/);
  });

  test('patterns keep their bars, escaped for the table', () => {
    const memory = lines.find((line) => line.startsWith('| `memory`'));
    expect(memory).toContain('integer or string');
    expect(memory).toContain('\\|');
    expect(memory?.split(/(?<!\\)\|/)).toHaveLength(7);
  });
});
