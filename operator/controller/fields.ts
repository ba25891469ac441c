/**
 * What the comparison must know of the built-in types: the API server's own rules, which are in no answer of it. Wrong or
 * missing lines cost a needless write that is noticed (settled.ts), never a lost one, but for the zeros below: a field
 * stands there only if leaving it out means the same as its zero.
 */

/**
 * Lists with `x-kubernetes-list-type: map`, by the field that holds the list and the one above. All others are atomic.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  'metadata.ownerReferences': ['uid'],
  'spec.containers': ['name'],
  'spec.initContainers': ['name'],
  'spec.volumes': ['name'],
  'spec.imagePullSecrets': ['name'],
  'spec.hostAliases': ['ip'],
  'spec.topologySpreadConstraints': ['topologyKey', 'whenUnsatisfiable'],
  'spec.resourceClaims': ['name'],
  'spec.ports': ['port', 'protocol'],
  ...containerLists('containers'),
  ...containerLists('initContainers'),
};

function containerLists(containers: string): Record<string, readonly string[]> {
  return {
    [`${containers}.env`]: ['name'],
    [`${containers}.ports`]: ['containerPort', 'protocol'],
    [`${containers}.volumeMounts`]: ['mountPath'],
    [`${containers}.volumeDevices`]: ['devicePath'],
  };
}

const lastTwo = (names: readonly string[]): string => names.slice(-2).join('.');

/** The fields that tell the entries of that list apart; undefined when the list is one value. */
export const mergeKeysOf = (names: readonly string[]): readonly string[] | undefined => mergeKeys[lastTwo(names)];

/** Finalizers are a set: others add theirs. */
export const isAtomic = (names: readonly string[]): boolean => lastTwo(names) !== 'metadata.finalizers';

const amountMaps = new Set(['limits', 'requests', 'capacity', 'hard', 'overhead']);
const amounts = new Set(['sizeLimit', 'averageValue', 'divisor']);

/** Whether an amount stands there, which the server respells. */
export const isQuantity = (names: readonly string[]): boolean =>
  amountMaps.has(names.at(-2) ?? '') || amounts.has(names.at(-1) ?? '');

/** Maps in Go: an empty one is not stored. An empty object elsewhere (`emptyDir: {}`, `podSelector: {}`) has a meaning. */
const maps = new Set([
  ...['labels', 'annotations', 'matchLabels', 'nodeSelector', 'selector'],
  ...['data', 'binaryData', 'limits', 'requests', 'overhead'],
]);

export const isDroppedMap = (names: readonly string[]): boolean => maps.has(names.at(-1) ?? '');

/** Booleans and numbers without a pointer in Go, marked omitempty: the server does not store their zero. */
const zeros = new Set([
  ...['hostNetwork', 'hostPID', 'hostIPC', 'stdin', 'stdinOnce', 'tty', 'readOnly', 'paused'],
  ...['publishNotReadyAddresses', 'minReadySeconds', 'initialDelaySeconds', 'hostPort', 'nodePort'],
]);

/** The same for texts. */
const emptyTexts = new Set([
  ...['value', 'subPath', 'subPathExpr', 'medium', 'hostIP', 'workingDir', 'hostname', 'subdomain', 'nodeName'],
  ...['priorityClassName', 'loadBalancerIP', 'externalName'],
]);

/** Whether the server leaves that value out, and its absence means the same. */
export function isDroppedZero(names: readonly string[], value: unknown): boolean {
  const name = names.at(-1) ?? '';
  return value === '' ? emptyTexts.has(name) : (value === false || value === 0) && zeros.has(name);
}
