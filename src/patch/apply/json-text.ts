import type { JsonValue } from '../../machinery/kube-object.js';

/* eslint-disable no-restricted-syntax -- JSON inside the keys of a field set and of one annotation: texts, not bodies */

/** What needs no escape in any JSON, quotes around it left aside. */
const plain = /^[ !#-%'-;=?-[\]-~]*$/;

/** One scalar as Go's encoder writes it: `<`, `>` and `&` are escaped, which JavaScript does not do. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'bigint') return value.toString();
  return JSON.stringify(value ?? null);
}

export function stringText(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(/\\[bf]|[<>&\u2028\u2029]/g, escaped);
}

/** Any value with the keys of its objects sorted, as Go writes maps. */
export function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return scalarText(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const object = value as Record<string, unknown>;
  const names = Object.keys(object).filter((name) => object[name] !== undefined);
  names.sort(compareText);
  return `{${names.map((name) => `${stringText(name)}:${sortedJson(object[name])}`).join(',')}}`;
}

/** Undefined when the text is no JSON. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The order of the bytes in UTF-8, in which Go sorts: surrogates stand behind every other character. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    if (left >= 0xd800 && right >= 0xd800)
      return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function escaped(found: string): string {
  if (found === '\\b') return '\\u0008';
  if (found === '\\f') return '\\u000c';
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
