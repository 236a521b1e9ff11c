/** An int64 of Go. Decoders return a bigint if a double would lose digits, otherwise a number. */
export type Int64 = number | bigint;

export const int64Max = 2n ** 63n - 1n;
export const int64Min = -(2n ** 63n);

/** True for a value of an int64 field that is set. */
export function isInt64(value: unknown): value is Int64 {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

/** Returns the value as decoders do: a bigint only if a double would lose digits. */
export function toInt64(value: bigint): Int64 {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
}

/** Returns the next metadata.generation. The largest int64 stays, since a negative generation would be invalid. */
export function nextGeneration(generation: Int64 | undefined): Int64 {
  const next = BigInt(generation ?? 0) + 1n;
  return toInt64(next > int64Max ? int64Max : next);
}
