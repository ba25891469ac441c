import { expect, test } from '@jest/globals';
import { widget } from '../../test/watch-harness.ts';
import type { WatchEvent } from '../kube/client.ts';
import { SnapshotBuilder } from './snapshot.ts';

const event = (
  type: WatchEvent['type'],
  name: string,
  resourceVersion: string,
  annotations?: Record<string, string>,
): WatchEvent => ({
  type,
  object: widget(name, { metadata: { name, resourceVersion, ...(annotations !== undefined && { annotations }) } }),
});
const end = { 'k8s.io/initial-events-end': 'true' };

test('changes that come within a streamed list are part of it', () => {
  const snapshot = new SnapshotBuilder();
  snapshot.add(event('ADDED', 'gone', '1'));
  snapshot.add(event('ADDED', 'changed', '2'));
  snapshot.add(event('DELETED', 'gone', '3'));
  snapshot.add(event('MODIFIED', 'changed', '4'));
  snapshot.add(event('ADDED', 'new', '5'));
  const versions = snapshot.objects().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion ?? ''}`);
  expect(versions).toEqual(['changed@4', 'new@5']);
});

test('only the bookmark that says so ends the list', () => {
  const snapshot = new SnapshotBuilder();
  expect(snapshot.add(event('BOOKMARK', '', '5'))).toBe(false);
  expect(snapshot.add(event('BOOKMARK', '', '5', { 'k8s.io/initial-events-end': 'false' }))).toBe(false);
  expect(snapshot.add(event('ADDED', 'a', '6', end))).toBe(false);
  expect(snapshot.add(event('BOOKMARK', '', '7', end))).toBe(true);
  expect(snapshot.objects()).toHaveLength(1);
});

test('objects of one name in two namespaces are two', () => {
  const snapshot = new SnapshotBuilder();
  for (const namespace of ['shop', 'bank'])
    snapshot.add({ type: 'ADDED', object: widget('a', { metadata: { name: 'a', namespace } }) });
  expect(snapshot.objects()).toHaveLength(2);
});
