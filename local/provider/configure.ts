/** From the arguments of `kubernetes.Provider` to a working connection. */
import { connectionTo } from '../../cli/cluster.ts';
import type { Clock } from '../../operator/clock.ts';
import { Api } from './api.ts';
import { textAt } from './json.ts';
import type { JsonObject } from './json.ts';
import { Objects } from './objects.ts';

/** The arguments that the stand-in understands; all others are refused rather than ignored. */
const understood = ['kubeconfig', 'context', 'namespace', 'enablePatchForce', 'enableServerSideApply', 'version'];

/** What is wrong with the arguments, one line each. */
export const problemsOf = (args: JsonObject): readonly { readonly property: string; readonly reason: string }[] => [
  ...Object.keys(args)
    .filter((key) => !key.startsWith('__') && !understood.includes(key))
    .map((property) => ({ property, reason: `the stand-in provider does not know "${property}"` })),
  ...(textAt(args, 'enableServerSideApply') === 'false'
    ? [{ property: 'enableServerSideApply', reason: 'the stand-in provider knows server-side apply only' }]
    : []),
];

export interface Configured {
  readonly objects: Objects;
  close(): void;
}

/** Throws a KubeconfigError when the kubeconfig or the context is not usable. Does not talk to the server yet. */
export async function openObjects(args: JsonObject, clock: Clock): Promise<Configured> {
  const connection = await connectionTo({ kubeconfig: textAt(args, 'kubeconfig'), context: textAt(args, 'context') });
  const namespace = textAt(args, 'namespace');
  const api = new Api({ connection, clock, namespace: namespace === '' ? 'default' : namespace });
  // Pulumi's SDK sends booleans of a provider as JSON text.
  const force = args.enablePatchForce === true || args.enablePatchForce === 'true';
  return { objects: new Objects({ api, clock, force }), close: () => api[Symbol.dispose]() };
}
