import { goEscapes } from '../../machinery/field-error.js';
import type { FunctionDeclaration, Implementation } from '../check/declarations.js';
import { declare, member, overload } from '../check/declarations.js';
import type { CelType } from '../types.js';
import { listOf, types } from '../types.js';
import { display } from '../values/conversions.js';
import { checkedLength, elementsOf, textLengthMax } from '../values/lists.js';
import { searchBack, searchIn, splitAt } from '../values/search.js';
import {
  charactersOf,
  codePointIndex,
  codePointLength,
  codePointSlice,
  codeUnitIndex,
  interleave,
} from '../values/texts.js';
import type { ListValue, Value } from '../values/value.js';
import { CelError } from '../values/value.js';
import { spend } from '../work.js';
import { format } from './format-text.js';
import { formatValidator } from './format-validator.js';
import type { Library } from './library.js';

/** Functions of texts, by code points: charAt, indexOf, join, replace, split, substring, format… */
const { dyn, int, string } = types;
const texts = listOf(string);

const outOfRange = (index: Value): CelError => new CelError(`index out of range: ${display(index)}`);
type Whole = number | bigint;

function charAt(text: string, at: Whole): Value {
  const index = Number(at);
  if (index < 0 || index > codePointLength(text)) return outOfRange(at);
  return codePointSlice(text, index, index + 1);
}

function indexOf(text: string, part: string, from: Whole): Value {
  if (part === '') return from;
  const start = Number(from);
  if (start < 0) return outOfRange(from);
  if (start >= codePointLength(text)) return -1;
  const found = searchIn(text, part, codeUnitIndex(text, start));
  return found < 0 ? -1 : codePointIndex(text, found);
}

function lastIndexOf(text: string, part: string, from: Whole | undefined): Value {
  const length = codePointLength(text);
  if (part === '') return from ?? length;
  if (from === undefined) return lastFrom(text, part, length - 1);
  const start = Number(from);
  if (start < 0) return outOfRange(from);
  return start >= length ? -1 : lastFrom(text, part, start);
}
function lastFrom(text: string, part: string, start: number): Value {
  const found = start < 0 ? -1 : searchBack(text, part, codeUnitIndex(text, start));
  return found < 0 ? -1 : codePointIndex(text, found);
}

function substring(text: string, start: Whole, end: Whole | undefined): Value {
  const length = codePointLength(text);
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > length)) return outOfRange(end);
  return codePointSlice(text, Number(start), end === undefined ? length : Number(end));
}

function replace(text: string, old: string, by: string, max: Whole): Value {
  if (max === 0 || old === by) return text;
  if (old === '') return replaceEmpty(text, by, max);
  const parts = splitAt(text, old, max < 0 ? Infinity : Number(max) + 1);
  return joinParts(parts, by);
}
/** An empty text is found before each character and at the end. */
function replaceEmpty(text: string, by: string, max: Whole): string {
  const length = codePointLength(text);
  const count = max < 0 ? length + 1 : Math.min(Number(max), length + 1);
  checkedLength(text.length + by.length * count, textLengthMax);
  const replaced = interleave(by, text, Math.min(count, length));
  return count > length ? replaced + by : replaced;
}

function split(text: string, separator: string, max: Whole): Value {
  if (max === 0) return [];
  const limit = max < 0 ? Infinity : Number(max);
  if (separator !== '') return splitAt(text, separator, limit);
  if (codePointLength(text) <= limit) return charactersOf(text);
  const head = codePointSlice(text, 0, limit - 1);
  return [...charactersOf(head), text.slice(head.length)];
}

function joinParts(parts: readonly string[], separator: string): string {
  spend(20 + parts.length);
  let length = separator.length * (parts.length - 1);
  for (const part of parts) length += part.length;
  spend(checkedLength(length, textLengthMax) / 10);
  return parts.join(separator);
}

function join(list: ListValue, separator: string): Value {
  const parts: string[] = [];
  for (const element of elementsOf(list)) {
    if (typeof element !== 'string') return new CelError(`join: invalid input: ${display(element)}`);
    parts.push(element);
  }
  return joinParts(parts, separator);
}

