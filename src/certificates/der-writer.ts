/** Encodes DER (X.690): each function returns one whole element, including tag and length. */

export function derElement(tag: number, ...contents: readonly Buffer[]): Buffer {
  const length = contents.reduce((sum, content) => sum + content.length, 0);
  return Buffer.concat([Buffer.from([tag]), lengthBytes(length), ...contents]);
}

export const derSequence = (...contents: readonly Buffer[]) => derElement(0x30, ...contents);
export const derOctets = (content: Buffer) => derElement(0x04, content);
export const derTrue = derElement(0x01, Buffer.from([0xff]));
export const derNull = derElement(0x05);
/** Encodes an object identifier, given the hex of its contents. */
export const derId = (hex: string) => derElement(0x06, Buffer.from(hex, 'hex'));
/** Encodes a bit string of whole bytes. */
export const derBits = (content: Buffer) => derElement(0x03, Buffer.from([0]), content);

/** Encodes a bit string of named bits, the most significant first, without trailing zeros. */
export function derNamedBits(bits: readonly number[]): Buffer {
  const last = Math.max(...bits);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const bit of bits) bytes[Math.floor(bit / 8)]! |= 0x80 >> (bit % 8);
  return derElement(0x03, Buffer.from([7 - (last % 8)]), bytes);
}

/** Encodes a positive integer, given its bytes. */
export function derPositive(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const content = bytes.subarray(start);
  return derElement(0x02, ...(content[0]! >= 0x80 ? [Buffer.from([0])] : []), content);
}

/** Encodes a time: UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280, 4.1.2.5). */
export function derTime(timeMs: number): Buffer {
  const digits = `${new Date(timeMs).toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  const isUtc = digits < '2050';
  return derElement(isUtc ? 0x17 : 0x18, Buffer.from(isUtc ? digits.slice(2) : digits, 'latin1'));
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}
