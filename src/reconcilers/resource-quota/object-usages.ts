import { zero, type Amounts } from '../../admission/amounts.js';
import type { Evaluator } from '../../admission/quota/evaluator.js';
import type { scopesOf } from '../../admission/quota/scopes.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import { Quantity } from '../../machinery/quantity.js';
import type { LoopYieldTimer } from '../../std/loop-yield-timer.js';

type Scopes = ReturnType<typeof scopesOf>;

/** The usage of one revision of an object, and the scopes that match it. */
interface ObjectUsage {
  readonly usage: Amounts;
  readonly matches: Map<string, boolean>;
}

/** Sums the usage of the objects of one resource. Usages are cached by revision, so that counting again parses few. */
export class ObjectUsages {
  private readonly known = new WeakMap<EncodedObject, ObjectUsage>();

  constructor(private readonly evaluator: Evaluator) {}

  /** Sums the usage of these names, all of which the evaluator counts. */
  async count(
    names: readonly string[],
    scopes: Scopes,
    objects: Iterable<EncodedObject>,
    { nowMs, yieldTimer }: { readonly nowMs: number; readonly yieldTimer: LoopYieldTimer },
  ): Promise<Amounts> {
    const { countedNames } = this.evaluator;
    if (countedNames) return this.countUnparsed(names, scopes, objects);
    const total = new Map(names.map((name) => [name, zero]));
    for (const object of objects) {
      if (yieldTimer.isDue()) await yieldTimer.yield();
      if (object.corruption) continue;
      const { usage, matches } = this.usageOf(object, scopes, nowMs);
      if (!scopes.every((scope) => matches.get(keyOf(scope)))) continue;
      for (const name of names) {
        const amount = usage.get(name);
        if (!amount || amount.isZero) continue;
        const before = total.get(name)!;
        // The format of the first amount is the format of the sum.
        total.set(name, before.isZero ? amount : before.add(amount));
      }
    }
    return total;
  }

  private countUnparsed(names: readonly string[], scopes: Scopes, objects: Iterable<EncodedObject>): Amounts {
    let count = 0;
    // No scope matches objects that are only counted.
    if (scopes.length === 0) for (const _object of objects) count++;
    const amount = Quantity.ofInteger(count);
    return new Map(names.map((name) => [name, amount]));
  }

  private usageOf(object: EncodedObject, scopes: Scopes, nowMs: number): ObjectUsage {
    const known = this.known.get(object);
    if (known && scopes.every((scope) => known.matches.has(keyOf(scope)))) return known;
    const parsed = object.parse();
    const matches = new Map(known?.matches);
    for (const scope of scopes) matches.set(keyOf(scope), this.evaluator.matchesScope(scope, parsed));
    const computed = { usage: this.evaluator.usage(parsed, nowMs), matches };
    // The usage of an object that is being deleted depends on the time, so that it is not cached.
    if (!object.attributes.lifetime?.isDeleting) this.known.set(object, computed);
    return computed;
  }
}

const keyOf = ({ scopeName, operator, values }: Scopes[number]): string => `${scopeName} ${operator} ${values.join()}`;
