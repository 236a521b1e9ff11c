/**
 * Compares keys by their UTF-8 bytes. JavaScript compares UTF-16 units, which differs in one case: surrogates
 * (0xD800–0xDFFF, for code points above 0xFFFF) sort below 0xE000–0xFFFF there, and above them in UTF-8.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? utf8Rank(x) - utf8Rank(y) : x - y;
  }
  return a.length - b.length;
}

const utf8Rank = (unit: number) => (unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** Returns the greater of two lower bounds. */
export function laterKey(a: string, b: string | undefined): string {
  return b !== undefined && compareKeys(b, a) > 0 ? b : a;
}
