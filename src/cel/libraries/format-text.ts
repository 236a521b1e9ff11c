import { convert, display } from '../values/conversions.js';
import { checkedLength, elementsOf, isList, listAt, listSize, textLengthMax } from '../values/lists.js';
import { isMap } from '../values/maps.js';
import { int64Max, isInt, plainDecimal, wholeNumber } from '../values/numbers.js';
import { encodeUtf8, quote, quoteBytes } from '../values/texts.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import type { ListValue, Value } from '../values/value.js';
import { CelError, Double, Duration, Timestamp, Uint, typeOf } from '../values/value.js';
import { CelType, types } from '../types.js';
import { spend } from '../work.js';

/** `'%s is %d'.format(['x', 1])`. */
const defaultPrecision = 6;

/** The reason why a text cannot be formatted. It is no Error, whose stack takes longer to write than a text. */
export class FormatProblem {
  constructor(public message: string) {}
}

/** Formats the argument of each kind of clause. */
export interface Clauses {
  string(arg: Value): string | FormatProblem;
  decimal(arg: Value): string | FormatProblem;
  fixed(arg: Value, precision: number): string | FormatProblem;
  scientific(arg: Value, precision: number): string | FormatProblem;
  binary(arg: Value): string | FormatProblem;
  hex(arg: Value, isUpper: boolean): string | FormatProblem;
  octal(arg: Value): string | FormatProblem;
}

/** The reasons why an argument does not fit its clause. */
export const clauseErrors = {
  string: (name: string) =>
    `string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${name}`,
  decimal: (name: string) => `decimal clause can only be used on integers, was given ${name}`,
  fixed: (name: string) => `fixed-point clause can only be used on doubles, was given ${name}`,
  scientific: (name: string) => `scientific clause can only be used on doubles, was given ${name}`,
  binary: (name: string) => `only integers and bools can be formatted as binary, was given ${name}`,
  hex: (name: string) => `only integers, byte buffers, and strings can be formatted as hex, was given ${name}`,
  octal: (name: string) => `octal clause can only be used on integers, was given ${name}`,
};

/** Fills in the clauses of a text. `argAt` is asked for the argument of each, in their order. */
export function interpolate(
  text: string,
  argCount: number,
  argAt: (index: number) => Value,
  clauses: Clauses,
  { looksAtEndFirst = false } = {},
): string | FormatProblem {
  let result = '';
  let argIndex = 0;
  let at = 0;
  for (;;) {
    const percent = text.indexOf('%', at);
    if (percent < 0) return result + text.slice(at);
    result += text.slice(at, percent);
    at = percent + 1;
    spend(5);
    if (text[at] === '%') {
      result += '%';
      at++;
      continue;
    }
    const isAtEnd = at >= text.length;
    if (isAtEnd && looksAtEndFirst) return unexpectedEnd();
    if (argIndex >= argCount) return new FormatProblem(`index ${argIndex} out of range`);
    const arg = argAt(argIndex++);
    if (isAtEnd) return unexpectedEnd();
    const clause = /^(?:\.([0-9]*))?([^])?/.exec(text.slice(at))!;
    const problem = clauseProblem(clause);
    if (problem) return new FormatProblem(`could not parse formatting clause: ${problem}`);
    const formatted = applyClause(
      clauses,
      clause[2]!,
      arg,
      clause[1] === undefined ? defaultPrecision : Number(clause[1]),
    );
    if (formatted instanceof FormatProblem) return reworded(formatted, 'error during formatting: ');
    spend(30 + formatted.length / 10);
    checkedLength(result.length + formatted.length, textLengthMax);
    result += formatted;
    at += clause[0].length;
  }
}

const unexpectedEnd = (): FormatProblem => new FormatProblem('unexpected end of string');

/** The problem with a longer message, and all that it holds besides. */
function reworded(problem: FormatProblem, prefix: string): FormatProblem {
  problem.message = prefix + problem.message;
  return problem;
}

function clauseProblem([, precision, letter]: RegExpExecArray): string | undefined {
  if (precision !== undefined && letter === undefined)
    return 'error while parsing precision: could not find end of precision specifier';
  const precisionProblem = precision === undefined ? undefined : integerProblem(precision);
  if (precisionProblem !== undefined)
    return `error while parsing precision: error while converting precision to integer: ${precisionProblem}`;
  if ('sdfebxXo'.includes(letter ?? '')) return undefined;
  // The reference looks at bytes.
  const byte = String.fromCharCode(encodeUtf8(letter ?? '')[0] ?? 0);
  return `unrecognized formatting clause "${byte}"`;
}

