/**
 * Compares texts by their UTF-8 bytes, which is the order of code points and that of Go. UTF-16 order differs between
 * surrogates and units from 0xE000 on.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    return x >= 0xd800 && y >= 0xd800 ? liftSurrogate(x) - liftSurrogate(y) : x - y;
  }
  return a.length - b.length;
}

const liftSurrogate = (unit: number) => (unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
