import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import type { Change } from './reader.ts';
import { Store } from './store.ts';

interface Shape {
  readonly name?: string;
  readonly uid?: string;
  readonly owner?: string;
}

const object = (version: number, shape: Shape = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    namespace: 'shop',
    name: shape.name ?? 'a',
    uid: shape.uid ?? 'uid-1',
    resourceVersion: String(version),
    ...(shape.owner !== undefined && {
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Helper', name: 'h', uid: 'not-the-controller' },
        { apiVersion: 'v1', kind: 'Owner', name: 'o', uid: shape.owner, controller: true },
      ],
    }),
  },
});

let changes: string[];
let full: Change[];
let store: Store;

beforeEach(() => {
  changes = [];
  full = [];
  store = new Store((change) => {
    full.push(change);
    const { uid, resourceVersion } = change.object.metadata;
    changes.push(`${change.type} ${uid}@${resourceVersion}${change.initial ? ' initial' : ''}`);
  });
});

const versionOfA = (): string | undefined => store.get('shop', 'a')?.metadata.resourceVersion;
const uidOfA = (): string | undefined => store.get('shop', 'a')?.metadata.uid;

describe('our own writes', () => {
  test('are visible at once and told to nobody', () => {
    store.written(object(5));
    expect(versionOfA()).toBe('5');
    expect(changes).toEqual([]);
  });

  test('are not undone by an older event, and their own event is silent', () => {
    store.upsert(object(3));
    store.written(object(5));
    store.upsert(object(4));
    store.upsert(object(5));
    expect(versionOfA()).toBe('5');
    expect(changes).toEqual(['added uid-1@3']);
  });

  test('do not hide what others changed after them', () => {
    store.written(object(5));
    store.upsert(object(6));
    expect(versionOfA()).toBe('6');
    expect(full).toEqual([{ type: 'modified', object: object(6), previous: object(5), initial: false }]);
  });

  test('do not undo a newer event when their answer comes late', () => {
    store.upsert(object(6));
    store.written(object(5));
    expect(versionOfA()).toBe('6');
  });

  test('are not undone by a list that is older', () => {
    store.written(object(5));
    store.replace([], '4');
    expect(versionOfA()).toBe('5');
    store.replace([object(3)], '4');
    expect(versionOfA()).toBe('5');
    expect(changes).toEqual([]);
  });

  test('go with a list that is newer and lacks them', () => {
    store.written(object(5));
    store.replace([], '6');
    expect(versionOfA()).toBeUndefined();
    expect(changes).toEqual(['deleted uid-1@6 initial']);
  });

  test('do not bring back what was deleted before their answer came', () => {
    store.upsert(object(3));
    store.remove(object(6));
    store.written(object(5));
    expect(versionOfA()).toBeUndefined();
  });

  test('do not bring back what the stream has passed over', () => {
    store.replace([], '10');
    store.written(object(5));
    expect(versionOfA()).toBeUndefined();
  });

  test('replace an object of the same name whose end was not heard of yet, and the end is told when it comes', () => {
    store.upsert(object(3));
    store.written(object(9, { uid: 'uid-2' }));
    store.upsert(object(4));
    expect(uidOfA()).toBe('uid-2');
    store.remove(object(8));
    expect(uidOfA()).toBe('uid-2');
    expect(changes).toEqual(['added uid-1@3', 'deleted uid-1@8']);
  });
});

describe('our own deletes', () => {
  test('hide the object at once; its end is told when the server says so', () => {
    store.upsert(object(3));
    store.deleted('shop', 'a', 'uid-1');
    expect(store.get('shop', 'a')).toBeUndefined();
    expect(changes).toEqual(['added uid-1@3']);
    store.remove(object(7));
    expect(changes).toEqual(['added uid-1@3', 'deleted uid-1@7']);
  });

  test('are final: a MODIFIED of that UID, stale or not, does not bring it back', () => {
    store.upsert(object(3));
    store.deleted('shop', 'a', 'uid-1');
    store.upsert(object(4));
    store.upsert(object(5));
    store.written(object(6));
    expect(store.get('shop', 'a')).toBeUndefined();
    expect(changes).toEqual(['added uid-1@3']);
  });

  test('of another UID change nothing', () => {
    store.upsert(object(3));
    store.deleted('shop', 'a', 'uid-0');
    expect(versionOfA()).toBe('3');
  });

  test('stay hidden through a list that still has the object, and end with one that has not', () => {
    store.upsert(object(3));
    store.deleted('shop', 'a', 'uid-1');
    store.replace([object(4)], '4');
    expect(store.get('shop', 'a')).toBeUndefined();
    store.replace([], '9');
    expect(changes).toEqual(['added uid-1@3', 'deleted uid-1@9 initial']);
  });

  test('let a successor of the same name live', () => {
    store.upsert(object(3));
    store.deleted('shop', 'a', 'uid-1');
    store.written(object(8, { uid: 'uid-2' }));
    store.remove(object(7));
    expect(uidOfA()).toBe('uid-2');
  });
});