function integerProblem(digits: string): string | undefined {
  const value = wholeNumber(digits);
  const isInRange = value !== undefined && value <= int64Max;
  if (digits !== '' && isInRange) return undefined;
  return `strconv.Atoi: parsing ${quote(digits)}: ${isInRange ? 'invalid syntax' : 'value out of range'}`;
}

function applyClause(clauses: Clauses, letter: string, arg: Value, precision: number): string | FormatProblem {
  switch (letter) {
    case 's':
      return clauses.string(arg);
    case 'd':
      return clauses.decimal(arg);
    case 'f':
      return clauses.fixed(arg, precision);
    case 'e':
      return clauses.scientific(arg, precision);
    case 'b':
      return clauses.binary(arg);
    case 'o':
      return clauses.octal(arg);
    default:
      return clauses.hex(arg, letter === 'X');
  }
}

const refused = (clause: keyof typeof clauseErrors, arg: Value): FormatProblem =>
  new FormatProblem(clauseErrors[clause](typeOf(arg).name));

function formatString(arg: Value): string | FormatProblem {
  if (isList(arg)) return formatList(arg);
  if (isMap(arg)) return formatMap(arg);
  if (arg === null) return 'null';
  if (arg instanceof CelType) return arg.name;
  const text = convert(arg, types.string);
  if (typeof text === 'string') return text;
  const isText = text instanceof CelError && arg instanceof Uint8Array;
  return isText
    ? new FormatProblem(`could not convert argument ${quote(text.message)} to string`)
    : refused('string', arg);
}

/** A value inside a list or a map. */
function formatMember(arg: Value): string | FormatProblem {
  if (arg instanceof Double) return formatDouble(arg.value);
  if (arg instanceof Timestamp) return `timestamp(${quote(display(arg))})`;
  if (arg instanceof Duration) return `duration(${quote(display(arg))})`;
  if (isInt(arg) || arg instanceof Uint) return display(arg);
  const isKnown = typeof arg === 'string' || typeof arg === 'boolean' || arg === null || arg instanceof Uint8Array;
  if (isKnown || arg instanceof CelType || isList(arg) || isMap(arg)) return formatString(arg);
  return new FormatProblem(`no formatting function for ${typeOf(arg).name}`);
}

function quotedMember(arg: Value): string | FormatProblem {
  const text = formatMember(arg);
  if (text instanceof FormatProblem) return text;
  if (typeof arg === 'string') return quote(text);
  if (arg instanceof Uint8Array) return `b${quoteBytes(arg)}`;
  return arg instanceof Double && !Number.isFinite(arg.value) ? quote(text) : text;
}

function formatList(list: ListValue): string | FormatProblem {
  const parts: string[] = [];
  for (const element of elementsOf(list)) {
    spend(30);
    const text = quotedMember(element);
    if (text instanceof FormatProblem) return text;
    parts.push(text);
  }
  return `[${parts.join(', ')}]`;
}

function formatMap(map: Value): string | FormatProblem {
  if (!isMap(map)) return refused('string', map);
  const entries: [string, string][] = [];
  for (const key of map.keys()) {
    if (typeof key !== 'string' && typeof key !== 'boolean' && !isInt(key) && !(key instanceof Uint))
      return new FormatProblem(`no formatting function for map key of type ${typeOf(key).name}`);
    spend(50);
    const value = quotedMember(map.find(key)!);
    if (value instanceof FormatProblem) return value;
    entries.push([typeof key === 'string' ? quote(key) : display(key), value]);
  }
  entries.sort(([a], [b]) => compareUtf8(a, b));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

/** A number with six digits after the point, rounded to even as Go does. */
function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  return exactFixed(value, defaultPrecision);
}

/** Formats the exact value of a double, so that halves are rounded to even. */
function exactFixed(value: number, precision: number): string {
  spend(400 + precision * 2);
  const isNegative = value < 0 || Object.is(value, -0);
  let [numerator, denominator] = [0n, 1n];
  let magnitude = Math.abs(value);
  while (!Number.isInteger(magnitude)) {
    magnitude *= 2;
    denominator *= 2n;
  }
  numerator = BigInt(magnitude) * 10n ** BigInt(precision);
  let digits = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  if (twice > denominator || (twice === denominator && digits % 2n === 1n)) digits++;
  const text = String(digits).padStart(precision + 1, '0');
  const whole = text.slice(0, text.length - precision);
  return `${isNegative ? '-' : ''}${whole}${precision > 0 ? `.${text.slice(-precision)}` : ''}`;
}

