/** Tokens: operators and the words `in`, `true`, `false`, `null` are kinds of their own. */
export type TokenKind =
  | '=='
  | '!='
  | 'in'
  | '<'
  | '<='
  | '>='
  | '>'
  | '&&'
  | '||'
  | '['
  | ']'
  | '{'
  | '}'
  | '('
  | ')'
  | '.'
  | ','
  | '-'
  | '!'
  | '?'
  | ':'
  | '+'
  | '*'
  | '/'
  | '%'
  | 'true'
  | 'false'
  | 'null'
  | 'NUM_FLOAT'
  | 'NUM_INT'
  | 'NUM_UINT'
  | 'STRING'
  | 'BYTES'
  | 'IDENTIFIER'
  | 'ESC_IDENTIFIER'
  | 'EOF';

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/** A part of the text that is no token. */
export interface LexicalError {
  readonly start: number;
  readonly end: number;
}

const blank = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const float = /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y;
const whole = /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?/y;
const escapedIdent = /`[A-Za-z0-9_.\-/ ]+`/y;
const operator = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const prefix = /(?:[bB][rR]?|[rR])(?=["'])/y;
const escape = /\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/y;

const keywords = new Set(['in', 'true', 'false', 'null']);

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Splits an expression into tokens; the last one is EOF. */
export function tokenize(text: string): { tokens: Token[]; errors: LexicalError[] } {
  const tokens: Token[] = [];
  const errors: LexicalError[] = [];
  let at = 0;
  while (at < text.length) {
    const afterBlank = matchAt(blank, text, at);
    if (afterBlank > at) {
      at = afterBlank;
      continue;
    }
    const token = tokenAt(text, at);
    if (token) {
      tokens.push(token);
      at = token.end;
    } else {
      const end = stuckAt(text, at) + 1;
      errors.push({ start: at, end: Math.min(end, text.length) });
      at = end;
    }
  }
  tokens.push({ kind: 'EOF', start: text.length, end: text.length });
  return { tokens, errors };
}

function tokenAt(text: string, start: number): Token | undefined {
  const string = stringAt(text, start);
  if (string) return string;
  let end = matchAt(word, text, start);
  if (end > 0) {
    const name = text.slice(start, end);
    return { kind: keywords.has(name) ? (name as TokenKind) : 'IDENTIFIER', start, end };
  }
  end = matchAt(float, text, start);
  const wholeEnd = matchAt(whole, text, start);
  if (end > wholeEnd) return { kind: 'NUM_FLOAT', start, end };
  if (wholeEnd > 0)
    return { kind: /[uU]$/.test(text.slice(start, wholeEnd)) ? 'NUM_UINT' : 'NUM_INT', start, end: wholeEnd };
  end = matchAt(escapedIdent, text, start);
  if (end > 0) return { kind: 'ESC_IDENTIFIER', start, end };
  end = matchAt(operator, text, start);
  return end > 0 ? { kind: text.slice(start, end) as TokenKind, start, end } : undefined;
}

function stringAt(text: string, start: number): Token | undefined {
  const prefixEnd = matchAt(prefix, text, start);
  const open = prefixEnd > 0 ? prefixEnd : start;
  const quote = text[open];
  if (quote !== '"' && quote !== "'") return undefined;
  const letters = text.slice(start, open).toLowerCase();
  const isRaw = letters.includes('r');
  const end = closeTriple(text, open, quote, isRaw) ?? closeSingle(text, open, quote, isRaw);
  return end === undefined ? undefined : { kind: letters.startsWith('b') ? 'BYTES' : 'STRING', start, end };
}

function closeTriple(text: string, open: number, quote: string, isRaw: boolean): number | undefined {
  const fence = quote.repeat(3);
  if (!text.startsWith(fence, open)) return undefined;
  let at = open + 3;
  while (at < text.length) {
    if (text.startsWith(fence, at)) return at + 3;
    if (isRaw || text[at] !== '\\') at++;
    else if ((at = matchAt(escape, text, at)) < 0) return undefined;
  }
  return undefined;
}

function closeSingle(text: string, open: number, quote: string, isRaw: boolean): number | undefined {
  let at = open + 1;
  while (at < text.length) {
    const char = text[at]!;
    if (char === quote) return at + 1;
    if (char === '\n' || char === '\r') return undefined;
    if (isRaw || char !== '\\') at++;
    else if ((at = matchAt(escape, text, at)) < 0) return undefined;
  }
  return undefined;
}

/** The index of the character at which no token can go on; the text's length if it ends too early. */
function stuckAt(text: string, start: number): number {
  const first = text[start]!;
  if (first === '&' || first === '|' || first === '=') return start + 1;
  if (first === '`') {
    const end = matchAt(/`[A-Za-z0-9_.\-/ ]*/y, text, start);
    return end;
  }
  if (first !== '"' && first !== "'") return start;
  let at = start + 1;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') {
    if (text[at] !== '\\') at++;
    else {
      const end = matchAt(escape, text, at);
      if (end < 0) return stuckInEscape(text, at);
      at = end;
    }
  }
  return at;
}

/** The character of an escape sequence that cannot be part of one. */
function stuckInEscape(text: string, backslash: number): number {
  const letter = text[backslash + 1] ?? '';
  const digits = { x: 2, X: 2, u: 4, U: 8 }[letter];
  if (digits !== undefined) {
    let at = backslash + 2;
    while (at < text.length && /[0-9a-fA-F]/.test(text[at]!)) at++;
    return at;
  }
  if (!/[0-3]/.test(letter)) return backslash + 1;
  let at = backslash + 2;
  while (at < text.length && /[0-7]/.test(text[at]!)) at++;
  return at;
}
