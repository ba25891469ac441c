/** The Event object of events.k8s.io/v1, within what the API server accepts (validation of core/v1 events, 1.36). */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import type { EventInput } from './recorder.ts';

export const eventType: ResourceType = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
};

/** How often an event was seen, and when last. The server wants at least 2. */
export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}

export interface EventProps {
  readonly regarding: KubeObject;
  readonly input: EventInput;
  readonly instance: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** 0 to 1, so that two events of one millisecond differ in name. */
  readonly random: number;
}

const maxNoteBytes = 1024;
const maxWordBytes = 128;
const maxNameLength = 253;

/** A new Event, without a series. */
export function eventObject({ regarding, input, instance, time, random }: EventProps): KubeObject {
  const { name, namespace } = regarding.metadata;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // Events on cluster-scoped objects live in `default`: the server accepts no other place.
    metadata: { name: eventName(name, time, random), namespace: namespace ?? 'default' },
    eventTime: microTime(time),
    reportingController: reportingController(regarding),
    reportingInstance: truncate(instance, maxWordBytes),
    type: input.type,
    reason: truncate(input.reason, maxWordBytes),
    action: truncate(input.action, maxWordBytes),
    note: truncate(input.note, maxNoteBytes),
    regarding: referenceTo(regarding),
    ...(input.related === undefined ? {} : { related: referenceTo(input.related) }),
  };
}

/** `reprise.dev/webserver`: who says it. */
export const reportingController = (regarding: KubeObject): string => `reprise.dev/${regarding.kind.toLowerCase()}`;

/** client-go's form, `<name>.<hex of the time in nanoseconds>`; a long name is cut, since the whole must be a valid name. */
function eventName(name: string, time: number, random: number): string {
  const nanoseconds = BigInt(time) * 1_000_000n + BigInt(Math.floor(random * 1_000_000));
  const suffix = `.${nanoseconds.toString(16)}`;
  return `${name.slice(0, maxNameLength - suffix.length).replace(/[^a-z0-9]+$/, '')}${suffix}`;
}

/** metav1.MicroTime: exactly six digits, or the server refuses it. */
export const microTime = (time: number): string => new Date(time).toISOString().replace('Z', '000Z');

function referenceTo({ apiVersion, kind, metadata }: KubeObject) {
  const { name, namespace, uid, resourceVersion } = metadata;
  const optional = Object.entries({ namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined);
  return { apiVersion, kind, name, ...Object.fromEntries(optional) };
}

/** The server counts bytes. Never cuts a character in two. */
function truncate(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let kept = Buffer.from(text)
    .subarray(0, maxBytes - Buffer.byteLength('…'))
    .toString('utf8');
  while (kept.endsWith('\ufffd')) kept = kept.slice(0, -1);
  return `${kept}…`;
}
