/** Does what String.split() does for a separator of one character, but stays in compiled code. */
export function splitText(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at: number; (at = text.indexOf(separator, start)) >= 0; start = at + 1) parts.push(text.slice(start, at));
  parts.push(text.slice(start));
  return parts;
}
