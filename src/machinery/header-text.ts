const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a header value, which Node returns as one character per byte. Undefined if it is not UTF-8: replacement
 * characters would make different names equal.
 */
export function headerText(value: string): string | undefined {
  try {
    return strictUtf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return undefined;
  }
}
