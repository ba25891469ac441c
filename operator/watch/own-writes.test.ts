import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../charts/resource.ts';
import { settled, soon } from '../../test/eventually.ts';
import * as faults from '../../test/fake-apiserver/faults.ts';
import { Gadget, Widget, widget, WatchHarness } from '../../test/watch-harness.ts';
import { announcingWrites, OwnWrites } from './own-writes.ts';
import type { Change } from './reader.ts';

const object = (resourceVersion: string, name = 'a'): KubeObject =>
  widget(name, { metadata: { name, namespace: 'shop', resourceVersion } });
const changed = (type: Change['type'], version: string, name = 'a'): Change => ({
  type,
  object: object(version, name),
  initial: false,
});

let told: string[];
let writes: OwnWrites;

beforeEach(() => {
  told = [];
  writes = new OwnWrites(({ type, object: { metadata } }) =>
    told.push(`${type} ${metadata.name}@${metadata.resourceVersion ?? ''}`),
  );
});

describe('changes of an object that is being written', () => {
  test('are held; at the version of the answer they are ours, and told to nobody', () => {
    const end = writes.begin('shop', 'a');
    writes.heard(changed('modified', '5'));
    expect(told).toEqual([]);
    end(object('5'));
    expect(told).toEqual([]);
  });

  test('by others, before or after ours, are told when the answer is there', () => {
    const end = writes.begin('shop', 'a');
    for (const version of ['4', '5', '6']) writes.heard(changed('modified', version));
    end(object('5'));
    expect(told).toEqual(['modified a@4', 'modified a@6']);
  });

  test('are told when the write failed: it may have been done, or not', () => {
    const end = writes.begin('shop', 'a');
    writes.heard(changed('modified', '5'));
    end();
    expect(told).toEqual(['modified a@5']);
  });

  test('are told when it ends, whoever ended it', () => {
    const end = writes.begin('shop', 'a');
    writes.heard(changed('deleted', '5'));
    end(object('5'));
    expect(told).toEqual(['deleted a@5']);
  });

  test('wait for the last of several writes', () => {
    const ends = [writes.begin('shop', 'a'), writes.begin('shop', 'a')];
    for (const version of ['5', '6', '7']) writes.heard(changed('modified', version));
    ends[1]?.(object('7'));
    expect(told).toEqual([]);
    ends[0]?.(object('5'));
    expect(told).toEqual(['modified a@6']);
  });

  test('do not keep those of others waiting, nor later ones', () => {
    const end = writes.begin('shop', 'a');
    writes.heard(changed('added', '4', 'b'));
    end(object('5'));
    writes.heard(changed('modified', '6'));
    expect(told).toEqual(['added b@4', 'modified a@6']);
  });
});

describe('a client that announces its writes', () => {
  const never = new AbortController().signal;
  const setUp = async () => {
    const h = await WatchHarness.synced();
    const client = announcingWrites(h.client, (type) => (type === Widget ? h.cache : undefined));
    return { h, client };
  };

  test('no write of ours is told, however its event and its answer overtake each other', async () => {
    const { h, client } = await setUp();
    await using _ = h;
    for (let i = 0; i < 50; i += 1) {
      let release = (): void => undefined;
      if (i % 2 === 0)
        h.server.fault({ verb: 'create' }, faults.hold(new Promise<void>((resolve) => (release = resolve))));
      const creating = client.create(Widget, widget(`w${i}`), never);
      if (i % 2 === 0) await soon(() => h.cache.get('shop', `w${i}`));
      release();
      h.cache.written(await creating);
    }
    const ref = { namespace: 'shop', name: 'w0' };
    h.cache.written(await client.apply(Widget, widget('w0', { spec: { size: 1 } }), never));
    h.cache.written(await client.jsonPatch(Widget, ref, [{ op: 'replace', path: '/spec/size', value: 2 }], never));
    h.cache.written(await client.patchStatus(Widget, ref, { status: { ready: true } }, never));
    await h.equal();
    await settled();
    expect(h.told).toEqual([]);
    h.server.create(Widget, widget('theirs'));
    await soon(() => h.told.length === 1);
  });

  test('a write whose answer is lost is told by its event', async () => {
    const { h, client } = await setUp();
    await using _ = h;
    h.server.fault({ verb: 'create' }, faults.lostAnswer());
    await expect(client.create(Widget, widget('a'), never)).rejects.toMatchObject({ name: 'ConnectionError' });
    await soon(() => h.told.length === 1);
    expect(h.told).toEqual(['added a@1001']);
  });

  test('everything else goes through unchanged', async () => {
    const { h, client } = await setUp();
    await using _ = h;
    const { metadata } = await client.create(Gadget, { ...widget('g'), kind: 'Gadget' }, never);
    expect((await client.get(Gadget, { namespace: 'shop', name: 'g' }, never)).metadata.uid).toBe(metadata.uid);
    expect((await client.list(Gadget, {}, never)).items).toHaveLength(1);
    await client.delete(Gadget, { namespace: 'shop', name: 'g' }, { uid: metadata.uid ?? '' }, never);
    expect(h.server.state.list(Gadget)).toEqual([]);
  });
});
