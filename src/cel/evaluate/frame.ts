import type { Value } from '../values/value.js';
import type { WorkBudget } from '../work.js';
import { limitExceeded, stepsPerCost } from '../work.js';

/** A running evaluation: its variables, and its cost up to now. */
export class Frame {
  cost = 0;
  /** The variables of macros. */
  readonly slots: (Value | undefined)[];
  /** The declared variables that were read; each is converted once. */
  readonly loaded: (Value | undefined)[] = [];

  constructor(
    readonly bindings: Readonly<Record<string, unknown>>,
    private readonly costLimit: number,
    private readonly work: WorkBudget,
    slotCount: number,
  ) {
    this.slots = slotCount === 0 ? noSlots : new Array<Value | undefined>(slotCount);
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.costLimit) throw limitExceeded;
    this.work.spend(cost * stepsPerCost);
  }
}
const noSlots: (Value | undefined)[] = [];

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;
