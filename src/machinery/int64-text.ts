const int64Max = 2n ** 63n - 1n;

/** Parses an integer like Go's strconv.ParseInt; undefined if it is not a 64-bit integer. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > 64 || !/^[-+]?[0-9]+$/.test(text)) return undefined;
  const number = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return number > int64Max || number < -int64Max - 1n ? undefined : number;
}
