const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;
const slash = 0x2f;
const letterU = 0x75;

const metadataKey = Buffer.from('"metadata":{');
const objectEnd = Buffer.from('}');

/**
 * Returns the JSON of an object with `newHead` and its metadata alone, cut from its bytes: `head`, metadata, other fields.
 * Returns undefined if the bytes have another order, or if the metadata has white space between its tokens or escapes
 * that this server does not write: they would be different after parsing.
 */
export function metadataBytes(object: Buffer, head: Buffer, newHead: Buffer): Buffer | undefined {
  const start = head.length;
  const openBraceAt = start + metadataKey.length - 1;
  if (object.length <= openBraceAt) return undefined;
  if (head.compare(object, 0, start) !== 0 || metadataKey.compare(object, start, openBraceAt + 1) !== 0)
    return undefined;
  const end = endOfMetadata(object, openBraceAt);
  return end < 0 ? undefined : Buffer.concat([newHead, object.subarray(start, end), objectEnd]);
}

/** Returns the position after the closing brace of the JSON object that begins at `start`, or -1. */
function endOfMetadata(bytes: Buffer, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) isInString = !isInString;
    else if (isInString) {
      if (byte !== backslash) continue;
      const escaped = bytes[++at];
      if (escaped === letterU || escaped === slash) return -1;
    } else if (byte === openBrace) depth++;
    else if (byte === closeBrace) {
      if (--depth === 0) return at + 1;
    } else if (byte <= space) return -1;
  }
  return -1;
}
