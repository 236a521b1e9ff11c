import { int64Max, int64Min } from './int64.js';

/** Parses an integer like Go's strconv.ParseInt; undefined if it is not a 64-bit integer. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > 64 || !/^[-+]?[0-9]+$/.test(text)) return undefined;
  const number = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return number > int64Max || number < int64Min ? undefined : number;
}
