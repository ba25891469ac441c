/**
 * Flags with an environment variable each: a table of them is read, validated and explained by the functions here. Knows no
 * flag of the operator's; operator/config.ts has the table.
 */
import { parseArgs, type ParseArgsOptionDescriptor, type ParseArgsOptionsConfig } from 'node:util';

/** What a parser returns for text that it refuses: a phrase that completes "expected …". */
export class Invalid {
  readonly expected: string;

  constructor(expected: string) {
    this.expected = expected;
  }
}

export type Parse<Value> = (text: string) => Value | Invalid;

export interface Flag<Value> {
  /** Stands for the value in the help: `DURATION`. */
  readonly placeholder: string;
  /** The environment variable that is read when the flag is absent. One that is set to '' counts as absent. */
  readonly env: string;
  /** As a user would write it; must be valid. */
  readonly default: string;
  readonly description: string;
  readonly parse: Parse<Value>;
}

/** Name without dashes to flag. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

export type ValuesOf<Table extends FlagTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Flag<infer Value> ? Value : never;
};

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadFlags<Table extends FlagTable> {
  /** Refused values are at their defaults: use only when `problems` is empty. */
  readonly values: ValuesOf<Table>;
  /** One line each: what was given where, what was expected, what was got. */
  readonly problems: readonly string[];
  /** Switches (flags without a value) that were given. */
  readonly switches: ReadonlySet<string>;
}

/** Reads every flag of the table: argument first, then environment, then default. Never throws; finds all problems. */
export function readFlags<const Table extends FlagTable>(
  table: Table,
  switches: readonly string[],
  argv: readonly string[],
  env: Environment,
): ReadFlags<Table> {
  const given = readArguments(table, switches, argv);
  const problems = [...given.problems];
  const values = Object.entries(table).map(([name, flag]) => {
    const [source, text] = sourceOf(name, flag, given.values, env);
    const value = flag.parse(text);
    if (!(value instanceof Invalid)) return [name, value] as const;
    problems.push(`${source}: expected ${value.expected}, got ${JSON.stringify(text)}`);
    return [name, flag.parse(flag.default)] as const;
  });
  return { values: Object.fromEntries(values) as ValuesOf<Table>, problems, switches: given.switches };
}

function sourceOf(
  name: string,
  flag: Flag<unknown>,
  given: ReadonlyMap<string, string>,
  env: Environment,
): [string, string] {
  const argument = given.get(name);
  if (argument !== undefined) return [`--${name}`, argument];
  const variable = env[flag.env] ?? '';
  return variable === '' ? [`--${name}`, flag.default] : [`${flag.env} (environment)`, variable];
}

interface Arguments {
  readonly values: ReadonlyMap<string, string>;
  readonly switches: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/** Not strict, because strict parseArgs throws at the first problem and the user should see them all. */
function readArguments(table: FlagTable, switches: readonly string[], argv: readonly string[]): Arguments {
  const options: ParseArgsOptionsConfig = Object.fromEntries<ParseArgsOptionDescriptor>([
    ...Object.keys(table).map((name) => [name, { type: 'string' }] as const),
    ...switches.map((name) => [name, { type: 'boolean', short: name.charAt(0) }] as const),
  ]);
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const [values, seen, problems] = [new Map<string, string>(), new Set<string>(), [] as string[]];
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`${JSON.stringify(token.value)}: expected only flags, see --help`);
    else if (token.kind === 'option-terminator') continue;
    else if (switches.includes(token.name)) seen.add(token.name);
    else if (!Object.hasOwn(table, token.name)) problems.push(`${token.rawName}: no such flag, see --help`);
    else if (token.value === undefined) problems.push(`${token.rawName}: expected a value, got none`);
    else values.set(token.name, token.value);
  }
  return { values, switches: seen, problems };
}

/** One paragraph a flag: name, meaning, environment variable, default. */
export function describeFlags(table: FlagTable): string {
  return Object.entries(table)
    .map(([name, flag]) => {
      const otherwise = flag.default === '' ? '' : `, default ${flag.default}`;
      return `  --${name} ${flag.placeholder}\n      ${flag.description} [${flag.env}${otherwise}]`;
    })
    .join('\n');
}

/** Any text; '' means absent. */
export const optionalText: Parse<string | undefined> = (text) => (text === '' ? undefined : text);

/** One of these words. */
export const oneOf =
  <const Word extends string>(words: readonly Word[]): Parse<Word> =>
  (text) =>
    words.find((word) => word === text) ?? new Invalid(`one of ${words.join(', ')}`);

/** A whole number in that range, both ends included. */
export const wholeNumber =
  (minimum: number, maximum: number): Parse<number> =>
  (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : new Invalid(`a whole number from ${minimum} to ${maximum}`);
  };

const unitsInMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Go's way to write a duration (`30s`, `5m`, `1h30m`, `500ms`), in milliseconds, in that range. */
export const duration =
  (minimum: string, maximum: string): Parse<number> =>
  (text) => {
    const value = millisecondsOf(text);
    const isInRange = value >= millisecondsOf(minimum) && value <= millisecondsOf(maximum);
    return isInRange ? value : new Invalid(`a duration such as 30s or 5m, from ${minimum} to ${maximum}`);
  };

/** NaN for text that is no duration. */
function millisecondsOf(text: string): number {
  if (text === '0') return 0;
  if (!/^(\d{1,9}(\.\d{1,9})?(ms|s|m|h))+$/.test(text)) return Number.NaN;
  const parts = text.matchAll(/([\d.]+)(ms|s|m|h)/g);
  return Array.from(parts, ([, amount, unit]) => Number(amount) * (unitsInMs[unit ?? ''] ?? Number.NaN)).reduce(
    (sum, part) => sum + part,
    0,
  );
}

/** Where to listen. */
export interface BindAddress {
  /** Absent: all interfaces. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
}

/** As controller-runtime writes it: `:8080`, `127.0.0.1:8080`, `[::1]:8080`; `0` means not at all. */
export const bindAddress: Parse<BindAddress | undefined> = (text) => {
  if (text === '0') return undefined;
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return new Invalid('an address such as :8080 or 127.0.0.1:8080, or 0 for none');
  const host = match[1] ?? match[2] ?? '';
  return host === '' ? { port } : { host, port };
};

/** Items between commas, without duplicates, sorted; blanks around them are dropped, '' and `*` mean the empty list. */
export const commaList =
  (isValid: (item: string) => boolean, expected: string): Parse<readonly string[]> =>
  (text) => {
    const items = [...new Set(text.split(',').map((item) => item.trim()))].filter((item) => item !== '').sort();
    if (items.length === 1 && items[0] === '*') return [];
    return items.every(isValid) ? items : new Invalid(expected);
  };
