/**
 * Work that yields each promise for which it has to wait. It is written like an async function, but ends in the same turn
 * of the event loop if there is no promise, and then costs none:
 *
 *   const object = yield* awaited(read());
 */
export type Awaiting<T> = Generator<Promise<unknown>, T, unknown>;

/** Waits for the value if it is a promise. */
export function* awaited<T>(value: T | Promise<T>): Awaiting<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/** Runs work to its end. Returns a promise only if the work has yielded one; throws what it throws before. */
export function runAwaiting<T>(work: Awaiting<T>): T | Promise<T> {
  const first = work.next();
  return first.done ? first.value : continued(work, first.value);
}

async function continued<T>(work: Awaiting<T>, first: Promise<unknown>): Promise<T> {
  let next: IteratorResult<Promise<unknown>, T> = { done: false, value: first };
  while (!next.done) {
    const resume: () => IteratorResult<Promise<unknown>, T> = await next.value.then(
      (value) => () => work.next(value),
      (error: unknown) => () => work.throw(error),
    );
    next = resume();
  }
  return next.value;
}
