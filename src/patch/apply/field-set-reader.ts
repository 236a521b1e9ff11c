import { readJson, scalarText, stringText } from './json-text.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import { leaf, self, sorted, type FieldSet, type OpenFieldSet } from './field-set.js';
import type { PathElement } from './path-element.js';

/** A fieldsV1 that cannot be parsed. */
export class FieldSetError extends Error {
  override readonly name = 'FieldSetError';
}

/** Deeper than any object: the JSON decoder has a limit of its own. */
const depthMax = 1000;

/**
 * Parses fieldsV1 of a client into the canonical form, in which equal paths are equal strings. Elements of an unknown
 * kind are dropped: a later version may have added them. A canonical set, the usual case, is not copied. Throws
 * FieldSetError.
 */
export function readFieldSet(value: unknown): FieldSet {
  if (value === undefined || value === null) return leaf;
  return isCanonical(value, 0) ? value : (childrenOf(value, 0) ?? leaf);
}

/** Cache of canonical items; there are few different ones. */
const knownItems = new Set<PathElement>();
const knownItemsMax = 10_000;
const knownItemLengthMax = 256;

/** Ignores the order of elements. */
function isCanonical(value: unknown, depth: number): value is FieldSet {
  if (typeof value !== 'object' || value === null || depth > depthMax) return false;
  let members = 0;
  let hasSelf = false;
  for (const element in value) {
    if (element === self) hasSelf = true;
    else if (isCanonicalElement(element)) members++;
    else return false;
    if (!isCanonical((value as FieldSet)[element], depth + 1)) return false;
  }
  return members > 0 ? depth > 0 || !hasSelf : !hasSelf && !Array.isArray(value);
}

function isCanonicalElement(element: PathElement): boolean {
  if (element.charCodeAt(0) === letterF && element.charCodeAt(1) === colon) return true;
  return knownItems.has(element) || isPlainItem(element);
}

/** Scalars without escapes are canonical: their JSON need not be parsed. */
const plainString = `"[ !#-%'-;=?-[\\]-~]*"`;
const plainValue = new RegExp(`^v:${plainString}$`);
const plainKey = new RegExp(`"([A-Za-z]+)":(?:${plainString}|0|-?[1-9]\\d{0,14}|true|false)([,}])`, 'y');

function isPlainItem(element: PathElement): boolean {
  if (!element.startsWith('k:{')) return plainValue.test(element);
  let before = '';
  plainKey.lastIndex = 3;
  for (;;) {
    const [, name = '', end] = plainKey.exec(element) ?? [];
    // Keys in another order are not canonical.
    if (name <= before) return false;
    if (end === '}') return plainKey.lastIndex === element.length;
    before = name;
  }
}

const letterF = 0x66;
const colon = 0x3a;

function remember(element: PathElement): PathElement {
  if (element.length > knownItemLengthMax) return element;
  if (knownItems.size >= knownItemsMax) knownItems.clear();
  knownItems.add(element);
  return element;
}

function childrenOf(value: unknown, depth: number): OpenFieldSet | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FieldSetError('a set of fields is an object');
  }
  if (depth > depthMax) throw new FieldSetError('the path of a field is too long');
  const given = value as Record<string, unknown>;
  let out: OpenFieldSet | undefined;
  for (const text in given) {
    if (text === self || !Object.hasOwn(given, text)) continue;
    const element = canonical(text);
    if (element === undefined) continue;
    out ??= {};
    out[element] = nodeOf(given[text], depth + 1);
  }
  return out && sorted(out);
}

function nodeOf(value: unknown, depth: number): FieldSet {
  const below = childrenOf(value, depth);
  if (!below) return leaf;
  return (value as Record<string, unknown>)[self] === undefined ? below : { [self]: leaf, ...below };
}

function canonical(text: string): PathElement | undefined {
  if (text.length < 2 || text[1] !== ':') throw new FieldSetError(`missing colon: ${text}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return remember(`v:${canonicalJson(rest, text)}`);
    case 'k':
      return canonicalKeys(rest, text);
    case 'i':
      if (!/^[+-]?\d{1,15}$/.test(rest)) throw new FieldSetError(`invalid index: ${text}`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

function canonicalJson(json: string, text: string): string {
  const value = readJson(json);
  if (value === undefined || typeof value === 'object') throw new FieldSetError(`no scalar: ${text}`);
  // Numbers that a double cannot hold keep their digits.
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(json) ? json : scalarText(value);
}

function canonicalKeys(json: string, text: string): PathElement {
  const value = readJson(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new FieldSetError(`no keys: ${text}`);
  const names = Object.keys(value).sort(compareUtf8);
  const keys = names.map((name) => {
    const key = value[name];
    if (typeof key === 'object') throw new FieldSetError(`no scalar: ${text}`);
    return `${stringText(name)}:${scalarText(key)}`;
  });
  return remember(`k:{${keys.join(',')}}`);
}
