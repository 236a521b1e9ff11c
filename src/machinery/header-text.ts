const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of a header, whose bytes Node shows as one character each. Undefined if they are no UTF-8: two wrong names
 * must not become one by the character that stands for what cannot be read.
 */
export function headerText(value: string): string | undefined {
  try {
    return strictUtf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return undefined;
  }
}
