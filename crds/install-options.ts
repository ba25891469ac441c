/** What can be chosen when installing: one table, read by `cdk8s synth` (environment) and `pulumi up` (stack configuration). */

export interface InstallOptions {
  /** Namespace that is made for the operator. */
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  /** Namespaces that it serves, or only `*`. */
  readonly watchNamespaces: readonly string[];
  /** Least level that the operator logs. */
  readonly logLevel: string;
  /** Whether samples of each kind are installed too. */
  readonly samples: boolean;
  /** Namespace of the samples. */
  readonly samplesNamespace: string;
}

export interface InstallOption {
  readonly description: string;
  /** As a user writes it. Absent: it follows from the other options. */
  readonly default?: string;
  /** Completes "expected …". */
  readonly expected: string;
  /** The value, or undefined when the text is refused. */
  readonly parse: (text: string) => unknown;
}

const isNamespace = (name: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);

/** Labels of PodSecurity go onto it, and uninstalling removes it: neither may happen to a namespace that others live in. */
const isOwnNamespace = (name: string): boolean => isNamespace(name) && name !== 'default' && !name.startsWith('kube-');

const imageReference = /^[a-z0-9]([a-zA-Z0-9._:/-]*[a-zA-Z0-9])?(@sha256:[0-9a-f]{64})?$/;

const only = <Value>(holds: (value: Value) => boolean, value: Value): Value | undefined =>
  holds(value) ? value : undefined;

function namespacesOf(text: string): readonly string[] | undefined {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.every(isNamespace) || text === '*' ? names : undefined;
}

/** All options by name, in the order in which help lists them. */
export const installOptions: Readonly<Record<keyof InstallOptions, InstallOption>> = {
  namespace: {
    description: 'namespace that is made for the operator',
    default: 'reprise-system',
    expected: "the name of a namespace that is the operator's alone (not 'default' nor 'kube-…')",
    parse: (text) => only(isOwnNamespace, text),
  },
  image: {
    description: "the operator's image; by digest (name@sha256:…) where it must not change",
    default: 'ghcr.io/reprise-dev/reprise:0.1.0',
    expected: 'a reference to an image, such as registry/name:tag or registry/name@sha256:…',
    parse: (text) => only((image: string) => imageReference.test(image), text),
  },
  replicas: {
    description: 'how many operators run',
    default: '1',
    expected:
      '1, or 0 where the operator runs elsewhere: more than one at a time is safe only with leader election, which this version ' +
      'does not have',
    parse: (text) => (text === '0' || text === '1' ? Number(text) : undefined),
  },
  watchNamespaces: {
    description:
      'existing namespaces that the operator serves, separated by commas; * serves all and needs rights in all',
    default: 'default',
    expected: 'names of namespaces separated by commas, or *',
    parse: namespacesOf,
  },
  logLevel: {
    description: 'least level that the operator logs: debug, info, warn or error',
    default: 'info',
    expected: 'one of debug, info, warn, error',
    parse: (text) => only((level: string) => ['debug', 'info', 'warn', 'error'].includes(level), text),
  },
  samples: {
    description: 'whether samples are installed too',
    default: 'true',
    expected: 'true or false',
    parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  },
  samplesNamespace: {
    description: 'namespace of the samples; without it the first that is watched',
    expected: 'the name of a namespace',
    parse: (text) => only(isNamespace, text),
  },
};

/** As given by a user: texts, or what a configuration file has made of them. Undefined and '' count as absent. */
export type RawInstallOptions = Readonly<Record<string, unknown>>;

/**
 * Reads all options. Throws one error that lists everything that is wrong, a line each, with the option's name as `nameOf` spells it
 * where the user wrote it.
 */
export function parseInstallOptions(raw: RawInstallOptions = {}, nameOf: NameOf = (option) => option): InstallOptions {
  const names = Object.keys(installOptions);
  const problems = Object.keys(raw)
    .filter((name) => !names.includes(name))
    .map((name) => `${nameOf(name)}: no such option; there are ${names.map(nameOf).join(', ')}`);
  const values = Object.entries(installOptions).map(([name, option]) => {
    const text = textOf(raw[name]) ?? option.default;
    const value = text === undefined ? undefined : option.parse(text);
    if (text !== undefined && value === undefined)
      problems.push(`${nameOf(name)}: expected ${option.expected}; got ${JSON.stringify(raw[name])}`);
    return [name, value] as const;
  });
  refuse(problems);
  return withSamplesNamespace(Object.fromEntries(values) as unknown as ParsedOptions, nameOf);
}

type NameOf = (option: string) => string;

type ParsedOptions = Omit<InstallOptions, 'samplesNamespace'> & { readonly samplesNamespace?: string };

/** Samples where no operator looks would never become ready. */
function withSamplesNamespace(options: ParsedOptions, nameOf: NameOf): InstallOptions {
  const { watchNamespaces } = options;
  const servesAll = watchNamespaces[0] === '*';
  const samplesNamespace = options.samplesNamespace ?? (servesAll ? 'default' : (watchNamespaces[0] ?? 'default'));
  if (options.samples && !servesAll && !watchNamespaces.includes(samplesNamespace))
    refuse([
      `${nameOf('samplesNamespace')}: expected one of ${nameOf('watchNamespaces')} (${watchNamespaces.join(', ')}); got "${samplesNamespace}"`,
    ]);
  return Object.freeze({ ...options, samplesNamespace });
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new Error(['these install options are not right:', ...problems.map((one) => `  ${one}`)].join('\n'));
}

/** Lists become what a user would have typed; undefined for what is absent. */
function textOf(raw: unknown): string | undefined {
  if (Array.isArray(raw)) return raw.map(String).join(',');
  if (raw === undefined || raw === null || raw === '') return undefined;
  return typeof raw === 'string' ? raw.trim() : JSON.stringify(raw);
}
