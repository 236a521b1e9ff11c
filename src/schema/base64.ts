/** Bytes in JSON: base64 with padding; line breaks between the digits are passed over. */
export function canonicalBase64(text: string): { readonly text: string } | { readonly badByteAt: number } {
  const canonical = Buffer.from(text, 'base64').toString('base64');
  // What comes out as it went in was right: the decoder is lenient, but its encoder is not.
  if (canonical === text) return { text };
  const badByteAt = firstBadByte(text);
  return badByteAt === undefined ? { text: canonical } : { badByteAt };
}

const padding = '=';
const isDigit = (char: string): boolean => /^[A-Za-z0-9+/]$/.test(char);
const isBreak = (char: string | undefined): boolean => char === '\n' || char === '\r';

/** Where decoding stops, counted as Go does it; undefined when it does not. */
function firstBadByte(text: string): number | undefined {
  const skipBreaks = (from: number): number => {
    let at = from;
    while (isBreak(text[at])) at++;
    return at;
  };
  let inGroup = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (isBreak(char)) continue;
    if (isDigit(char)) {
      inGroup = (inGroup + 1) % 4;
      continue;
    }
    if (char !== padding || inGroup < 2) return at;
    let end = skipBreaks(at + 1);
    if (inGroup === 2) {
      if (end === text.length) return text.length;
      if (text[end] !== padding) return end - 1;
      end = skipBreaks(end + 1);
    }
    return end < text.length ? end : undefined;
  }
  return inGroup === 0 ? undefined : text.length - inGroup;
}
