import type { JsonValue } from '../../machinery/kube-object.js';
import { compareUtf8 } from '../../std/compare-utf8.js';

/* eslint-disable no-restricted-syntax -- JSON inside the keys of a field set and of one annotation: texts, not bodies */

/** Matches strings that need no escape in JSON, without their quotes. */
const plain = /^[ !#-%'-;=?-[\]-~]*$/;

/** Encodes a scalar as Go does: `<`, `>` and `&` are escaped, which JavaScript does not do. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'bigint') return value.toString();
  return JSON.stringify(value ?? null);
}

export function stringText(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(/\\[bf]|[<>&\u2028\u2029]/g, escaped);
}

/** Encodes a value with sorted keys, as Go encodes maps. */
export function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return scalarText(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const object = value as Record<string, unknown>;
  const names = Object.keys(object).filter((name) => object[name] !== undefined);
  names.sort(compareUtf8);
  return `{${names.map((name) => `${stringText(name)}:${sortedJson(object[name])}`).join(',')}}`;
}

/** Returns undefined if the text is not JSON. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function escaped(found: string): string {
  if (found === '\\b') return '\\u0008';
  if (found === '\\f') return '\\u000c';
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
