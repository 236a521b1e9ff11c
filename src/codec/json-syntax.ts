import { goQuote } from '../machinery/field-error.js';

/**
 * Finds the syntax error of a text that is not JSON, with the messages of Go's encoding/json. Runs only on texts that
 * JSON.parse() has refused, so it is simple rather than fast. It keeps its own stack: depth needs no recursion.
 */
type State = 'value' | 'firstValue' | 'firstKey' | 'key' | 'colon' | 'afterMember' | 'afterElement' | 'end';

const endOfInput = 'unexpected end of JSON input';
const isSpace = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9';

export function jsonSyntaxProblem(text: string): string {
  const open = new OpenBrackets();
  let state: State = 'value';

  let at = 0;
  while (at < text.length) {
    while (isSpace(text.charCodeAt(at))) at++;
    if (at >= text.length) break;
    const character = text[at]!;
    switch (state) {
      case 'value':
      case 'firstValue': {
        if (character === ']' && state === 'firstValue') {
          state = open.close();
          at++;
        } else if (character === '{' || character === '[') {
          state = open.descend(character);
          at++;
        } else {
          const result = scalar(text, at);
          if (typeof result === 'string') return result;
          at = result;
          state = open.afterValue();
        }
        break;
      }
      case 'firstKey':
      case 'key': {
        if (character === '}' && state === 'firstKey') {
          state = open.close();
          at++;
        } else if (character === '"') {
          const result = string(text, at);
          if (typeof result === 'string') return result;
          at = result;
          state = 'colon';
        } else {
          return unexpected(text, at, 'looking for beginning of object key string');
        }
        break;
      }
      case 'colon':
        if (character !== ':') return unexpected(text, at, 'after object key');
        state = 'value';
        at++;
        break;
      case 'afterMember':
      case 'afterElement': {
        const { next, end, where }: Separator = separators[state];
        if (character !== ',' && character !== end) return unexpected(text, at, where);
        state = character === ',' ? next : open.close();
        at++;
        break;
      }
      case 'end':
        return unexpected(text, at, 'after top-level value');
    }
  }
  return endOfInput;
}

interface Separator {
  /** The state after a comma. */
  readonly next: State;
  readonly end: '}' | ']';
  readonly where: string;
}

const separators: Readonly<Record<'afterMember' | 'afterElement', Separator>> = {
  afterMember: { next: 'key', end: '}', where: 'after object key:value pair' },
  afterElement: { next: 'value', end: ']', where: 'after array element' },
};

/** The brackets that are not closed yet. The methods return the state that follows. */
class OpenBrackets {
  private readonly brackets: ('{' | '[')[] = [];

  afterValue(): State {
    if (this.brackets.length === 0) return 'end';
    return this.brackets.at(-1) === '{' ? 'afterMember' : 'afterElement';
  }

  close(): State {
    this.brackets.pop();
    return this.afterValue();
  }

  descend(bracket: '{' | '['): State {
    this.brackets.push(bracket);
    return bracket === '{' ? 'firstKey' : 'firstValue';
  }
}

/** Returns the position after the scalar, or the error message. */
function scalar(text: string, at: number): number | string {
  const character = text[at]!;
  if (character === '"') return string(text, at);
  if (character === '-' || isDigit(character)) return number(text, at);
  for (const word of ['true', 'false', 'null']) {
    if (character !== word[0]) continue;
    for (let index = 1; index < word.length; index++) {
      if (at + index >= text.length) return endOfInput;
      if (text[at + index] !== word[index]) {
        return unexpected(text, at + index, `in literal ${word} (expecting '${word[index]}')`);
      }
    }
    return at + word.length;
  }
  return unexpected(text, at, 'looking for beginning of value');
}

function string(text: string, start: number): number | string {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') return at + 1;
    if (character < ' ') return unexpected(text, at, 'in string literal');
    if (character !== '\\') continue;
    const escape = text[++at];
    if (escape === undefined) break;
    if (escape === 'u') {
      for (let index = 0; index < 4; index++) {
        const digit = text[++at];
        if (digit === undefined) return endOfInput;
        if (!/[0-9a-fA-F]/.test(digit)) return unexpected(text, at, 'in \\u hexadecimal character escape');
      }
    } else if (!'bfnrt\\/"'.includes(escape)) {
      return unexpected(text, at, 'in string escape code');
    }
  }
  return endOfInput;
}

function number(text: string, start: number): number | string {
  let at = start;
  if (text[at] === '-') at++;
  if (at >= text.length) return endOfInput;
  if (!isDigit(text[at])) return unexpected(text, at, 'in numeric literal');
  if (text[at] === '0') at++;
  else while (isDigit(text[at])) at++;
  if (text[at] === '.') {
    at++;
    if (at >= text.length) return endOfInput;
    if (!isDigit(text[at])) return unexpected(text, at, 'after decimal point in numeric literal');
    while (isDigit(text[at])) at++;
  }
  if (text[at] === 'e' || text[at] === 'E') {
    at++;
    if (text[at] === '+' || text[at] === '-') at++;
    if (at >= text.length) return endOfInput;
    if (!isDigit(text[at])) return unexpected(text, at, 'in exponent of numeric literal');
    while (isDigit(text[at])) at++;
  }
  return at;
}

function unexpected(text: string, at: number, where: string): string {
  const character = String.fromCodePoint(text.codePointAt(at)!);
  const quoted = character === "'" ? "'\\''" : character === '"' ? "'\"'" : `'${goQuote(character).slice(1, -1)}'`;
  return `invalid character ${quoted} ${where}`;
}
