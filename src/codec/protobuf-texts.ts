const slots = 1024;
const lengthMax = 32;

/**
 * Texts from bytes. Objects say the same few words over and over (`v1`, `Always`, `metadata.namespace`), so short ones
 * are looked up among those that were read lately: that costs less than making them, and equal texts share memory.
 */
export class ProtobufTexts {
  private readonly recent: string[] = new Array<string>(slots).fill('');

  of(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === 0) return '';
    if (length > lengthMax) return bytes.toString('utf8', start, end);
    let hash = length;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
    const slot = (hash ^ (hash >>> 15)) & (slots - 1);
    const known = this.recent[slot]!;
    if (known.length === length && matches(known, bytes, start)) return known;
    return (this.recent[slot] = bytes.toString('utf8', start, end));
  }
}

/** Of plain letters alone: others have more bytes than characters, or one that is no character of a text. */
function matches(text: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
