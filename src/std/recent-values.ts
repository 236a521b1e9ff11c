/** Keeps the values of the texts that were asked for last, so that many users of one text share its value. */
export class RecentValues<T> {
  private young = new Map<string, T>();
  private old = new Map<string, T>();

  constructor(
    private readonly valuesMax: number,
    private readonly make: (text: string) => T,
  ) {}

  get(text: string): T {
    const known = this.young.get(text);
    if (known !== undefined) return known;
    const value = this.old.get(text) ?? this.make(text);
    if (this.young.size >= this.valuesMax / 2) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(text, value);
    return value;
  }
}
