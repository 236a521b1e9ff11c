import { looksLikeTime, resolvePlain } from './yaml-scalar.js';

/**
 * Writes a JSON value as the reference's YAML: keys sorted, lists not indented under their key, quotes only where a
 * plain word would be read as something else. Long lines are not folded.
 */
export function writeYaml(value: unknown): string {
  const lines: string[] = [];
  // A block needs something to be indented under.
  if (typeof value === 'string' && value.includes('\n')) lines.push(doubleQuoted(value));
  else if (isEmptyOrScalar(value)) lines.push(inline(value, 0));
  else block(value as object, 0, '', lines);
  return `${lines.join('\n')}\n`;
}

function block(value: object, indent: number, first: string, lines: string[]): void {
  if (Array.isArray(value)) list(value as unknown[], indent, first, lines);
  else map(value as Record<string, unknown>, indent, first, lines);
}

/** `first` is what the first line begins with: the dash of a list that this value is an item of, or nothing. */
function list(items: readonly unknown[], indent: number, first: string, lines: string[]): void {
  const pad = ' '.repeat(indent);
  for (const [index, item] of items.entries()) {
    const start = `${index === 0 && first !== '' ? first : pad}- `;
    if (isEmptyOrScalar(item)) lines.push(`${start}${inline(item, indent)}`);
    else block(item as object, indent + 2, start, lines);
  }
}

function map(object: Record<string, unknown>, indent: number, first: string, lines: string[]): void {
  const pad = ' '.repeat(indent);
  let start = first === '' ? pad : first;
  for (const key of Object.keys(object).sort(compareKeys)) {
    const value = object[key];
    if (value === undefined) continue;
    const written = keyText(key);
    const head = written.length > 128 ? `${start}? ${written}\n${pad}:` : `${start}${written}:`;
    start = pad;
    if (isEmptyOrScalar(value)) {
      lines.push(`${head} ${inline(value, indent)}`);
    } else {
      lines.push(head);
      block(value as object, Array.isArray(value) ? indent : indent + 2, '', lines);
    }
  }
}

function isEmptyOrScalar(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return Object.values(value).every((item) => item === undefined);
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

function word(value: string): string {
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

/** A block keeps its text as it is: nothing unprintable, no space before a line's end. */
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

/** Letters after everything else; runs of digits by their number: a2 < a10. */
function compareKeys(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  for (let at = 0; at < left.length && at < right.length; at++) {
    const x = left[at]!;
    const y = right[at]!;
    if (x === y) continue;
    const xIsLetter = /\p{L}/u.test(x);
    const yIsLetter = /\p{L}/u.test(y);
    if (xIsLetter && yIsLetter) return x < y ? -1 : 1;
    if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1;
    const xDigits = digitsFrom(left, at);
    const yDigits = digitsFrom(right, at);
    const hasLead = (x === '0' || y === '0') && /[1-9][0-9]*$/.test(left.slice(0, at).join(''));
    const difference =
      BigInt(`${hasLead ? '1' : ''}${xDigits || '0'}`) - BigInt(`${hasLead ? '1' : ''}${yDigits || '0'}`);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
    if (xDigits.length !== yDigits.length) return xDigits.length - yDigits.length;
    return x < y ? -1 : 1;
  }
  return left.length - right.length;
}

function digitsFrom(characters: readonly string[], from: number): string {
  let end = from;
  while (end < characters.length && /^[0-9]$/.test(characters[end]!)) end++;
  return characters.slice(from, end).join('');
}