/** Converts the ASCII characters of a text; the others stay as they are. */
function replaceAscii(text: string, affected: RegExp, convert: (ascii: string) => string): string {
  if (!affected.test(text)) return text;
  if (/^[\u0000-\u007f]*$/.test(text)) return convert(text);
  spend(text.length * 5);
  return text.replace(/[\u0000-\u007f]+/g, convert);
}

/** True for space as Unicode defines it; JavaScript's trim also removes the byte order mark. */
function isSpace(unit: number): boolean {
  if (unit < 0x1680) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) || unit === 0x85 || unit === 0xa0;
  if (unit >= 0x2000 && unit <= 0x200a) return true;
  return [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000].includes(unit);
}

/** Removes spaces at both ends, in linear time: a pattern for those at the end would be tried at every space. */
function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Unlike quote(), leaves characters as they are that are not printed. */
const quoted = (text: string): string =>
  `"${text.replace(/[\ud800-\udfff]/gu, '\ufffd').replace(/[\u0007\b\f\n\r\t\v\\"]/g, (char) => goEscapes[char]!)}"`;

/** A member of a text with more arguments of the given types. */
function ofText(
  id: string,
  args: readonly CelType[],
  result: CelType,
  impl: (text: string, ...args: never[]) => Value,
) {
  return member(id, [string, ...args], result, impl as Implementation);
}

function functions(version: number): FunctionDeclaration[] {
  const declared = [
    declare('charAt', ofText('string_char_at_int', [int], string, charAt)),
    declare(
      'indexOf',
      ofText('string_index_of_string', [string], int, (text, part: string) => indexOf(text, part, 0)),
      ofText('string_index_of_string_int', [string, int], int, indexOf),
    ),
    declare(
      'lastIndexOf',
      ofText('string_last_index_of_string', [string], int, (text, part: string) => lastIndexOf(text, part, undefined)),
      ofText('string_last_index_of_string_int', [string, int], int, lastIndexOf),
    ),
    declare(
      'lowerAscii',
      ofText('string_lower_ascii', [], string, (text) => replaceAscii(text, /[A-Z]/, (ascii) => ascii.toLowerCase())),
    ),
    declare(
      'upperAscii',
      ofText('string_upper_ascii', [], string, (text) => replaceAscii(text, /[a-z]/, (ascii) => ascii.toUpperCase())),
    ),
    declare(
      'replace',
      ofText('string_replace_string_string', [string, string], string, (text, old: string, by: string) =>
        replace(text, old, by, -1),
      ),
      ofText('string_replace_string_string_int', [string, string, int], string, replace),
    ),
    declare(
      'split',
      ofText('string_split_string', [string], texts, (text, separator: string) => split(text, separator, -1)),
      ofText('string_split_string_int', [string, int], texts, split),
    ),
    declare(
      'substring',
      ofText('string_substring_int', [int], string, (text, start: Whole) => substring(text, start, undefined)),
      ofText('string_substring_int_int', [int, int], string, substring),
    ),
    declare('trim', ofText('string_trim', [], string, trim)),
    declare(
      'join',
      member('list_join', [texts], string, (list) => join(list as ListValue, '')),
      member('list_join_string', [texts, string], string, (list, separator) =>
        join(list as ListValue, separator as string),
      ),
    ),
  ];
  if (version >= 1) {
    declared.push(
      declare(
        'format',
        member('string_format', [string, listOf(dyn)], string, (text, args) =>
          format(text as string, args as ListValue),
        ),
      ),
      declare(
        'strings.quote',
        overload('strings_quote', [string], string, (text) => quoted(text as string)),
      ),
    );
  }
  if (version >= 3) {
    const reverse = (text: string): string => {
      spend(text.length * 2);
      return charactersOf(text).reverse().join('');
    };
    declared.push(declare('reverse', ofText('string_reverse', [], string, reverse)));
  }
  return declared;
}

/** The library in one of its versions: 1 adds format and quote, 3 reverse. */
export function stringsLibrary(version: 0 | 1 | 2 | 3): Library {
  return {
    name: 'cel.lib.ext.strings',
    functions: functions(version),
    ...(version >= 1 && { validators: [formatValidator] }),
  };
}
