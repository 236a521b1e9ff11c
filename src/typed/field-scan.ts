import { RecentTexts } from '../std/recent-texts.js';
import type { StructType } from '../machinery/type-model.js';
import { isUsualAmount, isUsualMicroTime, isUsualTime } from './fits.js';
import { scanForms, ScanStruct, type ScanField, type ScanType, type WantedFields } from './scan-plan.js';
import { planOf } from './type-plan.js';

/**
 * Goes once through the bytes of a JSON object, without parsing it. Checks that they are JSON in the form that JSON.stringify()
 * writes, and that the parsed object would fit a type (fits.ts); notes the positions of some fields. Refuses what is unusual,
 * of which a parser then decides: spaces, \u in strings, repeated fields that are noted, fractions, large numbers, deep
 * nesting.
 */
export class FieldScan {
  /** The start and the end of each wanted value; -1 if it is absent. */
  private readonly positions: Int32Array;

  private constructor(
    private readonly root: ScanStruct,
    numbers: number,
  ) {
    this.positions = new Int32Array(2 * numbers);
  }

  /** Returns undefined if a path does not lead to a field, or is one on the way to another. */
  static of(type: StructType, paths: readonly (readonly string[])[]): FieldScan | undefined {
    const wanted: WantedFields = { number: -1, fields: new Map() };
    // The fields on the way have numbers too, so that their repetition is noticed.
    let numbers = paths.length;
    for (const [number, path] of paths.entries()) {
      let at = wanted;
      let plan = planOf(type);
      for (const [depth, name] of path.entries()) {
        const field = plan.fields.get(name)?.type;
        const isLast = depth === path.length - 1;
        if (!field || (!isLast && field.form !== 'struct')) return undefined;
        let next = at.fields.get(name);
        if (next && isLast) return undefined;
        if (!next) at.fields.set(name, (next = { number: isLast ? number : numbers++, fields: new Map() }));
        at = next;
        if (!isLast) plan = field.struct;
      }
    }
    return new FieldScan(new ScanStruct(planOf(type), wanted), numbers);
  }

  /** Returns false if the bytes do not fit, or are unusual. */
  scan(bytes: Buffer): boolean {
    this.positions.fill(-1);
    return structEnd(bytes, 0, this.root, this.positions, 0) === bytes.length;
  }

  /** The position of the value with the number of its path after scan(), or -1 if it is absent. Of a string, that of its quote. */
  start(number: number): number {
    return this.positions[2 * number]!;
  }

  /** The position after the value. */
  end(number: number): number {
    return this.positions[2 * number + 1]!;
  }
}

/** Beyond, recursion would need much stack. */
const depthMax = 64;
/** Integers of so many digits are exact. */
const digitsMax = 15;

const code = (character: string) => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const comma = code(',');
const colon = code(':');
const openBrace = code('{');
const closeBrace = code('}');
const openBracket = code('[');
const closeBracket = code(']');
const minus = code('-');
const zero = code('0');
const nine = code('9');
const space = code(' ');
const letters = { b: code('b'), f: code('f'), n: code('n'), r: code('r'), t: code('t'), slash: code('/') };

const latin1 = (bytes: Buffer, start: number, end: number) => bytes.toString('latin1', start, end);
const keyNames = new RecentTexts(latin1);
const texts = new RecentTexts(latin1);

// These functions return the position after a value that starts at `at`, or -1.

function structEnd(bytes: Buffer, at: number, struct: ScanStruct, positions: Int32Array, depth: number): number {
  if (bytes[at] !== openBrace || depth > depthMax) return -1;
  if (bytes[++at] === closeBrace) return at + 1;
  let previous = struct.start;
  for (;;) {
    const field = fieldAt(bytes, at, struct, previous);
    if (!field) return -1;
    at += field.key.length;
    const { number } = field;
    if (number >= 0) {
      if (positions[2 * number]! >= 0) return -1;
      positions[2 * number] = at;
    }
    at =
      bytes[at] === letters.n && field.mayBeNull
        ? wordEnd(bytes, at, 'null')
        : valueEnd(bytes, at, field.type, positions, depth);
    if (at < 0) return -1;
    if (number >= 0) positions[2 * number + 1] = at;
    const behind = bytes[at++];
    if (behind === closeBrace) return at;
    if (behind !== comma) return -1;
    previous = field;
  }
}

function fieldAt(bytes: Buffer, at: number, struct: ScanStruct, previous: ScanField): ScanField | undefined {
  const { next, nextBefore } = previous;
  if (next && hasKey(bytes, at, next.key)) return next;
  let found = nextBefore && hasKey(bytes, at, nextBefore.key) ? nextBefore : undefined;
  if (!found) {
    const end = stringEnd(bytes, at);
    if (end < 0 || bytes[end] !== colon) return undefined;
    found = struct.field(keyNames.of(bytes, at + 1, end - 1));
  }
  previous.nextBefore = next;
  previous.next = found;
  return found;
}

function hasKey(bytes: Buffer, at: number, key: Buffer): boolean {
  if (bytes.length - at < key.length) return false;
  for (let index = 0; index < key.length; index++) if (bytes[at + index] !== key[index]) return false;
  return true;
}

