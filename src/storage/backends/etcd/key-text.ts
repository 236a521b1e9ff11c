/**
 * Converts keys to text without loss, since other writers may use bytes that are not UTF-8. Each such byte becomes a
 * lone surrogate, which no key of this server contains, so that the key can be read, skipped and deleted:
 *
 *   2f 61 ff  <->  "/a\\udcff"
 */
export function keyText(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  return text.includes('\ufffd') ? withoutLoss(bytes.subarray(start, end)) : text;
}

export function keyBytes(key: string): Buffer {
  const bytes = Buffer.from(key);
  // Keys of this server are ASCII: one byte per UTF-16 unit.
  if (bytes.length === key.length || !/[\udc80-\udcff]/.test(key)) return bytes;
  return Buffer.concat(
    Array.from(key, (char) => (isByte(char) ? Buffer.of(char.charCodeAt(0) & 0xff) : Buffer.from(char))),
  );
}

/** Array.from() keeps surrogate pairs together, so a lone one stands for a byte. */
const isByte = (char: string): boolean => char.length === 1 && char >= '\udc80' && char <= '\udcff';

function withoutLoss(bytes: Buffer): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes[at]!);
    try {
      text += decoder.decode(bytes.subarray(at, at + length));
      at += length;
    } catch {
      text += String.fromCharCode(0xdc00 | bytes[at]!);
      at++;
    }
  }
  return text;
}

function sequenceLength(first: number): number {
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
