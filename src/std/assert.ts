/** A broken invariant, which is a bug of this server. Fails the request, or the test. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

export function unreachable(value: never, what: string): never {
  throw new AssertionError(`${what}: ${String(value)}`);
}
