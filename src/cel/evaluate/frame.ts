import { tooLarge } from '../values/lists.js';
import type { Value } from '../values/value.js';

/** An evaluation under way: the variables, and what it has cost so far. */
export class Frame {
  cost = 0;
  /** The variables of macros. */
  readonly slots: (Value | undefined)[];
  /** The declared variables that were read; each is converted once. */
  readonly loaded: (Value | undefined)[] = [];

  constructor(
    readonly bindings: Readonly<Record<string, unknown>>,
    private readonly costLimit: number,
    slotCount: number,
  ) {
    this.slots = slotCount === 0 ? noSlots : new Array<Value | undefined>(slotCount);
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.costLimit) throw costLimitExceeded;
  }
}
const noSlots: (Value | undefined)[] = [];

/** Thrown when an evaluation has cost more than it may. */
export const costLimitExceeded = tooLarge;

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;
