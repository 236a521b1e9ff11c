/** Encodes text as the value of a header, of which Node writes each character as a byte; undefined if that is impossible. */
export function headerValue(text: string): string | undefined {
  // Control characters would end the header.
  if (/[\u0000-\u001f\u007f]/.test(text)) return undefined;
  return Buffer.from(text, 'utf8').toString('latin1');
}
