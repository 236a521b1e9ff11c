const int64Max = 2n ** 63n - 1n;

/** As Go's strconv.ParseInt reads it; undefined when it is no integer of 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > 64 || !/^[-+]?[0-9]+$/.test(text)) return undefined;
  const number = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return number > int64Max || number < -int64Max - 1n ? undefined : number;
}
