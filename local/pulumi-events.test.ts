import { describe, expect, test } from '@jest/globals';
import type { EngineEvent } from '@pulumi/pulumi/automation/index.js';
import { EventTeller } from './pulumi-events.ts';

const urn = 'urn:pulumi:local::reprise::reprise:index:Group$kubernetes:apps/v1:Deployment::reprise-system/reprise';
const stack = 'urn:pulumi:local::reprise::pulumi:pulumi:Stack::reprise-local';

function setUp(total: number) {
  const said: string[] = [];
  const updates: string[] = [];
  const teller = new EventTeller({ say: (line) => said.push(line), update: (line) => updates.push(line) }, total);
  return { teller, said, updates };
}

const event = (body: object): EngineEvent => ({ sequence: 1, timestamp: 0, ...body });
const step = (op: string, type = 'kubernetes:apps/v1:Deployment') => ({ op, urn, type });

describe('what the engine tells', () => {
  test('shows each object that was changed, how many of how many, and how long it took', () => {
    const { teller, said } = setUp(2);
    teller.handle(event({ resourcePreEvent: { metadata: step('create') } }));
    teller.handle(event({ resOutputsEvent: { metadata: step('create') } }));
    expect(said).toEqual([
      expect.stringMatching(/^\[1\/2\] created Deployment reprise-system\/reprise \(\d+\.\d s\)$/),
    ]);
  });

  test('leaves out what stays the same and what is Pulumi its own', () => {
    const { teller, said } = setUp(2);
    teller.handle(event({ resOutputsEvent: { metadata: step('same') } }));
    teller.handle(event({ resOutputsEvent: { metadata: step('create', 'pulumi:providers:kubernetes') } }));
    expect(said).toEqual([]);
  });

  test('counts the steps that a preview plans', () => {
    const { teller, said } = setUp(0);
    for (const op of ['create', 'update', 'delete', 'same', 'refresh'])
      teller.handle(event({ resourcePreEvent: { metadata: step(op), planning: true } }));
    expect(teller.planned).toBe(3);
    expect(said).toEqual([]);
  });

  test('keeps each error and warning once, the name of the object first, without colours', () => {
    const { teller } = setUp(0);
    const message = '<{%fg 1%}>Preview failed: 1 error occurred:\n\t* exists already<{%reset%}>\n';
    for (const _twice of [1, 2])
      teller.handle(event({ diagnosticEvent: { urn, message, severity: 'error', color: '' } }));
    teller.handle(event({ diagnosticEvent: { urn: stack, message: 'beware', severity: 'warning', color: '' } }));
    expect(teller.problems).toEqual(['Deployment reprise-system/reprise: exists already']);
    expect(teller.warnings).toEqual(['beware']);
  });

  test('leaves out what the engine says of itself', () => {
    const { teller } = setUp(0);
    const noise = { urn: stack, severity: 'warning', message: 'using pulumi-resource-kubernetes from $PATH at /x' };
    teller.handle(event({ diagnosticEvent: noise }));
    teller.handle(event({ diagnosticEvent: { urn: stack, severity: 'error', message: 'update failed' } }));
    expect([...teller.warnings, ...teller.problems]).toEqual([]);
  });

  test('shows what is being waited for', () => {
    const { teller, updates } = setUp(3);
    const message = '0 of 1 replicas available';
    teller.handle(event({ diagnosticEvent: { urn, message, severity: 'info', ephemeral: true } }));
    expect(updates).toEqual(['[0/3] Deployment reprise-system/reprise: 0 of 1 replicas available (0:00)']);
  });
});
