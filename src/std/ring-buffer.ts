import { assert } from './assert.js';

/**
 * A queue whose entries have permanent numbers: the first pushed is 0, even after others were dropped.
 *
 *   first = 5         next = 8
 *      v                 v
 *   [  5  |  6  |  7  ]  .          get(6) is O(1); push adds 8, shift drops 5, unshift adds 4 (may go below zero)
 *
 * Grows by doubling and shrinks when three quarters are empty.
 */
export class RingBuffer<T> {
  private slots: (T | undefined)[] = new Array<T | undefined>(16).fill(undefined);
  private firstNumber = 0;
  private nextNumber = 0;

  get first(): number {
    return this.firstNumber;
  }
  get next(): number {
    return this.nextNumber;
  }
  get length(): number {
    return this.nextNumber - this.firstNumber;
  }

  get(number: number): T {
    assert(number >= this.firstNumber && number < this.nextNumber, 'the entry is in the ring');
    return this.slots[number & (this.slots.length - 1)]!;
  }

  push(entry: T): void {
    if (this.length === this.slots.length) this.resize(this.slots.length * 2);
    this.slots[this.nextNumber++ & (this.slots.length - 1)] = entry;
  }

  unshift(entry: T): void {
    if (this.length === this.slots.length) this.resize(this.slots.length * 2);
    this.slots[--this.firstNumber & (this.slots.length - 1)] = entry;
  }

  shift(): T {
    const entry = this.get(this.firstNumber);
    this.slots[this.firstNumber++ & (this.slots.length - 1)] = undefined;
    if (this.slots.length > 16 && this.length * 4 < this.slots.length) this.resize(this.slots.length / 2);
    return entry;
  }

  /**
   * Binary search: returns the number of the first entry for which `holds` is true, or `next`. `holds` must be
   * monotonic.
   */
  search(holds: (entry: T) => boolean): number {
    let low = this.firstNumber;
    let high = this.nextNumber;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (holds(this.get(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private resize(length: number): void {
    const slots = new Array<T | undefined>(length).fill(undefined);
    for (let n = this.firstNumber; n < this.nextNumber; n++) slots[n & (length - 1)] = this.get(n);
    this.slots = slots;
  }
}
