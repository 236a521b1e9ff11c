import fc from 'fast-check';

interface FuzzRun<T> {
  readonly seed: number;
  readonly timeMs: number;
  readonly itemsMax: number;
  /** Number of items that are tried concurrently, each in a lane of its own. */
  readonly lanes: number;
  /** Returns the problem found with an item, if any. */
  readonly check: (item: T, lane: number) => Promise<string | undefined>;
  readonly afterBatch: (batches: number) => Promise<void>;
}

/**
 * Tries batches of items until the time or the number is reached; throws the first problem. Returns the number tried.
 */
export async function fuzzInBatches<T>(items: fc.Arbitrary<T>, run: FuzzRun<T>): Promise<number> {
  const { seed, timeMs, itemsMax, lanes } = run;
  process.stderr.write(`fuzz: seed ${seed}\n`);
  let tried = 0;
  let batches = 0;
  let found: string | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const step = async (batch: readonly T[]) => {
    const problems = await Promise.all(batch.map((item, lane) => run.check(item, lane)));
    tried += batch.length;
    found ??= problems.find((problem) => problem !== undefined);
    if (found !== undefined) throw new Error(found);
    await run.afterBatch(++batches);
  };
  const property = fc.asyncProperty(fc.array(items, { minLength: lanes, maxLength: lanes }), (batch) => {
    const done = step(batch);
    last = done.catch(() => undefined);
    return done;
  });
  await fc.assert(property, {
    seed,
    numRuns: Math.ceil(itemsMax / lanes),
    interruptAfterTimeLimit: timeMs,
    endOnFailure: true,
    reporter: ({ failed, errorInstance }) => {
      if (failed && errorInstance) throw errorInstance as Error;
    },
  });
  // A batch that was running when the time was over still counts.
  await last;
  if (found !== undefined) throw new Error(found);
  return tried;
}
