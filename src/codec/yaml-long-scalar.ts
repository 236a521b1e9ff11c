import { endianness } from 'node:os';
import type * as JsYaml from 'js-yaml';

/**
 * The values of long scalars, equal to those of js-yaml's getScalarValue(), which concatenates a string for every line,
 * escape and quote: a text of megabytes has a million of them, and that dominates decoding. Here the characters are
 * copied into one buffer.
 */
export const longScalarCharacters = 16 * 1024;

export function longScalarValue(text: string, event: JsYaml.ScalarEvent, yaml: typeof JsYaml): string {
  const { style, valueStart: start, valueEnd: end } = event;
  if (event.fast) return text.slice(start, end);
  const { SCALAR_STYLE: styles, CHOMPING_MODE: chompings } = yaml;
  const writer = new UnitWriter(end - start + 2);
  if (style === styles.LITERAL_BLOCK || style === styles.FOLDED_BLOCK) {
    const { indent, chomping } = event;
    const isFolded = style === styles.FOLDED_BLOCK;
    const hasContent = writeBlock(writer, text, {
      start,
      end,
      indent,
      isFolded,
      keepsEnd: chomping === chompings.KEEP,
    });
    if (hasContent && chomping === chompings.CLIP) writer.unit(newline);
  } else {
    const escape =
      style === styles.DOUBLE_QUOTED ? backslash : style === styles.SINGLE_QUOTED ? singleQuote : Number.NaN;
    writeFlow(writer, text, { start, end, escape });
  }
  return writer.text();
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
const backslash = 0x5c;
const singleQuote = 0x27;

/** Collects UTF-16 code units. */
class UnitWriter {
  private readonly units: Uint16Array;
  private length = 0;
  private seen = 0;

  constructor(lengthMax: number) {
    this.units = new Uint16Array(lengthMax);
  }

  unit(unit: number): void {
    this.units[this.length++] = unit;
    this.seen |= unit;
  }

  newlines(count: number): void {
    for (let left = count; left > 0; left--) this.unit(newline);
  }

  copy(text: string, start: number, end: number): void {
    for (let at = start; at < end; at++) this.unit(text.charCodeAt(at));
  }

  text(): string {
    const units = this.units.subarray(0, this.length);
    if (this.seen <= 0xff) return Buffer.from(units).toString('latin1');
    const bytes = Buffer.from(units.buffer, 0, 2 * this.length);
    if (endianness() === 'BE') bytes.swap16();
    return bytes.toString('utf16le');
  }
}

interface Block {
  readonly start: number;
  readonly end: number;
  /** Negative if all lines are blank. */
  readonly indent: number;
  readonly isFolded: boolean;
  readonly keepsEnd: boolean;
}

/** Returns true if any line has content. */
function writeBlock(writer: UnitWriter, text: string, { start, end, indent, isFolded, keepsEnd }: Block): boolean {
  let hasContent = false;
  let emptyLines = 0;
  let isMoreIndented = false;
  for (let at = start, next = at; at < end; at = next) {
    let lineEnd = at;
    while (lineEnd < end && !isBreak(text.charCodeAt(lineEnd))) lineEnd++;
    next = behindBreak(text, lineEnd, end);
    let contentStart = at;
    while (contentStart < lineEnd && contentStart - at < indent && text.charCodeAt(contentStart) === space)
      contentStart++;
    if (indent < 0 || contentStart === lineEnd) {
      emptyLines++;
      continue;
    }
    contentStart = Math.min(at + indent, lineEnd);
    const wasMoreIndented = isMoreIndented;
    isMoreIndented = isFolded && contentStart < lineEnd && isBlank(text.charCodeAt(contentStart));
    if (!isFolded || isMoreIndented) writer.newlines(hasContent ? 1 + emptyLines : emptyLines);
    else if (wasMoreIndented) writer.newlines(emptyLines + 1);
    else if (emptyLines > 0) writer.newlines(emptyLines);
    else if (hasContent) writer.unit(space);
    writer.copy(text, contentStart, lineEnd);
    hasContent = true;
    emptyLines = 0;
  }
  if (keepsEnd) writer.newlines(hasContent ? 1 + emptyLines : emptyLines);
  return hasContent;
}

interface Flow {
  readonly start: number;
  readonly end: number;
  /** The character that begins an escape; NaN for plain scalars, which have none. */
  readonly escape: number;
}

/** Plain and quoted scalars: folds line breaks and the blanks around them. */
function writeFlow(writer: UnitWriter, text: string, { start, end, escape }: Flow): void {
  let copied = start;
  /** The position after the last character that is neither blank nor escaped. */
  let contentEnd = start;
  for (let at = start; at < end;) {
    const unit = text.charCodeAt(at);
    if (unit === escape) {
      writer.copy(text, copied, at);
      at = escape === singleQuote ? writeQuote(writer, at) : writeEscaped(writer, text, at + 1, end);
      copied = contentEnd = at;
    } else if (isBreak(unit)) {
      writer.copy(text, copied, contentEnd);
      const breaksStart = at;
      at = behindBlanks(text, at, end);
      const breaks = breaksBetween(text, breaksStart, at);
      if (breaks === 1) writer.unit(space);
      else writer.newlines(breaks - 1);
      copied = contentEnd = at;
    } else {
      at++;
      if (!isBlank(unit)) contentEnd = at;
    }
  }
  writer.copy(text, copied, Number.isNaN(escape) ? contentEnd : end);
}

function writeQuote(writer: UnitWriter, at: number): number {
  writer.unit(singleQuote);
  return at + 2;
}

const escapes = new Map<number, number>(
  [...'0abt\tnvfre "/\\N_LP'].map((letter, index) => [
    letter.charCodeAt(0),
    [0, 7, 8, 9, 9, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b, 0x20, 0x22, 0x2f, 0x5c, 0x85, 0xa0, 0x2028, 0x2029][index]!,
  ]),
);
const hexLengths = new Map<number, number>([
  [0x78, 2],
  [0x75, 4],
  [0x55, 8],
]);

/** Writes the characters of an escape sequence, which the parser has validated. Returns the position after it. */
function writeEscaped(writer: UnitWriter, text: string, at: number, end: number): number {
  const letter = text.charCodeAt(at);
  if (isBreak(letter)) return behindBlanks(text, at, end);
  const simple = escapes.get(letter);
  if (simple !== undefined) {
    writer.unit(simple);
    return at + 1;
  }
  const behind = at + 1 + hexLengths.get(letter)!;
  let code = 0;
  for (let digit = at + 1; digit < behind; digit++) code = (code << 4) + hexDigit(text.charCodeAt(digit));
  if (code <= 0xffff) {
    writer.unit(code & 0xffff);
  } else {
    writer.unit((((code - 0x10000) >> 10) + 0xd800) & 0xffff);
    writer.unit(((code - 0x10000) & 0x3ff) + 0xdc00);
  }
  return behind;
}

const hexDigit = (unit: number): number => (unit <= 0x39 ? unit - 0x30 : (unit | 0x20) - 0x61 + 10);
const isBreak = (unit: number): boolean => unit === newline || unit === carriageReturn;
const isBlank = (unit: number): boolean => unit === space || unit === tab;

function behindBreak(text: string, at: number, end: number): number {
  if (at >= end) return end;
  return text.charCodeAt(at) === carriageReturn && at + 1 < end && text.charCodeAt(at + 1) === newline
    ? at + 2
    : at + 1;
}

function behindBlanks(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && (isBreak(text.charCodeAt(at)) || isBlank(text.charCodeAt(at)))) at++;
  return at;
}

function breaksBetween(text: string, start: number, end: number): number {
  let breaks = 0;
  for (let at = start; at < end; at++) {
    if (!isBreak(text.charCodeAt(at))) continue;
    breaks++;
    if (text.charCodeAt(at) === carriageReturn && text.charCodeAt(at + 1) === newline) at++;
  }
  return breaks;
}
