/** Bytes in JSON: base64 with padding; line breaks are ignored. */
export function canonicalBase64(text: string): { readonly text: string } | { readonly badByteAt: number } {
  const canonical = Buffer.from(text, 'base64').toString('base64');
  // Valid if it encodes to the same text: Buffer.from() ignores errors.
  if (canonical === text) return { text };
  const badByteAt = firstBadByte(text);
  return badByteAt === undefined ? { text: canonical } : { badByteAt };
}

const padding = '='.charCodeAt(0);
const other = 0;
const digit = 1;
const lineBreak = 2;
const kinds = new Uint8Array(128);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  kinds[char.charCodeAt(0)] = digit;
for (const char of '\r\n') kinds[char.charCodeAt(0)] = lineBreak;

/** The position of the first invalid byte, counted as Go does; undefined if the text is valid. */
function firstBadByte(text: string): number | undefined {
  let inGroup = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = kinds[code] ?? other;
    if (kind === lineBreak) continue;
    if (kind === digit) inGroup = (inGroup + 1) % 4;
    else return code === padding ? afterPadding(text, at, inGroup) : at;
  }
  return inGroup === 0 ? undefined : text.length - inGroup;
}

/** Two digits are followed by two padding characters, three by one, and nothing follows the padding. */
function afterPadding(text: string, at: number, inGroup: number): number | undefined {
  if (inGroup < 2) return at;
  let end = skipBreaks(text, at + 1);
  if (inGroup === 2) {
    if (end === text.length) return text.length;
    if (text.charCodeAt(end) !== padding) return end - 1;
    end = skipBreaks(text, end + 1);
  }
  return end < text.length ? end : undefined;
}

function skipBreaks(text: string, from: number): number {
  let at = from;
  while (kinds[text.charCodeAt(at)] === lineBreak) at++;
  return at;
}