describe('events', () => {
  test('that come twice count once', () => {
    store.upsert(object(3));
    store.upsert(object(3));
    store.remove(object(4));
    store.upsert(object(3));
    store.remove(object(4));
    expect(store.size).toBe(0);
    expect(changes).toEqual(['added uid-1@3', 'deleted uid-1@4']);
  });

  test('with a new UID under an old name are an end and a beginning', () => {
    store.upsert(object(3));
    store.upsert(object(6, { uid: 'uid-2' }));
    expect(changes).toEqual(['added uid-1@3', 'deleted uid-1@3', 'added uid-2@6']);
  });

  test('of an object that left the label selector and came back are taken', () => {
    store.upsert(object(3));
    store.remove(object(4));
    store.upsert(object(5));
    expect(versionOfA()).toBe('5');
  });

  test('of leaving the selector do not undo our later write that brought it back', () => {
    store.upsert(object(3));
    store.written(object(5));
    store.remove(object(4));
    expect(versionOfA()).toBe('5');
  });

  test('that end an object at the version we know end it (some servers do not raise it)', () => {
    store.upsert(object(3));
    store.remove(object(3));
    expect(store.size).toBe(0);
  });
});

describe('a new list', () => {
  test('is told as differences: what is missing, what is new, what changed, and nothing else', () => {
    store.replace([object(1), object(2, { name: 'b', uid: 'b' }), object(3, { name: 'c', uid: 'c' })], '3');
    changes.length = 0;
    store.replace([object(1), object(5, { name: 'c', uid: 'c' }), object(6, { name: 'd', uid: 'd' })], '9');
    expect(changes).toEqual(['deleted b@9 initial', 'modified c@5 initial', 'added d@6 initial']);
    expect(Array.from(store.list(), ({ metadata }) => metadata.name).sort()).toEqual(['a', 'c', 'd']);
  });

  test('shows delete and recreate under one name as an end and a beginning', () => {
    store.replace([object(1)], '1');
    store.replace([object(5, { uid: 'uid-2' })], '6');
    expect(changes).toEqual(['added uid-1@1 initial', 'deleted uid-1@6 initial', 'added uid-2@5 initial']);
  });

  test('does not bring back what we saw end', () => {
    store.upsert(object(3));
    store.remove(object(8));
    store.replace([object(3)], '5');
    expect(store.size).toBe(0);
  });
});

describe('the index by owner', () => {
  test('follows the controller reference, and only that', () => {
    store.upsert(object(1, { owner: 'o1' }));
    store.upsert(object(2, { name: 'b', uid: 'b', owner: 'o1' }));
    expect(store.ownedBy('o1').map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(store.ownedBy('not-the-controller')).toEqual([]);
    store.upsert(object(3, { owner: 'o2' }));
    expect(store.ownedBy('o1').map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(store.ownedBy('o2').map(({ metadata }) => metadata.name)).toEqual(['a']);
    store.upsert(object(4));
    store.remove(object(5, { name: 'b', uid: 'b', owner: 'o1' }));
    expect([store.ownedBy('o1'), store.ownedBy('o2')]).toEqual([[], []]);
  });
});

test('a hundred thousand objects that come and go leave nothing behind', () => {
  for (let i = 0; i < 100_000; i += 1) {
    const name = `n${i}`;
    store.upsert(object(2 * i + 1, { name, uid: name, owner: 'o' }));
    store.remove(object(2 * i + 2, { name, uid: name, owner: 'o' }));
    full.length = 0;
    changes.length = 0;
  }
  expect(store.size).toBe(0);
  expect(store.ownedBy('o')).toEqual([]);
  expect(store.remembered).toBeLessThanOrEqual(1024);
});
