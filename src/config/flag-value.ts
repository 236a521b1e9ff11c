import { parseDuration } from './duration.js';
import type { Flag } from './flag.js';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

type FlagValue =
  | boolean
  | number
  | string
  | readonly string[]
  | Readonly<Record<string, string>>
  | Readonly<Record<string, boolean>>
  | PortRange
  | undefined;

/** Error of an invalid value; its message is printed after "--flag: ". */
export class FlagValueError extends Error {}

const booleans: Readonly<Record<string, boolean>> = Object.assign(Object.create(null) as Record<string, boolean>, {
  ...{ true: true, True: true, TRUE: true, t: true, T: true, 1: true },
  ...{ false: false, False: false, FALSE: false, f: false, F: false, 0: false },
});

/** Parses the values of a flag, which may be repeated. An empty text means no value. */
export function parseFlagValue(flag: Flag, texts: readonly string[]): FlagValue {
  const last = texts.at(-1) ?? '';
  switch (flag.type) {
    case 'bool': {
      if (last === '') return undefined;
      const value = bool(last);
      return flag.negated ? !value : value;
    }
    case 'int':
      return whole(last);
    case 'float':
      return last.trim() !== '' && Number.isFinite(Number(last)) ? Number(last) : wrong(last, 'a number');
    case 'duration':
      return parseDuration(last) ?? wrong(last, 'a duration like 300ms, 30s or 1h30m');
    case 'string':
      if (last !== '' && flag.choices && !flag.choices.includes(last)) wrong(last, `one of ${flag.choices.join(', ')}`);
      return last === '' ? undefined : last;
    case 'strings':
      return texts.filter((text) => text !== '');
    case 'list':
      return commaSeparated(texts).map((item) => {
        if (flag.choices && !flag.choices.includes(item)) wrong(item, `a list of ${flag.choices.join(', ')}`);
        return item;
      });
    case 'map':
      return mapOf(texts, (value, pair) => value ?? wrong(pair, 'a list of key=value'));
    case 'switches':
      return mapOf(texts, (value) => value === undefined || bool(value));
    case 'gates':
      return mapOf(
        commaSeparated(texts).map((item) => item.replace(/^kube:/, '')),
        (value, pair) => bool(value ?? wrong(pair, 'a list of Name=true or Name=false')),
      );
    case 'portRange':
      return portRange(last);
  }
}

function wrong(text: string, allowed: string): never {
  throw new FlagValueError(`"${text}" must be ${allowed}`);
}

function bool(text: string): boolean {
  return booleans[text] ?? wrong(text, 'true or false');
}

function whole(text: string): number {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(value) ? value : wrong(text, 'a whole number');
}

function portRange(text: string): PortRange {
  const match = /^(\d+)-(\d+)$/.exec(text) ?? /^(\d+)\+(\d+)$/.exec(text);
  const first = Number(match?.[1] ?? text);
  const last = match ? (text.includes('+') ? first + Number(match[2]) : Number(match[2])) : first;
  if (
    text === '' ||
    ![first, last].every((port) => Number.isInteger(port) && port >= 0 && port <= 65535) ||
    first > last
  ) {
    wrong(text, 'a range of ports like 30000-32767');
  }
  return { first, last };
}

function commaSeparated(texts: readonly string[]): string[] {
  return texts
    .flatMap((text) => text.split(','))
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Parses key=value pairs into an object without prototype, so that keys as __proto__ are safe. */
function mapOf<Value>(texts: readonly string[], read: (value: string | undefined, pair: string) => Value) {
  const map = Object.create(null) as Record<string, Value>;
  for (const pair of commaSeparated(texts)) {
    const equals = pair.indexOf('=');
    const key = equals < 0 ? pair : pair.slice(0, equals).trim();
    if (key === '') wrong(pair, 'a list of key=value');
    map[key] = read(equals < 0 ? undefined : pair.slice(equals + 1).trim(), pair);
  }
  return map;
}
