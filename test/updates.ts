/** A schema whose rules compare with the stored value, and updates judged by it. */
import {
  array,
  enumeration,
  immutable,
  integer,
  map,
  nullable,
  object,
  optional,
  string,
  withRules,
} from '../crds/schema.ts';

const growing = (of = integer()) =>
  withRules(of, {
    rule: 'self >= oldSelf',
    message: 'must not shrink',
    messageExpression: 'oldSelf < 10 ? "must stay where it is" : "must stay above 9"',
  });

export const comparing = object(
  {
    size: growing(),
    zone: optional(immutable(string({ maxLength: 20 }))),
    place: optional(object({ rack: immutable(string({ maxLength: 20 })), row: optional(integer()) })),
    disks: optional(
      array(
        object({
          name: string({ maxLength: 20 }),
          bus: optional(immutable(string({ maxLength: 20 }))),
          gib: optional(growing()),
        }),
        {
          listType: 'map',
          keys: ['name'],
          maxItems: 4,
        },
      ),
    ),
    mounts: optional(
      array(
        object({
          disk: string({ maxLength: 20 }),
          path: string({ maxLength: 20 }),
          mode: optional(immutable(integer())),
        }),
        {
          listType: 'map',
          keys: ['disk', 'path'],
          maxItems: 4,
        },
      ),
    ),
    tier: optional(enumeration(['Gold', 'Tin'])),
    quotas: optional(map(nullable(growing()), { maxProperties: 4 })),
    phase: optional(
      withRules(string({ maxLength: 20 }), {
        rule: "oldSelf.hasValue() ? self != 'New' || oldSelf.value() == 'New' : self == 'New'",
        message: 'begins as New, and is New only once',
        optionalOldSelf: true,
        reason: 'FieldValueForbidden',
      }),
    ),
  },
  {
    rules: [
      { rule: 'self.size < 100', message: 'too big', fieldPath: '.size' },
      {
        rule: "!has(self.zone) || self.zone != 'moon'",
        message: 'not there',
        reason: 'FieldValueRequired',
        fieldPath: '.zone',
      },
    ],
  },
);

export const stored = {
  size: 3,
  zone: 'a',
  place: { rack: 'r1', row: 1 },
  disks: [
    { name: 'one', bus: 'sata', gib: 10 },
    { name: 'two', gib: 10 },
  ],
  mounts: [
    { disk: 'one', path: '/a', mode: 1 },
    { disk: 'one', path: '/b', mode: 2 },
  ],
  quotas: { cpu: 2, memory: null },
  phase: 'New',
};

interface Update {
  readonly what: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** What the API server answers; nothing where it takes the update. */
  readonly problems: readonly string[];
}

const unchanged = 'is immutable: delete the object and create it anew to change it';
const kept = 'is immutable: cannot be removed once it is set';

/** Texts written by hand from the server's answers. */
export const updates: readonly Update[] = [
  { what: 'nothing changed', spec: stored, problems: [] },
  { what: 'what may grow grows', spec: { ...stored, size: 4, quotas: { cpu: 3, memory: 1, disk: 1 } }, problems: [] },
  {
    what: 'what may only grow shrinks',
    spec: { ...stored, size: 2 },
    problems: ['spec.size: Invalid value: 2: must stay where it is'],
  },
  {
    what: 'a rule of the whole names its field',
    spec: { ...stored, size: 100 },
    problems: ['spec.size: Invalid value: too big'],
  },
  {
    what: 'what is immutable changes',
    spec: { ...stored, zone: 'b' },
    problems: [`spec.zone: Invalid value: "b": ${unchanged}`],
  },
  {
    what: 'what is immutable changes to what is refused anyway',
    spec: { ...stored, zone: 'moon' },
    problems: ['spec.zone: Required value: not there', `spec.zone: Invalid value: "moon": ${unchanged}`],
  },
  {
    what: 'what is immutable is removed',
    spec: { ...stored, zone: undefined },
    problems: [`spec.zone: Invalid value: ${kept}`],
  },
  {
    what: 'an object with something immutable in it is removed',
    spec: { ...stored, place: undefined },
    problems: [`spec.place: Invalid value: ${kept}`],
  },
  {
    what: 'what is immutable changes deep inside',
    spec: { ...stored, place: { rack: 'r2' } },
    problems: [`spec.place.rack: Invalid value: "r2": ${unchanged}`],
  },
  {
    what: 'entries of a list are told apart by their keys, not by their order',
    spec: {
      ...stored,
      disks: [stored.disks[1], { name: 'one', bus: 'scsi', gib: 9 }, { name: 'three', bus: 'x', gib: 1 }],
    },
    problems: [
      `spec.disks[1].bus: Invalid value: "scsi": ${unchanged}`,
      'spec.disks[1].gib: Invalid value: 9: must stay above 9',
    ],
  },
  {
    what: 'an immutable field of an entry is removed',
    spec: { ...stored, disks: [{ name: 'one' }] },
    problems: [`spec.disks[0].bus: Invalid value: ${kept}`],
  },
  {
    what: 'entries of a list with two keys are told apart by both',
    spec: {
      ...stored,
      mounts: [stored.mounts[1], { disk: 'two', path: '/a', mode: 2 }, { disk: 'one', path: '/a', mode: 3 }],
    },
    problems: [`spec.mounts[2].mode: Invalid value: 3: ${unchanged}`],
  },
  {
    what: 'values of a map are told apart by their names',
    spec: { ...stored, quotas: { cpu: 1, gpu: 0 } },
    problems: ['spec.quotas[cpu]: Invalid value: 1: must stay where it is'],
  },
  { what: 'an optional oldSelf that is there', spec: { ...stored, phase: 'Done' }, problems: [] },
  {
    what: 'rules are silent where the types are wrong',
    spec: { ...stored, size: 'x', zone: 'b' },
    problems: ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
  },
  {
    what: 'rules are silent where a word is no choice',
    spec: { ...stored, tier: 'Lead', zone: 'b' },
    problems: ['spec.tier: Unsupported value: "Lead": supported values: "Gold", "Tin"'],
  },
  {
    what: 'rules are judged beside a bound that is broken',
    spec: { ...stored, zone: 'b'.repeat(4), quotas: { cpu: 1 } },
    problems: [
      `spec.zone: Invalid value: "bbbb": ${unchanged}`,
      'spec.quotas[cpu]: Invalid value: 1: must stay where it is',
    ],
  },
];
