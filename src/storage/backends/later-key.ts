import { compareUtf8 } from '../../std/compare-utf8.js';

/** Returns the greater of two lower bounds. */
export function laterKey(a: string, b: string | undefined): string {
  return b !== undefined && compareUtf8(b, a) > 0 ? b : a;
}
