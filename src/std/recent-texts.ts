const slots = 1024;
const lengthMax = 32;

/**
 * Decodes strings from bytes. Objects repeat the same few strings (`v1`, `Always`, `metadata.namespace`), so short ones
 * are looked up among those decoded recently, which is faster than decoding and shares memory.
 */
export class RecentTexts {
  private readonly recent: string[] = new Array<string>(slots).fill('');

  /** `make` decodes bytes that are not found. */
  constructor(private readonly make: (bytes: Buffer, start: number, end: number) => string) {}

  of(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === 0) return '';
    if (length > lengthMax) return this.make(bytes, start, end);
    let hash = length;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
    const slot = (hash ^ (hash >>> 15)) & (slots - 1);
    const known = this.recent[slot]!;
    if (known.length === length && matches(known, bytes, start)) return known;
    return (this.recent[slot] = this.make(bytes, start, end));
  }
}

/** Compares ASCII only: other strings have more bytes than characters. */
function matches(text: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== bytes[start + i] || code > 0x7f) return false;
  }
  return true;
}
