/** A broken invariant is our own bug: the request (or the test run) fails, with this error. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

export function unreachable(value: never, what: string): never {
  throw new AssertionError(`${what}: ${String(value)}`);
}
