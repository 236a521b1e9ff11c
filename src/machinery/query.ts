import { splitText } from '../std/split-text.js';

/**
 * The query of a URL, parsed on first use. Pairs that cannot be decoded or contain `;` are dropped, as in
 * kube-apiserver; '+' is a space. A Map, so that names cannot reach a prototype.
 */
export class Query {
  private values: Map<string, string[]> | undefined;
  private bare: Set<string> | undefined;
  constructor(readonly raw: string) {}

  /** Returns the first value; '' for a parameter without value. */
  first(name: string): string | undefined {
    return this.raw === '' ? undefined : this.parsed().get(name)?.[0];
  }
  all(name: string): readonly string[] {
    return this.raw === '' ? none : (this.parsed().get(name) ?? none);
  }
  has(name: string): boolean {
    return this.raw !== '' && this.parsed().has(name);
  }
  /** True if the parameter occurs as `?name`, without an equals sign. */
  isBare(name: string): boolean {
    return this.raw !== '' && this.parsed().has(name) && this.bare?.has(name) === true;
  }
  names(): IterableIterator<string> {
    return this.parsed().keys();
  }

  private parsed(): Map<string, string[]> {
    if (this.values !== undefined) return this.values;
    const values = new Map<string, string[]>();
    for (const pair of splitText(this.raw, '&')) {
      if (pair === '' || pair.includes(';')) continue;
      const equals = pair.indexOf('=');
      const name = unescape(equals < 0 ? pair : pair.slice(0, equals));
      const value = equals < 0 ? '' : unescape(pair.slice(equals + 1));
      if (name === undefined || value === undefined) continue;
      const known = values.get(name);
      if (known !== undefined) known.push(value);
      else values.set(name, [value]);
      if (equals >= 0) this.bare?.delete(name);
      else if (known === undefined) (this.bare ??= new Set()).add(name);
    }
    return (this.values = values);
  }
}

const none: readonly string[] = [];
export const emptyQuery = new Query('');

/** Parses a boolean parameter: only absent, `false` and `0` are false. */
export function isTrueParameter(value: string | undefined): boolean {
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
}

function unescape(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? percentDecode(spaced) : spaced;
}

/** Returns undefined if a `%` is not followed by two hex digits. Bytes that are not UTF-8 become U+FFFD. */
export function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    const bytes = Buffer.from(text);
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      let byte = bytes[at]!;
      if (byte === 0x25) {
        const high = hexDigit(bytes[at + 1]);
        const low = hexDigit(bytes[at + 2]);
        if (high < 0 || low < 0) return undefined;
        byte = high * 16 + low;
        at += 2;
      }
      bytes[length++] = byte;
    }
    return bytes.toString('utf8', 0, length);
  }
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