/** Larger precisions have no effect in the reference: its parser of formats gives up. */
const precisionMax = 10_000_009;
const unreadPrecision = '%!(NOVERB)';
/** No double has more digits after the point. */
const fractionDigitsMax = 1074;

/**
 * Formats a number as the reference does. It keeps the maximum of the digits after the point in a signed integer of 16
 * bits, and their minimum in one of 8 bits; a negative maximum means the shortest decimal.
 */
function formatFixed(value: number, precision: number): string {
  const max = (precision << 16) >> 16;
  const text = max < 0 ? plainDecimal(value) : exactFixed(value, Math.min(max, fractionDigitsMax));
  const [whole, digits = ''] = text.split('.') as [string, string?];
  const fraction = (max > 0xff ? withoutZeros(digits) : digits).padEnd(precision & 0xff, '0');
  return grouped(whole) + (fraction === '' ? '' : `.${fraction}`);
}

function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** Groups of three digits, as the reference's locale (en_US) writes them. */
function grouped(text: string): string {
  const sign = text.startsWith('-') ? '-' : '';
  const first = ((text.length - sign.length - 1) % 3) + 1 + sign.length;
  const groups = [text.slice(sign.length, first)];
  for (let at = first; at < text.length; at += 3) groups.push(text.slice(at, at + 3));
  return sign + groups.join(',');
}

function doubleOf(arg: Value): number | undefined {
  if (arg instanceof Double) return arg.value;
  if (arg === 'NaN') return NaN;
  if (arg === 'Infinity') return Infinity;
  return arg === '-Infinity' ? -Infinity : undefined;
}
const localized = (value: number): string | undefined =>
  Number.isFinite(value) ? undefined : Number.isNaN(value) ? 'NaN' : value > 0 ? '\u221e' : '-\u221e';

function formatScientific(value: number): string {
  spend(60);
  const [mantissa, exponent] = value.toExponential(defaultPrecision).split('e') as [string, string];
  const power = exponent.slice(1).padStart(2, '0');
  return `${mantissa}\u00d710${superscript(exponent.startsWith('-') ? `-${power}` : power)}`;
}
const superscripts: Record<string, string> = {
  '-': '\u207b',
  '0': '\u2070',
  '1': '\u00b9',
  '2': '\u00b2',
  '3': '\u00b3',
  '4': '\u2074',
  '5': '\u2075',
  '6': '\u2076',
  '7': '\u2077',
  '8': '\u2078',
  '9': '\u2079',
};
const superscript = (text: string): string => Array.from(text, (char) => superscripts[char]!).join('');

const wholeOf = (arg: Value): bigint | undefined =>
  isInt(arg) ? BigInt(arg) : arg instanceof Uint ? arg.value : undefined;

const runtimeClauses: Clauses = {
  string: formatString,
  decimal: (arg) => wholeOf(arg)?.toString() ?? refused('decimal', arg),
  fixed: (arg, precision) => {
    const value = doubleOf(arg);
    if (value === undefined) return refused('fixed', arg);
    if (precision > precisionMax) return unreadPrecision;
    // Zero has no sign.
    return localized(value) ?? formatFixed(value === 0 ? 0 : value, precision);
  },
  scientific: (arg, precision) => {
    const value = doubleOf(arg);
    if (value === undefined) return refused('scientific', arg);
    if (precision > precisionMax) return unreadPrecision;
    // The reference uses the precision as a width, of 16 bits.
    const text = localized(value) ?? formatScientific(value);
    return text.padStart(precision & 0xffff);
  },
  binary: (arg) =>
    typeof arg === 'boolean' ? (arg ? '1' : '0') : (wholeOf(arg)?.toString(2) ?? refused('binary', arg)),
  hex: (arg, isUpper) => {
    const bytes = typeof arg === 'string' ? encodeUtf8(arg) : arg;
    if (bytes instanceof Uint8Array) spend(bytes.length / 3);
    const text = bytes instanceof Uint8Array ? Buffer.from(bytes).toString('hex') : wholeOf(bytes)?.toString(16);
    if (text === undefined) return refused('hex', arg);
    return isUpper ? text.toUpperCase() : text;
  },
  octal: (arg) => wholeOf(arg)?.toString(8) ?? refused('octal', arg),
};

export function format(text: string, args: ListValue): Value {
  const result = interpolate(text, listSize(args), (index) => listAt(args, index), runtimeClauses);
  return result instanceof FormatProblem ? new CelError(result.message) : result;
}
