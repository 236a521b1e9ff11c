/** Thrown when an evaluation exceeds its cost limit or its work limit. */
export const limitExceeded = new Error('operation cancelled: actual cost limit exceeded');

/** Thrown when a compilation exceeds its work limit. */
export const expressionTooLarge = new Error('expression too large');

/**
 * The work of an evaluation, in steps of about 10 ns. Costs are part of the API and computed as the reference does: the
 * comparison of two lists of 3 MB may cost 1. Each unit of cost counts as `stepsPerCost` steps; functions that do more
 * work than their cost pays for call `spend`.
 */
export class WorkBudget {
  private sizes: Map<unknown, number> | undefined;
  private readonly long: { readonly text: string; readonly size: number }[] = [];
  /** Work that is counted once in an evaluation. */
  private done: Map<OnceOf, Set<string>> | undefined;

  private left: number;

  constructor(
    private readonly stepsMax: number,
    private readonly failure: Error = limitExceeded,
  ) {
    this.left = stepsMax;
  }

  get spent(): number {
    return this.stepsMax - this.left;
  }

  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw this.failure;
  }

  spendOnce(of: OnceOf, key: string, steps: number): void {
    const done = this.doneOf(of);
    if (done.has(key)) return;
    done.add(key);
    this.spend(steps);
  }

  private doneOf(of: OnceOf): Set<string> {
    this.done ??= new Map();
    let keys = this.done.get(of);
    if (!keys) this.done.set(of, (keys = new Set()));
    return keys;
  }

  recall(of: unknown): number | undefined {
    if (typeof of === 'string' && of.length > hashedLengthMax) return this.recallLong(of);
    return this.sizes?.get(of);
  }
  remember(of: unknown, size: number): void {
    if (typeof of !== 'string' || of.length <= hashedLengthMax) (this.sizes ??= new Map()).set(of, size);
    else if (this.long.push({ text: of, size }) > longTextsMax) this.long.shift();
  }

  private recallLong(text: string): number | undefined {
    for (const known of this.long) {
      if (known.text.length !== text.length) continue;
      this.spend(text.length / 2000);
      if (known.text === text) return known.size;
    }
    return undefined;
  }
}

/** JavaScript hashes longer texts by their length only, so that it compares all that have the same length. */
const hashedLengthMax = 16_383;
/** Long texts whose sizes are kept. */
const longTextsMax = 8;

/** Steps that a unit of cost pays for: 30 ns. */
export const stepsPerCost = 3;
/** Steps of an evaluation for which its cost does not have to pay: 20 ms. */
const unpaidStepsMax = 2_000_000;
/** Limit on the work of one evaluation, if its caller sets no other: 50 ms for the cost limit of Kubernetes, 1,000,000. */
export const evaluationSteps = (costLimit: number): number => unpaidStepsMax + stepsPerCost * costLimit;

/**
 * Work of a compilation, besides that which is linear in the expression: comparing types, copying targets of macros,
 * compiling patterns. 10 ms, and as much for every 10,000 characters.
 */
export const compilationStepsMax = (characters: number): number => 1_000_000 + 100 * characters;

const unlimited = new WorkBudget(Infinity);
/** The budget of the running evaluation or compilation. Both are synchronous, so there is only one. */
let current = unlimited;

/** Runs an evaluation or a compilation within a budget; throws its failure when the budget is spent. */
export function within<T>(budget: WorkBudget, run: () => T): T {
  const outer = current;
  current = budget;
  try {
    return run();
  } finally {
    current = outer;
  }
}

/** Counts work in the running evaluation or compilation. */
export function spend(steps: number): void {
  current.spend(steps);
}

/**
 * Counts work whose result a cache keeps, once in the running evaluation or compilation: whether an older one has filled
 * the cache must not decide about its outcome.
 */
export function spendOnce(of: OnceOf, key: string, steps: number): void {
  if (current !== unlimited) current.spendOnce(of, key, steps);
}
type OnceOf = 'pattern' | 'time zone';

/** Counts work that is linear in a text; nothing for texts of usual length. */
export function spendOnText(text: string, stepsPerCharacter: number): void {
  if (text.length > 256) current.spend(text.length * stepsPerCharacter);
}

/** Counts the comparisons of a long text with others as keys of a map or elements of a set. */
export function spendOnKey(key: unknown, others: number): void {
  if (typeof key === 'string' && key.length > hashedLengthMax) current.spend((others * key.length) / 100);
}

/** Returns the size of a text or of an object that the running evaluation has counted before. */
export function recallSize(of: unknown): number | undefined {
  return current.recall(of);
}
/** Keeps a size for the rest of the running evaluation. */
export function rememberSize(of: unknown, size: number): number {
  if (current !== unlimited) current.remember(of, size);
  return size;
}
