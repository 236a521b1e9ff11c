/** Texts are measured and compared by code points, as UTF-8 orders them; JavaScript's own strings are UTF-16. */

/** True if the text has surrogates, so that its code units are not its code points. */
const hasSurrogates = (text: string): boolean => /[\ud800-\udfff]/.test(text);

export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(index + 1))) {
      length--;
      index++;
    }
  }
  return length;
}
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The code points from `start` to before `end`. */
export function codePointSlice(text: string, start: number, end: number): string {
  if (!hasSurrogates(text)) return text.slice(start, end);
  return Array.from(text).slice(start, end).join('');
}

/** The index in code points of an index in code units. */
export const codePointIndex = (text: string, unit: number): number => codePointLength(text.slice(0, unit));

/** The index in code units of an index in code points. */
export const codeUnitIndex = (text: string, point: number): number => codePointSlice(text, 0, point).length;

/** The number of bytes in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text);

/** Orders texts by code points. */
export function compareTexts(left: string, right: string): -1 | 0 | 1 {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  let index = 0;
  while (index < length && left.charCodeAt(index) === right.charCodeAt(index)) index++;
  if (index === length) return left.length < right.length ? -1 : 1;
  const a = left.charCodeAt(index);
  const b = right.charCodeAt(index);
  // A surrogate stands for a code point above all that one unit can hold.
  const isAbove = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
  if (isAbove(a) !== isAbove(b)) return isAbove(a) ? 1 : -1;
  return a < b ? -1 : 1;
}

export function compareBytes(left: Uint8Array, right: Uint8Array): -1 | 0 | 1 {
  return Buffer.compare(left, right);
}

const escapes: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** The text as a literal of Go (%q). */
export function quote(text: string): string {
  let quoted = '"';
  for (const char of text) quoted += escapes[char] ?? (isPrintable(char) ? char : unicodeEscape(char));
  return `${quoted}"`;
}
const isPrintable = (char: string): boolean => char === ' ' || !/[\p{C}\p{Z}]/u.test(char);

function unicodeEscape(char: string): string {
  const point = char.codePointAt(0)!;
  if (point < 0x20 || point === 0x7f) return `\\x${point.toString(16).padStart(2, '0')}`;
  return point > 0xffff ? `\\U${point.toString(16).padStart(8, '0')}` : `\\u${point.toString(16).padStart(4, '0')}`;
}

/** The bytes as a literal of Go (%q of a byte string). */
export function quoteBytes(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== undefined) return quote(text);
  let quoted = '"';
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    quoted +=
      byte > 0x7e || (byte < 0x20 && !escapes[char])
        ? `\\x${byte.toString(16).padStart(2, '0')}`
        : (escapes[char] ?? char);
  }
  return `${quoted}"`;
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
