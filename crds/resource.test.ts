import { describe, expect, test } from '@jest/globals';
import { evaluateCel } from '../test/cel.ts';
import { Gadget } from '../test/gadget.ts';
import { resources } from '../test/resources.ts';
import { validateResource } from './resource.ts';

describe('a whole resource', () => {
  test.each(resources)('$what', ({ resource, problems }) => {
    const found = validateResource(Gadget, resource, { evaluate: evaluateCel });
    expect(found.map((one) => `${one.path}: ${one.message}`)).toEqual(problems);
  });
});
