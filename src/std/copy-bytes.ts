/**
 * Copies a part of `source`, as far as there is room, and returns its length. Unlike copy() of Node 20 also fast if one of the
 * two is shared memory, which V8 copies byte by byte.
 */
export function copyBytes(source: Buffer, target: Buffer, at: number, start = 0, end = source.length): number {
  const length = Math.min(end - start, target.length - at);
  if (length <= 0) return 0;
  target.fill(source.subarray(start, start + length), at, at + length);
  return length;
}
