/**
 * Patterns: the API server reads them as RE2, a test on a laptop has only JavaScript's. This takes the part that both understand, says
 * why anything else is refused, and spells it for JavaScript so that it matches the same texts (`.` and `\s` mean less in RE2, `\A` and
 * `\z` exist only there). A port of RE2 would do more and weigh more than the rest of the operator together.
 */

/** Walks over the pattern's text. */
class Scanner {
  #rest: string;

  constructor(pattern: string) {
    this.#rest = pattern;
  }

  get rest(): string {
    return this.#rest;
  }

  /** Takes what the expression, which must begin with ^, matches here. */
  take(expression: RegExp): RegExpExecArray | undefined {
    const found = expression.exec(this.#rest);
    if (found === null) return undefined;
    this.#rest = this.#rest.slice(found[0].length);
    return found;
  }

  /** The next character, whole; undefined at the end. */
  next(): string | undefined {
    return this.take(/^./su)?.[0];
  }
}

/** Go refuses repetitions whose product, nested, is above this. */
const maxRepeat = 1000;

/** How often the innermost part of a piece is repeated; one entry a group that is still open. */
interface Repeats {
  readonly open: number[];
  /** Of the piece just before. */
  last: number;
}

/**
 * The JavaScript expression that matches what RE2 matches. Throws with the reason where the pattern is not RE2, or is RE2 that cannot be
 * checked here.
 */
export function compilePattern(pattern: string): RegExp {
  const scanner = new Scanner(pattern);
  const repeats: Repeats = { open: [1], last: 1 };
  let source = '';
  for (let sign = scanner.next(); sign !== undefined; sign = scanner.next()) source += piece(sign, scanner, repeats);
  return new RegExp(source, 'u');
}

function piece(sign: string, scanner: Scanner, repeats: Repeats): string {
  if (sign === '{') return repeated(scanner, repeats);
  if (sign === '*' || sign === '+' || sign === '?') return sign;
  if (sign === '(') return opened(scanner, repeats);
  if (sign === ')') return closed(repeats);
  repeats.last = 1;
  if (sign === '\\') return escaped(scanner, false);
  if (sign === '[') return charactersOf(scanner);
  if (sign === '.') return '[^\\n]';
  return sign === ']' || sign === '}' ? `\\${sign}` : sign;
}

function opened(scanner: Scanner, repeats: Repeats): string {
  repeats.open.push(1);
  if (!scanner.take(/^\?/)) return '(';
  if (scanner.take(/^:/)) return '(?:';
  if (/^<?[=!]/.test(scanner.rest))
    throw new Error('RE2 has no lookaround, (?= (?! (?<= (?<!: use two rules, or a CEL rule');
  throw new Error(
    'flags and named groups, (?i) (?P<name>, are not used here: spell them out with plain groups and classes',
  );
}

function closed(repeats: Repeats): string {
  repeats.last = repeats.open.pop() ?? 1;
  noteRepeat(repeats);
  return ')';
}

/** A piece's repetition is also its group's. */
function noteRepeat(repeats: Repeats): void {
  const group = repeats.open.length - 1;
  repeats.open[group] = Math.max(repeats.open[group] ?? 1, repeats.last);
}

function repeated(scanner: Scanner, repeats: Repeats): string {
  const count = scanner.take(/^(\d+)(,(\d*))?\}/);
  if (!count) throw new Error('a brace that begins no repetition: write \\{ for the sign itself');
  const times = Number(count[3] === undefined || count[3] === '' ? count[1] : count[3]);
  repeats.last *= Math.max(times, 1);
  if (repeats.last > maxRepeat)
    throw new Error(`RE2 repeats at most ${maxRepeat} times, nested repetitions multiplied`);
  noteRepeat(repeats);
  return `{${count[0]}`;
}

const codePoint = (hex: string): string => `\\u{${hex}}`;

/** RE2's \s, which leaves out the vertical tab and all of Unicode. */
const space = '\\t\\n\\f\\r ';

/** What follows a backslash, outside or inside of a class. */
function escaped(scanner: Scanner, inClass: boolean): string {
  const hex = scanner.take(/^x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/);
  if (hex) return codePoint(hex[1] ?? hex[2] ?? '');
  const property = scanner.take(/^([pP])(?:([A-Z])|\{([A-Za-z_]+)\})/);
  if (property) return propertyOf(property[1] ?? '', property[2] ?? property[3] ?? '');
  const sign = scanner.next();
  if (sign === undefined) throw new Error('it ends with a backslash');
  if (/^[!-/:-@[-`{-~ ]$/.test(sign)) return codePoint(sign.charCodeAt(0).toString(16));
  return inClass ? escapedInClass(sign) : escapedOutside(sign);
}

const asInJavaScript = /^[dDwWfnrtv]$/;

function escapedInClass(sign: string): string {
  if (asInJavaScript.test(sign)) return `\\${sign}`;
  if (sign === 'a') return '\\x07';
  if (sign === 's') return space;
  throw new Error(`\\${sign} in a class is not used here`);
}

function escapedOutside(sign: string): string {
  if (asInJavaScript.test(sign) || sign === 'b' || sign === 'B') return `\\${sign}`;
  if (/^\d$/.test(sign)) throw new Error(`RE2 has no backreferences: \\${sign}`);
  const known: Readonly<Record<string, string>> = { a: '\\x07', A: '^', z: '$', s: `[${space}]`, S: `[^${space}]` };
  const spelt = known[sign];
  if (spelt === undefined) throw new Error(`\\${sign} is not used here`);
  return spelt;
}

/** General categories that both know, and scripts. */
function propertyOf(negation: string, name: string): string {
  if (name === 'Cn' || name === 'LC') throw new Error(`RE2 does not know the category ${name}`);
  return `\\${negation}{${name.length > 2 ? `Script=${name}` : name}}`;
}

function charactersOf(scanner: Scanner): string {
  let source = scanner.take(/^\^/) ? '[^' : '[';
  if (/^\]/.test(scanner.rest)) throw new Error('a class that begins with ]: write \\] for the sign itself');
  for (let sign = scanner.next(); sign !== ']'; sign = scanner.next()) {
    if (sign === undefined) throw new Error('a class that does not end: ] is missing');
    if (sign === '[' && scanner.rest.startsWith(':'))
      throw new Error('named classes, [[:alpha:]], are not used here: write [A-Za-z]');
    source += sign === '\\' ? escaped(scanner, true) : sign;
  }
  return `${source}]`;
}
