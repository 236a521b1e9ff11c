/** Instructions at which a search stands, in order of preference, each with the index at which its match begins. */
export class Threads {
  readonly pcs: Int32Array;
  readonly starts: Int32Array;
  size = 0;
  /** True if one of them has a match. */
  hasMatch = false;
  /** Instructions that `Program.follow` has yet to execute. */
  readonly stack: Int32Array;
  /** The round in which each instruction was visited last. */
  private readonly visits: Float64Array;
  private round = 1;

  constructor(readonly capacity: number) {
    this.pcs = new Int32Array(capacity);
    this.starts = new Int32Array(capacity);
    this.stack = new Int32Array(capacity);
    this.visits = new Float64Array(capacity);
  }

  clear(): void {
    this.size = 0;
    this.hasMatch = false;
    this.round++;
  }

  /** Returns false if the instruction was visited since the last `clear`. */
  visit(pc: number): boolean {
    if (this.visits[pc] === this.round) return false;
    this.visits[pc] = this.round;
    return true;
  }

  add(pc: number, startsAt: number): void {
    this.pcs[this.size] = pc;
    this.starts[this.size++] = startsAt;
  }

  /** Returns the instructions in their order. */
  sorted(): Int32Array {
    return this.pcs.slice(0, this.size).sort();
  }

  /** Begins with the threads of a state, of which only a match is asked, not its start. */
  load(pcs: Int32Array): void {
    this.pcs.set(pcs);
    this.size = pcs.length;
  }
}

let lists: readonly [Threads, Threads] = [new Threads(256), new Threads(256)];

/** Returns two empty lists for a program of this size. All searches use the same ones, since none interrupts another. */
export function twoLists(size: number): readonly [Threads, Threads] {
  if (lists[0].capacity < size) lists = [new Threads(2 * size), new Threads(2 * size)];
  for (const threads of lists) threads.clear();
  return lists;
}
