/** From changes of the caches to keys: which resource has to be looked at, how urgently, and why. */
import type { KubeObject } from '../../charts/resource.ts';
import type { Kind } from '../../crds/kind.ts';
import type { OwnedType } from '../../crds/owned.ts';
import type { Level, Wish } from '../queue/entry.ts';
import type { Change, Reader } from '../watch/reader.ts';
import { isSameJson } from './canonical.ts';
import type { ChildCaches } from './observed.ts';
import { controllerOf } from './ownership.ts';
import { keyOf } from './reconcile.ts';

export interface FeedProps {
  readonly kind: Kind;
  readonly primary: Pick<Reader, 'subscribe'>;
  readonly children: ChildCaches;
  readonly add: (key: string, wish: Wish) => void;
}

/** Subscribes to the caches of a kind; the function given back unsubscribes. */
export function feed({ kind, primary, children, add }: FeedProps): () => void {
  const ends = [
    primary.subscribe((change) => {
      add(keyOfObject(change.object), { level: levelOf(change), cause: causeOf(change) });
    }),
    ...children.types.map((type) =>
      children.of(type).subscribe((change) => {
        const wish = { level: levelOf(change), cause: childCauseOf(type, change) };
        for (const key of ownersOf(kind, change)) add(key, wish);
      }),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}

const keyOfObject = ({ metadata }: KubeObject): string => keyOf(metadata.namespace ?? '', metadata.name);

const levelOf = (change: Change): Level => (change.initial ? 'initial' : 'live');

/** Constant phrases: they stand in every log line of the run. */
function causeOf({ type, object, previous }: Change): string {
  if (type !== 'modified') return type === 'added' ? 'added' : 'deleted';
  if (object.metadata.deletionTimestamp !== previous?.metadata.deletionTimestamp) return 'deletion asked for';
  if (object.metadata.generation !== previous?.metadata.generation) return 'spec changed';
  return isSameJson(object['status'], previous?.['status']) ? 'metadata changed' : 'status changed';
}

const childCauseOf = (type: OwnedType, change: Change): string => `${type.kind} ${change.type}`;

/** The resources of that kind that control or controlled the child: an owner reference may have been taken off. */
function ownersOf(kind: Kind, { object, previous }: Change): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const child of [object, previous]) {
    const owner = child === undefined ? undefined : controllerOf(child);
    const isOurs = owner?.kind === kind.kind && owner.apiVersion.startsWith(`${kind.group}/`);
    if (isOurs) keys.add(keyOf(child?.metadata.namespace ?? '', owner.name));
  }
  return keys;
}
