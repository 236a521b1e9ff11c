import { spend } from '../work.js';

/**
 * Searches of texts in linear time. JavaScript's own searches may compare each character of the text with each one of
 * the part; they are used where that is a small number.
 */
const comparisonsMax = 1_000_000;
const shortPartMax = 8;

const isSmall = (text: string, part: string): boolean =>
  part.length <= shortPartMax || text.length * part.length <= comparisonsMax;

/** Returns the index of the first occurrence from `from` on; -1 if there is none. */
export function searchIn(text: string, part: string, from: number): number {
  return isSmall(text, part) ? text.indexOf(part, from) : new LinearSearch(part).next(text, from);
}

/** Returns the index of the last occurrence that begins at `from` or before; -1 if there is none. */
export function searchBack(text: string, part: string, from: number): number {
  if (isSmall(text, part)) return text.lastIndexOf(part, from);
  const end = Math.min(from + part.length, text.length);
  spend((end + part.length) * 2);
  const found = new LinearSearch(reversed(part)).next(reversed(text.slice(0, end)), 0);
  return found < 0 ? -1 : end - found - part.length;
}
const reversed = (text: string): string => Buffer.from(text, 'utf16le').swap16().reverse().toString('utf16le');

/** Splits at each occurrence of the separator, into `partsMax` parts at most; the last one is the rest. */
export function splitAt(text: string, separator: string, partsMax: number): string[] {
  spend(20);
  if (isSmall(text, separator) && partsMax === Infinity) {
    const all = text.split(separator);
    spend(all.length);
    return all;
  }
  const search = isSmall(text, separator) ? undefined : new LinearSearch(separator);
  const parts: string[] = [];
  let at = 0;
  while (parts.length < partsMax - 1) {
    const found = search ? search.next(text, at) : text.indexOf(separator, at);
    if (found < 0) break;
    parts.push(text.slice(at, found));
    at = found + separator.length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** The algorithm of Knuth, Morris and Pratt. */
class LinearSearch {
  /** For each length of a match: the length of the longest shorter match that ends at the same place. */
  private readonly shorter: Int32Array;

  constructor(private readonly part: string) {
    spend(part.length / 2);
    this.shorter = new Int32Array(part.length + 1);
    let matched = 0;
    for (let index = 1; index < part.length; index++) {
      const unit = part.charCodeAt(index);
      while (matched > 0 && part.charCodeAt(matched) !== unit) matched = this.shorter[matched]!;
      if (part.charCodeAt(matched) === unit) matched++;
      this.shorter[index + 1] = matched;
    }
  }

  next(text: string, from: number): number {
    const { part, shorter } = this;
    let matched = 0;
    for (let index = from; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      while (matched > 0 && part.charCodeAt(matched) !== unit) matched = shorter[matched]!;
      if (part.charCodeAt(matched) === unit) matched++;
      if (matched < part.length) continue;
      spend((index - from) / 3);
      return index + 1 - matched;
    }
    spend((text.length - from) / 3);
    return -1;
  }
}