function valueEnd(bytes: Buffer, at: number, type: ScanType, positions: Int32Array, depth: number): number {
  switch (type.form) {
    case scanForms.text:
      return stringEnd(bytes, at);
    case scanForms.struct:
      return structEnd(bytes, at, type.struct, positions, depth + 1);
    case scanForms.list:
      return listEnd(bytes, at, type.of!, positions, depth);
    case scanForms.map:
      return mapEnd(bytes, at, type.of!, positions, depth);
    case scanForms.bool:
      return bytes[at] === letters.t ? wordEnd(bytes, at, 'true') : wordEnd(bytes, at, 'false');
    case scanForms.int32:
      return int32End(bytes, at);
    case scanForms.int64:
      return integerEnd(bytes, at);
    case scanForms.intOrString:
      return bytes[at] === quote ? stringEnd(bytes, at) : int32End(bytes, at);
    case scanForms.time:
      return checkedTextEnd(bytes, at, isUsualTime);
    case scanForms.microTime:
      return checkedTextEnd(bytes, at, isUsualMicroTime);
    case scanForms.quantity:
      return checkedTextEnd(bytes, at, isUsualAmount);
    case scanForms.any:
      return bytes[at] === letters.n ? -1 : anyEnd(bytes, at, depth);
    default:
      return -1;
  }
}

function listEnd(bytes: Buffer, at: number, of: ScanType, positions: Int32Array, depth: number): number {
  if (bytes[at] !== openBracket || depth > depthMax) return -1;
  if (bytes[++at] === closeBracket) return at + 1;
  for (;;) {
    at = valueEnd(bytes, at, of, positions, depth + 1);
    if (at < 0) return -1;
    const behind = bytes[at++];
    if (behind === closeBracket) return at;
    if (behind !== comma) return -1;
  }
}

function mapEnd(bytes: Buffer, at: number, of: ScanType, positions: Int32Array, depth: number): number {
  if (bytes[at] !== openBrace || depth > depthMax) return -1;
  if (bytes[++at] === closeBrace) return at + 1;
  for (;;) {
    at = keyEnd(bytes, at);
    if (at < 0) return -1;
    at = valueEnd(bytes, at, of, positions, depth + 1);
    if (at < 0) return -1;
    const behind = bytes[at++];
    if (behind === closeBrace) return at;
    if (behind !== comma) return -1;
  }
}

/** Any JSON that is safe: without the key `__proto__`, and without numbers that a double may not hold. */
function anyEnd(bytes: Buffer, at: number, depth: number): number {
  if (depth > depthMax) return -1;
  const first = bytes[at];
  if (first === quote) return stringEnd(bytes, at);
  if (first !== openBrace && first !== openBracket) return scalarEnd(bytes, at);
  const isObject = first === openBrace;
  const close = isObject ? closeBrace : closeBracket;
  if (bytes[++at] === close) return at + 1;
  for (;;) {
    if (isObject) at = keyEnd(bytes, at);
    if (at < 0) return -1;
    at = anyEnd(bytes, at, depth + 1);
    if (at < 0) return -1;
    const behind = bytes[at++];
    if (behind === close) return at;
    if (behind !== comma) return -1;
  }
}

function scalarEnd(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === letters.t) return wordEnd(bytes, at, 'true');
  if (first === letters.f) return wordEnd(bytes, at, 'false');
  if (first === letters.n) return wordEnd(bytes, at, 'null');
  return integerEnd(bytes, at);
}

/** The position after the colon. */
function keyEnd(bytes: Buffer, at: number): number {
  const end = stringEnd(bytes, at);
  if (end < 0 || bytes[end] !== colon) return -1;
  return end - at === protoKey.length && hasKey(bytes, at, protoKey) ? -1 : end + 1;
}
const protoKey = Buffer.from('"__proto__"');

function stringEnd(bytes: Buffer, at: number): number {
  const { length } = bytes;
  if (bytes[at] !== quote) return -1;
  for (at++; at < length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) return at + 1;
    if (byte < space) return -1;
    if (byte === backslash && !isShortEscape(bytes[++at])) return -1;
  }
  return -1;
}

function isShortEscape(byte: number | undefined): boolean {
  if (byte === quote || byte === backslash || byte === letters.n || byte === letters.t) return true;
  return byte === letters.r || byte === letters.b || byte === letters.f || byte === letters.slash;
}

function checkedTextEnd(bytes: Buffer, at: number, isUsual: (text: string) => boolean): number {
  const end = stringEnd(bytes, at);
  return end >= 0 && isUsual(texts.of(bytes, at + 1, end - 1)) ? end : -1;
}

function wordEnd(bytes: Buffer, at: number, word: string): number {
  for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word.charCodeAt(index)) return -1;
  return at + word.length;
}

function integerEnd(bytes: Buffer, at: number): number {
  const start = bytes[at] === minus ? at + 1 : at;
  let end = start;
  while (end < bytes.length && bytes[end]! >= zero && bytes[end]! <= nine) end++;
  const digits = end - start;
  if (digits === 0 || digits > digitsMax) return -1;
  return bytes[start] === zero && digits > 1 ? -1 : end;
}

function int32End(bytes: Buffer, at: number): number {
  const end = integerEnd(bytes, at);
  if (end - at < 10) return end;
  const value = Number(bytes.toString('latin1', at, end));
  return (value | 0) === value ? end : -1;
}
