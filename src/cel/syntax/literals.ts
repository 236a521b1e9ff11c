import type { TokenKind } from './lexer.js';
import { int64Max, int64Min, int, parseDouble, uint64Max } from '../values/numbers.js';
import { encodeUtf8 } from '../values/texts.js';
import type { Value } from '../values/value.js';
import { Double, Uint } from '../values/value.js';

/** Reads the literals of numbers and texts. undefined, or an Error, stands for what is none. */
function intLiteral(text: string, isNegative: boolean): Value | undefined {
  const magnitude = BigInt(text);
  const value = isNegative ? -magnitude : magnitude;
  return value < int64Min || value > int64Max ? undefined : int(value);
}

function uintLiteral(text: string): Value | undefined {
  const value = BigInt(text.slice(0, -1));
  return value > uint64Max ? undefined : new Uint(value);
}

function doubleLiteral(text: string, isNegative: boolean): Value | undefined {
  const value = parseDouble(text);
  return value === undefined ? undefined : new Double(isNegative ? -value : value);
}

const simpleEscapes: Record<string, string> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

/** The content of a quoted literal: text without its quotes, and whether escapes in it count. */
function content(literal: string): { body: string; isRaw: boolean } {
  const text = literal.replace(/\r\n|\r/g, '\n');
  const isRaw = /^[rR]/.test(text);
  const quoted = isRaw ? text.slice(1) : text;
  const isTriple = quoted.length >= 6 && (quoted.startsWith("'''") || quoted.startsWith('"""'));
  return { body: isTriple ? quoted.slice(3, -3) : quoted.slice(1, -1), isRaw };
}

/** The text of a string literal, or the reason why it has none. */
function stringLiteral(literal: string): string | Error {
  const { body, isRaw } = content(literal);
  if (isRaw || !body.includes('\\')) return body;
  let failure: Error | undefined;
  const text = body.replace(escapes, (_, escape: string) => {
    const simple = simpleEscapes[escape];
    if (simple !== undefined) return simple;
    const point = codePointOf(escape);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      failure ??= new Error('invalid unicode code point');
      return '';
    }
    return String.fromCodePoint(point);
  });
  return failure ?? text;
}

/** The bytes of a literal after its `b`, or the reason why it has none. */
function bytesLiteral(literal: string): Uint8Array | Error {
  const { body, isRaw } = content(literal);
  if (isRaw) return encodeUtf8(body);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const match of body.matchAll(escapes)) {
    const escape = match[1]!;
    if (/^[uU]/.test(escape)) return new Error('unable to unescape string');
    parts.push(encodeUtf8(body.slice(at, match.index)));
    const simple = simpleEscapes[escape];
    parts.push(new Uint8Array([simple === undefined ? codePointOf(escape) & 0xff : simple.charCodeAt(0)]));
    at = match.index + match[0].length;
  }
  parts.push(encodeUtf8(body.slice(at)));
  return new Uint8Array(Buffer.concat(parts));
}

const escapes = /\\([0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)/gs;
const codePointOf = (escape: string): number =>
  /^[0-7]/.test(escape) ? parseInt(escape, 8) : parseInt(escape.slice(1), 16);

/** The value of a literal, or the reason why it has none; undefined for a token that is no literal. */
export function literalValue(kind: TokenKind, text: string, isNegative: boolean): Value | Error | undefined {
  switch (kind) {
    case 'NUM_INT':
      return intLiteral(text, isNegative) ?? new Error('invalid int literal');
    case 'NUM_UINT':
      return uintLiteral(text) ?? new Error('invalid uint literal');
    case 'NUM_FLOAT':
      return doubleLiteral(text, isNegative) ?? new Error('invalid double literal');
    case 'STRING':
      return stringLiteral(text);
    case 'BYTES':
      return bytesLiteral(text.slice(1));
    case 'true':
    case 'false':
      return kind === 'true';
    case 'null':
      return null;
    default:
      return undefined;
  }
}
