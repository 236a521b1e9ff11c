/** The number of indexes in a text like `1,3-5,7`, or the error if it is invalid or not in increasing order. */
type ParsedIndexes = { readonly total: number } | { readonly problem: string };

export function parseIndexes(text: string, completions: number): ParsedIndexes {
  if (text === '') return { total: 0 };
  let total = 0;
  let last: number | undefined;
  for (const interval of text.split(',')) {
    const limits = interval.split('-');
    if (limits.length > 2) {
      return {
        problem: `the fragment "${interval}" violates the requirement that an index interval can have at most two parts separated by '-'`,
      };
    }
    const numbers: number[] = [];
    for (const limit of limits) {
      if (!/^[-+]?[0-9]+$/.test(limit)) return { problem: `cannot convert string to integer for index: "${limit}"` };
      const index = Number(limit);
      if (index >= completions) return { problem: `too large index: "${limit}"` };
      const previous = numbers[0];
      if (previous !== undefined && previous >= index) return falling(previous, index);
      numbers.push(index);
    }
    const [first, end] = [numbers[0]!, numbers.at(-1)!];
    if (last !== undefined && last >= first) return falling(last, first);
    total += end - first + 1;
    last = end;
  }
  return { total };
}

const falling = (previous: number, current: number): ParsedIndexes => ({
  problem: `non-increasing order, previous: ${previous}, current: ${current}`,
});
