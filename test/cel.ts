/** CEL for tests: rules of schemas judged without an API server. */
import { Environment, Optional } from '@marcbachmann/cel-js';
import type { Evaluate } from '../crds/cel.ts';

const environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true })
  .registerFunction(
    'string.find(string): string',
    (text: string, pattern: string) => new RegExp(pattern, 'u').exec(text)?.[0] ?? '',
  )
  .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text));

/** Judges one expression; throws where CEL does. */
export const evaluateCel: Evaluate = (expression, { self, oldSelf, optionalOldSelf }) =>
  environment.evaluate(expression, { self, oldSelf: optionalOldSelf ? Optional.of(oldSelf) : oldSelf }) as unknown;
