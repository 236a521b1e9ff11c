// A text in parts, of which a text box shows one: browsers lay out all lines of a box, also those that are not visible.

const partLength = 48 * 1024;

/** Splits a text after lines, and lines that are longer than a part between characters. The parts joined are the text. */
export function partsOf(text, lengthMax = partLength) {
  if (text.length <= 1.5 * lengthMax) return [text];
  const parts = [];
  for (let begin = 0; begin < text.length;) {
    const end = endOfPart(text, begin, lengthMax);
    parts.push(text.slice(begin, end));
    begin = end;
  }
  return parts;
}

function endOfPart(text, begin, lengthMax) {
  const limit = begin + lengthMax;
  if (limit >= text.length) return text.length;
  const newline = text.lastIndexOf('\n', limit - 1);
  if (newline >= begin) return newline + 1;
  const isPair = (text.charCodeAt(limit - 1) & 0xfc00) === 0xd800;
  return isPair ? limit + 1 : limit;
}

/** A part that has grown as much is split anew. */
export const isOversized = (part) => part.length > 3 * partLength;

export function countLines(text) {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
