/** A broken invariant, which is a bug of this server. Fails the request, or the test. */
class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Compiles only if the type has no values. Does nothing at run time. */
export function requireNever<_Type extends never>(): void {}
