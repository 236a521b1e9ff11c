/** Returns one string for equal ones, so that those of many objects are in memory once. Bounded: rare ones are forgotten. */
export class InternedStrings {
  private young = new Map<string, string>();
  private old = new Map<string, string>();

  constructor(private readonly stringsMax: number) {}

  get(text: string): string {
    const known = this.young.get(text);
    if (known !== undefined) return known;
    if (text.length > lengthMax) return text;
    const kept = this.old.get(text) ?? text;
    if (this.young.size >= this.stringsMax / 2) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(kept, kept);
    return kept;
  }
}

const lengthMax = 128;
