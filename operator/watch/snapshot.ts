/** The state that a streamed list sends, gathered until its end bookmark. */
import type { KubeObject } from '../../charts/resource.ts';
import type { WatchEvent } from '../kube/client.ts';
import { keyOf } from './store.ts';

export class SnapshotBuilder {
  readonly #objects = new Map<string, KubeObject>();

  /** True when the list is complete. Real changes may come between the initial events. */
  add(event: WatchEvent): boolean {
    const { metadata } = event.object;
    if (event.type === 'BOOKMARK') return metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
    const key = keyOf(metadata.namespace, metadata.name);
    if (event.type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, event.object);
    return false;
  }

  objects(): KubeObject[] {
    return [...this.#objects.values()];
  }
}
