import { goQuoteWhole } from '../../machinery/go-quote.js';
import { recallSize, rememberSize, spend, spendOnText } from '../work.js';

/** Texts are measured and compared by code points, as UTF-8 orders them; JavaScript's own strings are UTF-16. */

const surrogate = /[\ud800-\udfff]/;

/** True if the code units of the text are not its code points. */
function hasPairs(text: string): boolean {
  return codePointLength(text) !== text.length;
}

export function codePointLength(text: string): number {
  if (text.length < 256) return countPoints(text);
  return recallSize(text) ?? rememberSize(text, countPoints(text));
}

/** Returns at once for text of one byte for each character. */
function countPoints(text: string): number {
  spendOnText(text, 0.1);
  return surrogate.test(text) ? pointsBefore(text, text.length) : text.length;
}

/** Returns the code points from `start` to before `end`. */
export function codePointSlice(text: string, start: number, end: number): string {
  if (!hasPairs(text)) return text.slice(start, end);
  const from = unitOf(text, 0, start);
  return text.slice(from, unitOf(text, from, end - start));
}

/** Returns the index in code points of an index in code units. */
export const codePointIndex = (text: string, unit: number): number =>
  hasPairs(text) ? pointsBefore(text, unit) : unit;

function pointsBefore(text: string, unit: number): number {
  spendOnText(text, 0.2);
  let count = unit;
  for (let index = 0; index < unit - 1; index++) {
    if (!isPair(text, index)) continue;
    count--;
    index++;
  }
  return count;
}

/** Returns the index in code units of an index in code points. */
export const codeUnitIndex = (text: string, point: number): number => (hasPairs(text) ? unitOf(text, 0, point) : point);

/** Returns the index in code units of the code point that is `count` behind the one at `unit`. */
function unitOf(text: string, unit: number, count: number): number {
  spendOnText(text, 0.2);
  let index = unit;
  for (let left = count; left > 0 && index < text.length; left--) index += isPair(text, index) ? 2 : 1;
  return index;
}

function isPair(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}

/** Returns the characters of the text, each as a text. */
export function charactersOf(text: string): string[] {
  const hasSurrogatePairs = hasPairs(text);
  spend(text.length * (hasSurrogatePairs ? 5 : 1.5));
  return hasSurrogatePairs ? Array.from(text) : text.split('');
}

const wide = /[^\u0000-\u00ff]/;
/** True if each character fits into a byte. At once if JavaScript keeps the text in bytes. */
export const isNarrow = (text: string): boolean => !wide.test(text);

/** Writes the separator before each of the first `count` characters, without a text for each of them. */
export function interleave(separator: string, text: string, count: number): string {
  const end = codePointSlice(text, 0, count).length;
  const length = end + count * separator.length;
  spend(30 + (end + length) / 5);
  const isInBytes = isNarrow(text) && isNarrow(separator);
  const units = isInBytes ? new Uint8Array(length) : new Uint16Array(length);
  let to = 0;
  for (let from = 0; from < end; from++) {
    for (let index = 0; index < separator.length; index++) units[to++] = separator.charCodeAt(index);
    const isLead = !isInBytes && isPair(text, from);
    units[to++] = text.charCodeAt(from);
    if (isLead) units[to++] = text.charCodeAt(++from);
  }
  const written = Buffer.from(units.buffer).toString(isInBytes ? 'latin1' : 'utf16le');
  return end === text.length ? written : written + text.slice(end);
}

/** The number of bytes in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

export function compareBytes(left: Uint8Array, right: Uint8Array): -1 | 0 | 1 {
  return Buffer.compare(left, right);
}

/** Formats a text as a literal of Go (%q). */
export function quote(text: string): string {
  spendOnText(text, 0.3);
  const quoted = goQuoteWhole(text);
  if (quoted.length !== text.length + 2 || !isNarrow(text)) spendOnText(quoted, 1);
  return quoted;
}

/** Formats bytes as a literal of Go (%q of a byte string). */
export function quoteBytes(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return quote(text);
  spend(bytes.length * 8);
  const escaped = Array.from(bytes, (byte) =>
    byte > 0x7e ? `\\x${byte.toString(16)}` : goQuoteWhole(String.fromCharCode(byte)).slice(1, -1),
  );
  return `"${escaped.join('')}"`;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** The text that the bytes are; undefined if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
export const encodeUtf8 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'));
