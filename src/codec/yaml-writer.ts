import { atOnce, type Steps } from '../std/steps.js';
import { looksLikeTime, resolvePlain } from './yaml-scalar.js';

/**
 * Encodes a JSON value as kube-apiserver's YAML: keys sorted, lists not indented under their key, quotes only where a
 * plain scalar would be decoded as another type. Long lines are not folded.
 */
export function writeYaml(value: unknown): string {
  return atOnce(writeYamlInSteps(value));
}

const linesPerStep = 1024;

/** Yields after a number of lines. */
export function* writeYamlInSteps(value: unknown): Steps<string> {
  const lines: string[] = [];
  // A block scalar needs a parent to be indented under.
  if (typeof value === 'string' && value.includes('\n')) lines.push(doubleQuoted(value));
  else if (isEmptyOrScalar(value)) lines.push(inline(value, 0));
  else yield* block(value as object, 0, '', lines);
  yield;
  return `${lines.join('\n')}\n`;
}

function block(value: object, indent: number, first: string, lines: string[]): Steps<void> {
  return Array.isArray(value)
    ? list(value as unknown[], indent, first, lines)
    : map(value as Record<string, unknown>, indent, first, lines);
}

/** `first` is the start of the first line: the dash of a list whose item this value is, or empty. */
function* list(items: readonly unknown[], indent: number, first: string, lines: string[]): Steps<void> {
  const pad = ' '.repeat(indent);
  for (const [index, item] of items.entries()) {
    const start = `${index === 0 && first !== '' ? first : pad}- `;
    if (isEmptyOrScalar(item)) lines.push(`${start}${inline(item, indent)}`);
    else yield* block(item as object, indent + 2, start, lines);
    if (lines.length % linesPerStep === 0) yield;
  }
}

function* map(object: Record<string, unknown>, indent: number, first: string, lines: string[]): Steps<void> {
  const pad = ' '.repeat(indent);
  const keys = Object.keys(object).sort(compareKeys);
  if (keys.length > linesPerStep) yield;
  let start = first === '' ? pad : first;
  for (const key of keys) {
    const value = object[key];
    if (value === undefined) continue;
    const written = keyText(key);
    const head = written.length > 128 ? `${start}? ${written}\n${pad}:` : `${start}${written}:`;
    start = pad;
    if (isEmptyOrScalar(value)) {
      lines.push(`${head} ${inline(value, indent)}`);
    } else {
      lines.push(head);
      yield* block(value as object, Array.isArray(value) ? indent : indent + 2, '', lines);
    }
    if (lines.length % linesPerStep === 0) yield;
  }
}

function isEmptyOrScalar(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  const fields = value as Record<string, unknown>;
  for (const name in fields) if (fields[name] !== undefined) return false;
  return true;
}

function inline(value: unknown, indent: number): string {
  if (typeof value === 'string') return text(value, indent);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return '[]';
  return value === null || value === undefined ? 'null' : '{}';
}

function text(value: string, indent: number): string {
  if (value.includes('\n')) return canBeBlock(value) ? literal(value, indent) : doubleQuoted(value);
  return word(value);
}

function keyText(key: string): string {
  return key.includes('\n') ? doubleQuoted(key) : word(key);
}

/** Fast path for most keys and values: all scalars of other types begin otherwise or are shorter. */
const plainWord = /^[A-Za-z_][A-Za-z0-9_./-]{5,}$/;

function word(value: string): string {
  if (plainWord.test(value)) return value;
  if (hasUnprintable(value)) return doubleQuoted(value);
  if (
    typeof resolvePlain(value) !== 'string' ||
    looksLikeTime(value) ||
    /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/.test(value)
  ) {
    return doubleQuoted(value);
  }
  return canBePlain(value) ? value : `'${value.replaceAll("'", "''")}'`;
}

function canBePlain(value: string): boolean {
  if (/^[ ]|[ ]$/.test(value) || /^(---|\.\.\.)/.test(value)) return false;
  if (/^[#,[\]{}&*!|>'"%@`]/.test(value) || /^[-?:]( |$)/.test(value) || value === '<<') return false;
  return !/:( |$)| #/.test(value);
}

/** True if the text can be a literal block: only printable characters, no space before a line break. */
function canBeBlock(value: string): boolean {
  return !hasUnprintable(value) && !/ (\n|$)/.test(value) && !/^\n*$/.test(value);
}

function literal(value: string, indent: number): string {
  const hint = /^[ \n]/.test(value) ? '2' : '';
  const chomping = !value.endsWith('\n') ? '-' : value.endsWith('\n\n') ? '+' : '';
  const pad = ' '.repeat(indent + 2);
  const body = value.endsWith('\n') ? value.slice(0, -1) : value;
  return `|${hint}${chomping}\n${body
    .split('\n')
    .map((line) => (line === '' ? '' : pad + line))
    .join('\n')}`;
}

function hasUnprintable(value: string): boolean {
  return /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(value);
}

function doubleQuoted(value: string): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Sorts as kube-apiserver's YAML: letters after all other characters, runs of digits by value: a2 < a10. Takes linear
 * time.
 */
function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  // Surrogate pairs with the same first half are compared as a whole.
  if (isSecondHalf(a, at) || isSecondHalf(b, at)) at--;
  const x = String.fromCodePoint(a.codePointAt(at)!);
  const y = String.fromCodePoint(b.codePointAt(at)!);
  const xIsLetter = isLetter(x);
  const yIsLetter = isLetter(y);
  if (xIsLetter && yIsLetter) return x < y ? -1 : 1;
  if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1;
  const xDigits = digitsFrom(a, at);
  const yDigits = digitsFrom(b, at);
  const isInNumber = (x === '0' || y === '0') && endsInNumber(a, at);
  return compareNumbers(xDigits, yDigits, isInNumber) || xDigits.length - yDigits.length || (x < y ? -1 : 1);
}

/** No digits count as 0. Leading zeros are kept only after other digits, which both numbers share. */
function compareNumbers(a: string, b: string, keepsZeros: boolean): number {
  const x = keepsZeros ? a || '0' : a.replace(/^0+/, '');
  const y = keepsZeros ? b || '0' : b.replace(/^0+/, '');
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : 0);
}

const isSecondHalf = (text: string, at: number): boolean => at > 0 && text.codePointAt(at - 1)! > 0xffff;
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

function isLetter(character: string): boolean {
  const unit = character.charCodeAt(0);
  if (unit < 0x80) return (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
  return /\p{L}/u.test(character);
}

function digitsFrom(text: string, from: number): string {
  let end = from;
  while (isDigit(text.charCodeAt(end))) end++;
  return text.slice(from, end);
}

/** True if the run of digits that ends at `end` has a digit other than 0. */
function endsInNumber(text: string, end: number): boolean {
  for (let at = end - 1; at >= 0 && isDigit(text.charCodeAt(at)); at--) if (text[at] !== '0') return true;
  return false;
}
