/**
 * The way to a value: `self`, `list`, `@items`. Estimates are part of the API, so paths share their memory as the
 * reference's do: two that continue the same one within its capacity write to the same place, and the later one wins.
 */
export class Path {
  private constructor(
    private readonly parts: string[],
    private readonly length: number,
    private readonly capacity: number,
  ) {}

  static of(name: string): Path {
    return new Path([name], 1, 1);
  }
  static readonly empty = new Path([], 0, 0);

  append(part: string): Path {
    if (this.length < this.capacity) {
      this.parts[this.length] = part;
      return new Path(this.parts, this.length + 1, this.capacity);
    }
    const capacity = Math.max(1, this.capacity * 2);
    return new Path([...this.parts.slice(0, this.length), part], this.length + 1, capacity);
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }
  get names(): readonly string[] {
    return this.parts.slice(0, this.length);
  }
}
