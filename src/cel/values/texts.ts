import { goQuoteWhole } from '../../machinery/go-quote.js';
import { recallSize, rememberSize, spend, spendOnText } from '../work.js';

/** Texts are measured and compared by code points, as UTF-8 orders them; JavaScript's own strings are UTF-16. */

/** True if the text has surrogates, so that its code units are not its code points. At once for text of one byte. */
const hasSurrogates = (text: string): boolean => {
  spendOnText(text, 0.02);
  return /[\ud800-\udfff]/.test(text);
};

export function codePointLength(text: string): number {
  if (text.length < 256) return hasSurrogates(text) ? codePointIndex(text, text.length) : text.length;
  const known = recallSize(text);
  if (known !== undefined) return known;
  return rememberSize(text, hasSurrogates(text) ? codePointIndex(text, text.length) : text.length);
}

/** Returns the code points from `start` to before `end`. */
export function codePointSlice(text: string, start: number, end: number): string {
  if (!hasSurrogates(text)) return text.slice(start, end);
  const from = unitOf(text, 0, start);
  return text.slice(from, unitOf(text, from, end - start));
}

/** Returns the index in code points of an index in code units. */
export function codePointIndex(text: string, unit: number): number {
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
export const codeUnitIndex = (text: string, point: number): number =>
  hasSurrogates(text) ? unitOf(text, 0, point) : point;

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

/** The number of bytes in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

export function compareBytes(left: Uint8Array, right: Uint8Array): -1 | 0 | 1 {
  return Buffer.compare(left, right);
}

/** Formats a text as a literal of Go (%q). */
export function quote(text: string): string {
  spendOnText(text, 0.3);
  return goQuoteWhole(text);
}

/** Formats bytes as a literal of Go (%q of a byte string). */
export function quoteBytes(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return quote(text);
  spend(bytes.length * 5);
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
