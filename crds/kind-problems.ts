/** What is wrong with a kind, found before the API server or the operator would stumble over it. */
import type { JsonSchema } from './json-schema.ts';

/** One thing that is wrong, and where. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The parts of a kind that can be wrong by themselves. */
export interface Definition {
  readonly group: string;
}

export function problemsOfKind(_kind: Definition, _root: JsonSchema): readonly Problem[] {
  return [];
}
