import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KubeObject } from '../../charts/resource.ts';
import { eventObject, microTime } from './event-object.ts';

const time = Date.parse('2026-11-21T12:00:00.123Z');
const web: KubeObject = {
  apiVersion: 'webserver.example.com/v1',
  kind: 'WebServer',
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1', resourceVersion: '7', labels: { secret: 'no' } },
  spec: { image: 'secret' },
};
const input = { type: 'Warning', reason: 'Conflict', action: 'Apply', note: 'Deployment web is not ours' } as const;
const make = (given: { regarding?: KubeObject; note?: string; random?: number } = {}) =>
  eventObject({
    regarding: given.regarding ?? web,
    input: { ...input, note: given.note ?? input.note },
    instance: 'reprise-7d-x',
    time,
    random: given.random ?? 0,
  });

describe('an Event', () => {
  test('says who saw what of which object, and nothing of its content', () => {
    expect(make()).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^web\.[0-9a-f]{16}$/), namespace: 'shop' },
      eventTime: '2026-11-21T12:00:00.123000Z',
      reportingController: 'reprise.dev/webserver',
      reportingInstance: 'reprise-7d-x',
      type: 'Warning',
      reason: 'Conflict',
      action: 'Apply',
      note: 'Deployment web is not ours',
      regarding: {
        apiVersion: 'webserver.example.com/v1',
        kind: 'WebServer',
        name: 'web',
        namespace: 'shop',
        uid: 'u-1',
        resourceVersion: '7',
      },
    });
  });

  test('names the related object when there is one', () => {
    const related = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } };
    const event = eventObject({ regarding: web, input: { ...input, related }, instance: 'i', time, random: 0 });
    expect(event['related']).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'shop' });
  });

  test('on a cluster-scoped object lives in the default namespace', () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u-2' } };
    const event = make({ regarding: node });
    expect(event.metadata.namespace).toBe('default');
    expect(event['regarding']).not.toHaveProperty('namespace');
  });

  test('has a name of its own within one millisecond', () => {
    expect(make({ random: 0.1 }).metadata.name).not.toBe(make({ random: 0.2 }).metadata.name);
  });

  test('has a valid name however long that of the object is', () => {
    const name = `${'a'.repeat(235)}.${'b'.repeat(17)}`;
    const long = make({ regarding: { ...web, metadata: { ...web.metadata, name } } }).metadata.name;
    expect(long.length).toBeLessThanOrEqual(253);
    expect(long).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  });

  test('has a note of at most 1024 bytes that ends at a whole character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 0, maxLength: 3000 }), (note) => {
        const kept = make({ note })['note'] as string;
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1024);
        expect(kept === note || note.startsWith(kept.slice(0, -1))).toBe(true);
      }),
    );
    expect((make({ note: 'ä'.repeat(600) })['note'] as string).endsWith('ä…')).toBe(true);
  });

  test('carries times with exactly six digits', () => {
    expect(microTime(0)).toBe('1970-01-01T00:00:00.000000Z');
  });
});
