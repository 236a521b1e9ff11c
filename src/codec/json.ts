import { int64Max, int64Min } from '../machinery/int64.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import { atOnce, type Steps } from '../std/steps.js';
import { jsonSyntaxProblem } from './json-syntax.js';
import { secretMark } from '../std/secret-mark.js';

/**
 * JSON: the only place where it is parsed and written. Fast in the usual case, exact in the others:
 * - an integer that fits int64 but not a double is decoded as a `bigint`, and encoded with all its digits;
 * - a key `__proto__` is refused, so that code that copies keys cannot pollute prototypes;
 * - depth is limited, so that recursive code cannot overflow the stack.
 */
export const jsonDepthMax = 1000;

export function decodeJson(bytes: Uint8Array | string): JsonValue {
  const text = typeof bytes === 'string' ? bytes : utf8(bytes);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw new DecodeError(jsonSyntaxProblem(text));
  }
  const finding = inspect(value, 0);
  if (finding === 'bigInteger') return atOnce(parseExactly(text));
  return value;
}

/** decodeJson() in steps, for large texts. */
export function* decodeJsonInSteps(text: string): Steps<JsonValue> {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    yield;
    throw new DecodeError(jsonSyntaxProblem(text));
  }
  yield;
  const finding = inspect(value, 0);
  if (finding !== 'bigInteger') return value;
  yield;
  return yield* parseExactly(text);
}

/** For callers that check for themselves what decodeJson() refuses. Throws DecodeError. */
export function parseJson(bytes: Uint8Array): JsonValue {
  const text = utf8(bytes);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new DecodeError(jsonSyntaxProblem(text));
  }
}

/** Encodes as compact JSON. */
export function encodeJson(value: unknown): Buffer {
  return Buffer.from(stringifyJson(value));
}

export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (containsBigInt(value)) return stringifyExactly(value);
    throw error;
  }
}

/** Encodes with two spaces per level, for people. */
export function prettyJson(value: unknown): Buffer {
  let text: string;
  try {
    text = JSON.stringify(value, undefined, 2);
  } catch {
    text = stringifyExactly(value, 2);
  }
  return Buffer.from(`${text}\n`);
}

function utf8(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8');
}

/**
 * Checks a decoded value in one walk: throws on a `__proto__` key and on excessive depth, and reports numbers that may
 * have lost digits. Other decoders use it too. Leaves are checked inline, since most values are leaves.
 */
export function inspect(value: unknown, depth = 0): 'bigInteger' | undefined {
  if (typeof value === 'number') return mayHaveLostDigits(value) ? 'bigInteger' : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= jsonDepthMax) throw new DecodeError('exceeded max depth');
  let finding: 'bigInteger' | undefined;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      if (typeof item !== 'string' && inspect(item, depth + 1) !== undefined) finding = 'bigInteger';
    }
    return finding;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    const item = object[key];
    if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
    if (typeof item !== 'string' && inspect(item, depth + 1) !== undefined) finding = 'bigInteger';
  }
  return finding;
}

function mayHaveLostDigits(number: number): boolean {
  if (Number.isSafeInteger(number)) return false;
  // JSON.stringify would write null.
  if (!Number.isFinite(number)) throw new DecodeError('a number is too large');
  return Number.isInteger(number) && Math.abs(number) <= 2 ** 63;
}

const mark = secretMark('int64');
const markedInteger = new RegExp(`"${mark}(-?[0-9]+)"`, 'g');

/**
 * Slow path for the few documents with large integers. The text is valid JSON: large integers are replaced by strings
 * with a secret mark, which become bigints after parsing.
 */
function* parseExactly(text: string): Steps<JsonValue> {
  const marked = markIntegers(text);
  yield;
  const value = JSON.parse(marked) as JsonValue;
  yield;
  return withBigInts(value);
}

/** Replaces marked strings by bigints. Depth was limited by inspect(). */
function withBigInts(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = withBigInts(value[index]!);
    return value;
  }
  for (const key in value) {
    const part = value[key]!;
    const exact = withBigInts(part);
    if (exact !== part) value[key] = exact;
  }
  return value;
}

function markIntegers(text: string): string {
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const start = at++;
      while (at < text.length && isNumberCharacter(text.charCodeAt(at))) at++;
      const number = text.slice(start, at);
      if (needsBigInt(number)) {
        marked += `${text.slice(copied, start)}"${mark}${number}"`;
        copied = at;
      }
    } else {
      at++;
    }
  }
  return marked + text.slice(copied);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
}

function isNumberCharacter(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2d || code === 0x2b || (code | 0x20) === 0x65;
}

function needsBigInt(number: string): boolean {
  if (number.length < 16 || number.length > 20 || /[.eE]/.test(number)) return false;
  if (Number.isSafeInteger(Number(number))) return false;
  const exact = BigInt(number);
  return exact <= int64Max && exact >= int64Min;
}

function containsBigInt(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(containsBigInt);
}

function stringifyExactly(value: unknown, indent?: number): string {
  const marked = JSON.stringify(
    value,
    (_key, found: unknown) => (typeof found === 'bigint' ? `${mark}${found}` : found),
    indent,
  );
  return marked.replace(markedInteger, (_whole, digits: string) => digits);
}
