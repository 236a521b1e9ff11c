/** Returns the words without the options of a command, which leaves the flags of the server. */
export function withoutOptions(
  words: readonly string[],
  withValue: readonly string[],
  alone: readonly string[] = [],
): string[] {
  const rest: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (withValue.includes(word)) i++;
    else if (!alone.includes(word) && !withValue.some((name) => word.startsWith(`${name}=`))) rest.push(word);
  }
  return rest;
}
