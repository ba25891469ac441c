/** Rendering with a short memory: during a rollout one resource is looked at many times, and a render costs 0.2 ms. */
import type { Kind, Resource } from '../../crds/kind.ts';
import { desiredChildren, type Desired } from './render.ts';

/** Everything that rendering depends on besides the code, as text. */
export const renderInputsOf = ({ metadata }: Resource): string =>
  JSON.stringify([metadata.uid, metadata.generation, metadata.labels, metadata.annotations]);

/** Enough for what is being rolled out; whole fleets are recognized as settled before they are rendered. */
const remembered = 256;

export class Renderer {
  readonly #kind: Kind;
  /** By inputs, the least lately used first. */
  readonly #recent = new Map<string, readonly Desired[]>();

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** Throws RenderError; failures are not remembered. */
  render(resource: Resource): readonly Desired[] {
    const inputs = renderInputsOf(resource);
    const desired = this.#recent.get(inputs) ?? desiredChildren(this.#kind, resource);
    this.#recent.delete(inputs);
    this.#recent.set(inputs, desired);
    for (const [oldest] of this.#recent) {
      if (this.#recent.size <= remembered) break;
      this.#recent.delete(oldest);
    }
    return desired;
  }
}
