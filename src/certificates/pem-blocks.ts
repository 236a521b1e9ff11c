export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
  /** The block from its BEGIN line to its END line. */
  readonly text: string;
}

const beginning = '-----BEGIN ';
const ending = '\n-----END ';
const dashes = '-----';

/**
 * Returns the PEM blocks of a text that Go finds: a block begins with the last BEGIN line before an END line of its type.
 * Text between blocks is ignored, and malformed blocks. Each part of the text is searched once, so the time is linear.
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let at = 0;
  for (;;) {
    const end = text.indexOf(ending, at);
    if (end < 0) return blocks;
    const begin = text.slice(at, end).lastIndexOf(beginning);
    const block = begin < 0 ? undefined : blockBetween(text, at + begin, end);
    if (block) blocks.push(block);
    at = end + ending.length;
  }
}

/** Parses the block between the BEGIN at `begin` and the END line after the line break at `end`. */
function blockBetween(text: string, begin: number, end: number): PemBlock | undefined {
  if (begin > 0 && text[begin - 1] !== '\n') return undefined;
  const headersAt = nextLine(text, begin);
  const typeLine = withoutSpacesAtEnd(text.slice(begin + beginning.length, headersAt));
  if (!typeLine.endsWith(dashes)) return undefined;
  const type = typeLine.slice(0, -dashes.length);
  let bodyAt = headersAt;
  while (bodyAt <= end && text.slice(bodyAt, nextLine(text, bodyAt)).includes(':')) bodyAt = nextLine(text, bodyAt);
  const hasHeaders = bodyAt > headersAt;
  if (hasHeaders && bodyAt > end) return undefined;

  const closing = `${type}${dashes}`;
  const closingAt = end + ending.length;
  if (!text.startsWith(closing, closingAt)) return undefined;
  const closedAt = closingAt + closing.length;
  if (withoutSpacesAtEnd(text.slice(closedAt, nextLine(text, closedAt))) !== '') return undefined;

  const digits = text.slice(bodyAt, Math.max(bodyAt, end)).replace(/[ \t\r\n]+/g, '');
  if (digits.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) return undefined;
  return { type, hasHeaders, bytes: Buffer.from(digits, 'base64'), text: text.slice(begin, closedAt) };
}

/** Returns the position after the next line break, or the length of the text. */
function nextLine(text: string, from: number): number {
  const lineBreak = text.indexOf('\n', from);
  return lineBreak < 0 ? text.length : lineBreak + 1;
}

/** Removes spaces, tabs and line breaks at the end. */
function withoutSpacesAtEnd(text: string): string {
  let length = text.length;
  while (length > 0 && ' \t\r\n'.includes(text[length - 1]!)) length--;
  return text.slice(0, length);
}
