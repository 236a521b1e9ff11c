import { nothing, type Amounts } from '../../admission/amounts.js';
import type { Evaluator } from '../../admission/quota/evaluator.js';
import type { scopesOf } from '../../admission/quota/scopes.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import { Quantity } from '../../machinery/quantity.js';
import type { LoopYieldTimer } from '../../std/loop-yield-timer.js';

type Scopes = ReturnType<typeof scopesOf>;

/** What one state of an object takes, and which scopes it is in. */
interface Taken {
  readonly usage: Amounts;
  readonly matches: Map<string, boolean>;
}

/** What the objects of one resource take. It is remembered by their states, so that counting again looks at few. */
export class ObjectUsages {
  private readonly known = new WeakMap<EncodedObject, Taken>();

  constructor(private readonly evaluator: Evaluator) {}

  /** Of those names that the resource has a part in. */
  async count(
    names: readonly string[],
    scopes: Scopes,
    objects: Iterable<EncodedObject>,
    { nowMs, yieldTimer }: { readonly nowMs: number; readonly yieldTimer: LoopYieldTimer },
  ): Promise<Amounts> {
    const { countedNames } = this.evaluator;
    if (countedNames) return this.countAlike(names, scopes, objects);
    const total = new Map(names.map((name) => [name, nothing]));
    for (const object of objects) {
      if (yieldTimer.isDue()) await yieldTimer.yield();
      if (object.corruption) continue;
      const { usage, matches } = this.takenBy(object, scopes, nowMs);
      if (!scopes.every((scope) => matches.get(keyOf(scope)))) continue;
      for (const name of names) {
        const amount = usage.get(name);
        if (!amount || amount.isZero) continue;
        const before = total.get(name)!;
        // The first one says how the sum is written.
        total.set(name, before.isZero ? amount : before.add(amount));
      }
    }
    return total;
  }

  private countAlike(names: readonly string[], scopes: Scopes, objects: Iterable<EncodedObject>): Amounts {
    let count = 0;
    // Objects that are all alike are in no scope.
    if (scopes.length === 0) for (const _object of objects) count++;
    const amount = Quantity.ofInteger(count);
    return new Map(names.map((name) => [name, amount]));
  }

  private takenBy(object: EncodedObject, scopes: Scopes, nowMs: number): Taken {
    const known = this.known.get(object);
    if (known && scopes.every((scope) => known.matches.has(keyOf(scope)))) return known;
    const parsed = object.parse();
    const matches = new Map(known?.matches);
    for (const scope of scopes) matches.set(keyOf(scope), this.evaluator.matchesScope(scope, parsed));
    const taken = { usage: this.evaluator.usage(parsed, nowMs), matches };
    // What is being deleted stops to count by itself, in time.
    if (!object.attributes.lifetime?.isDeleting) this.known.set(object, taken);
    return taken;
  }
}

const keyOf = ({ scopeName, operator, values }: Scopes[number]): string => `${scopeName} ${operator} ${values.join()}`;
