/** Any interleaving of events, own writes, late answers, repeated events and lists (fresh or old) ends equal to the server. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KubeObject } from '../../charts/resource.ts';
import { Store } from './store.ts';

const names = ['a', 'b', 'c'];
const owners = ['o1', 'o2', undefined];

interface Logged {
  readonly version: number;
  readonly type: 'upsert' | 'remove';
  readonly object: KubeObject;
}

/** The simplest thing that behaves like a server: a log of changes, and the state after each. */
class Model {
  readonly log: Logged[] = [];
  readonly states: ReadonlyMap<string, KubeObject>[] = [new Map()];

  get version(): number {
    return this.log.length;
  }

  stateAt(version: number): ReadonlyMap<string, KubeObject> {
    return this.states[version]!;
  }

  /** Creates it or changes it. */
  put(name: string, owner: string | undefined): KubeObject {
    const version = this.version + 1;
    const uid = this.stateAt(this.version).get(name)?.metadata.uid ?? `${name}-${version}`;
    const ownerReferences =
      owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'O', name: 'o', uid: owner, controller: true }];
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'n', name, uid, resourceVersion: String(version), ownerReferences },
    };
    this.#commit('upsert', object, new Map(this.stateAt(version - 1)).set(name, object));
    return object;
  }

  end(name: string): KubeObject | undefined {
    const version = this.version + 1;
    const state = new Map(this.stateAt(version - 1));
    const last = state.get(name);
    if (last === undefined) return undefined;
    state.delete(name);
    const object = { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } };
    this.#commit('remove', object, state);
    return object;
  }

  #commit(type: Logged['type'], object: KubeObject, state: ReadonlyMap<string, KubeObject>): void {
    this.log.push({ version: this.version + 1, type, object });
    this.states.push(state);
  }
}

/** The store under test with what a stream and a controller do to it. */
class Harness {
  readonly model = new Model();
  readonly newest = new Map<string, number>();
  readonly late: KubeObject[] = [];
  readonly live = new Map<string, KubeObject>();
  readonly store = new Store((change) => {
    const { uid = '' } = change.object.metadata;
    if (change.type === 'deleted') this.live.delete(uid);
    else this.live.set(uid, change.object);
  });
  position = 0;

  deliver(times: number): void {
    for (const event of this.model.log.slice(this.position, this.position + times)) {
      this.#event(event);
      this.position = event.version;
    }
  }

  /** The stream repeats what it said last. */
  repeat(times: number): void {
    for (const event of this.model.log.slice(Math.max(0, this.position - times), this.position)) this.#event(event);
  }

  relist(behind: number): void {
    this.position = Math.max(0, this.model.version - behind);
    this.store.replace([...this.model.stateAt(this.position).values()], String(this.position));
  }

  /** For each UID the cache never moves backwards. */
  check(): void {
    for (const { metadata } of this.store.list()) {
      const version = Number(metadata.resourceVersion);
      expect(version).toBeGreaterThanOrEqual(this.newest.get(metadata.uid!) ?? 0);
      this.newest.set(metadata.uid!, version);
    }
    for (const owner of ['o1', 'o2']) {
      const expected = [...this.store.list()].filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === owner);
      expect(new Set(this.store.ownedBy(owner))).toEqual(new Set(expected));
    }
  }

  #event(event: Logged): void {
    if (event.type === 'upsert') this.store.upsert(event.object);
    else this.store.remove(event.object);
    this.store.advance(String(event.version));
  }
}

type Action = (harness: Harness) => void;

const name = fc.constantFrom(...names);
const owner = fc.constantFrom(...owners);
const few = fc.integer({ min: 1, max: 4 });

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(name, owner).map(
    ([n, o]) =>
      (h: Harness) =>
        void h.model.put(n, o),
  ),
  name.map((n) => (h: Harness) => void h.model.end(n)),
  fc.tuple(name, owner).map(([n, o]) => (h: Harness) => {
    const answer = h.model.put(n, o);
    h.store.written(answer);
    // Read your own write.
    expect(h.store.get('n', n)).toEqual(answer);
  }),
  fc.tuple(name, owner).map(
    ([n, o]) =>
      (h: Harness) =>
        void h.late.push(h.model.put(n, o)),
  ),
  fc.constant((h: Harness) => {
    const answer = h.late.shift();
    if (answer !== undefined) h.store.written(answer);
  }),
  name.map((n) => (h: Harness) => {
    const uid = h.model.end(n)?.metadata.uid;
    if (uid === undefined) return;
    h.store.deleted('n', n, uid);
    expect(h.store.get('n', n)?.metadata.uid).not.toBe(uid);
  }),
  few.map((times) => (h: Harness) => h.deliver(times)),
  few.map((times) => (h: Harness) => h.repeat(times)),
  few.map((behind) => (h: Harness) => h.relist(behind - 1)),
);

test('any interleaving of events, writes and lists ends equal to the server, never going backwards', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const h = new Harness();
      for (const act of actions) {
        act(h);
        h.check();
      }
      for (const answer of h.late.splice(0)) h.store.written(answer);
      h.deliver(Infinity);
      h.check();
      const server = new Map(Array.from(h.model.stateAt(h.model.version).values(), (o) => [o.metadata.name, o]));
      expect(new Map(Array.from(h.store.list(), (o) => [o.metadata.name, o]))).toEqual(server);
      // Whoever followed the notifications alone may lack our own writes, but believes in nothing that is gone.
      for (const uid of h.live.keys()) expect(Array.from(server.values(), (o) => o.metadata.uid)).toContain(uid);
    }),
    { numRuns: 3000 },
  );
});
