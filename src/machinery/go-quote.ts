/** Limit on the characters of one value in a message: a message quotes a value several times. */
export const quotedCharactersMax = 65_536;

/** Formats a string for a message as Go does with %q, and shortens one of more than 65,536 characters. */
export function goQuote(text: string): string {
  return text.length <= quotedCharactersMax
    ? goQuoteWhole(text)
    : `${goQuoteWhole(text.slice(0, quotedCharactersMax))}${remainder(text.length)}`;
}

/** Shortens a text for a message if it has more than 65,536 characters. */
export function shortenedValue(text: string): string {
  return text.length <= quotedCharactersMax ? text : `${text.slice(0, quotedCharactersMax)}${remainder(text.length)}`;
}

const remainder = (characters: number): string => `… (shortened, ${characters} characters)`;

/** Formats a string as Go does with %q: like JSON, except for some characters. Linear, and quick for texts of megabytes. */
export function goQuoteWhole(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  // eslint-disable-next-line no-restricted-syntax -- a message, not bytes of an object
  return quotedAsInJson.test(text) ? JSON.stringify(text) : new Quoting(text).run();
}

const plain = /^[ !#-[\]-~]*$/;
/** Matches texts that JSON escapes as Go does. */
const quotedAsInJson = /^[ -~\b\f\n\r\t]*$/;
/** Matches characters that Go does not print: separators except the space, control and unassigned characters. */
const unprintable = /^(?! )[\p{C}\p{Z}]$/u;

/** The escapes of Go with one letter. */
export const goEscapes: Readonly<Record<string, string>> = {
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

const quote = 0x22;
const backslash = 0x5c;
/** Go's strings have this character instead of a lone surrogate. */
const replacement = 0xfffd;
/** The longest escape of one UTF-16 unit: `\u00a0`. */
const unitsMax = 6;
const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** State of each character of the basic plane: 0 until it occurs, then isPrinted or isEscaped. */
const printed = new Uint8Array(0x10000);
const isPrinted = 1;
const isEscaped = 2;

/** Writes UTF-16 units to an array: a callback for each character would take ten times as long. */
class Quoting {
  private readonly units: Uint16Array;
  private length = 0;
  /** The last character beyond the basic plane: texts repeat few of them. */
  private lastPoint = 0;
  private isLastPrinted = false;
  private isLatin1 = true;

  constructor(private readonly text: string) {
    this.units = new Uint16Array(text.length * unitsMax + 2);
  }

  run(): string {
    const { text } = this;
    this.add(quote);
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit < 0xd800 || unit > 0xdfff) {
        this.addBasic(unit);
        continue;
      }
      const point = text.codePointAt(at)!;
      if (point <= 0xffff) this.add(replacement);
      else {
        this.addAstral(point, unit, text.charCodeAt(at + 1));
        at++;
      }
    }
    this.add(quote);
    const written = this.units.subarray(0, this.length);
    return this.isLatin1
      ? Buffer.from(written).toString('latin1')
      : Buffer.from(written.buffer, 0, this.length * 2).toString('utf16le');
  }

  private add(unit: number): void {
    this.units[this.length++] = unit;
    if (unit > 0xff) this.isLatin1 = false;
  }

  private addBasic(unit: number): void {
    if ((printed[unit] ||= this.findPrinted(unit)) === isPrinted) return this.add(unit);
    const escape = unit <= backslash ? goEscapes[String.fromCharCode(unit)] : undefined;
    this.add(backslash);
    if (escape !== undefined) return this.add(escape.charCodeAt(1));
    const isShort = unit < 0x20 || unit === 0x7f;
    this.add((isShort ? 'x' : 'u').charCodeAt(0));
    this.addDigits(unit, isShort ? 2 : 4);
  }

  private addAstral(point: number, high: number, low: number): void {
    if (point !== this.lastPoint) {
      this.lastPoint = point;
      this.isLastPrinted = !unprintable.test(String.fromCodePoint(point));
    }
    if (this.isLastPrinted) {
      this.add(high);
      return this.add(low);
    }
    this.add(backslash);
    this.add('U'.charCodeAt(0));
    this.addDigits(point, 8);
  }

  private addDigits(value: number, count: number): void {
    for (let shift = 4 * (count - 1); shift >= 0; shift -= 4) this.add(digits[(value >>> shift) & 15]!);
  }

  private findPrinted(unit: number): number {
    const isSpecial = unit === quote || unit === backslash || unprintable.test(String.fromCharCode(unit));
    return isSpecial ? isEscaped : isPrinted;
  }
}
