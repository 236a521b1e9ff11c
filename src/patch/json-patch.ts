import { ApiError } from '../machinery/api-error.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { documentDepthMax, PatchedDocument, type Items } from './patched-document.js';
import { atOnce, type Steps } from '../std/steps.js';
import { copyJson } from './copy-json.js';

/**
 * Of all values that one patch copies, as JSON: each copy may double the document. As in the reference server; the
 * largest object that it takes.
 */
const copiedBytesMax = 3 * 1024 * 1024;

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: JsonValue;
}

/** What an operation cannot do, in the reference server's words (gopkg.in/evanphx/json-patch.v4). */
class Inapplicable extends Error {
  override readonly name = 'Inapplicable';
}

/**
 * RFC 6902, as the reference server reads it: a field that is not there is replaced as if it were, indices may be counted
 * from the end. The target is not changed. What cannot be applied is 422, what is not a patch is 400.
 */
export function jsonPatch(target: JsonValue, patch: unknown, operationsMax: number): JsonValue {
  return atOnce(jsonPatchInSteps(target, patch, operationsMax));
}

/** The same, one operation a step. */
export function* jsonPatchInSteps(target: JsonValue, patch: unknown, operationsMax: number): Steps<JsonValue> {
  const operations = checkedOperations(patch, operationsMax);
  const document = new PatchedDocument(copyJson(target));
  try {
    for (const operation of operations) {
      yield;
      applyOperation(document, readOperation(operation));
    }
    yield;
    document.settle();
    if (isDeeper(document.root, documentDepthMax)) throw new Inapplicable('exceeded max depth');
  } catch (error) {
    if (!(error instanceof Inapplicable)) throw error;
    throw new ApiError({
      reason: 'Invalid',
      message: `the server rejected our request due to an error in our request: ${error.message}`,
      details: {},
      cause: error,
    });
  }
  return document.root;
}

function checkedOperations(patch: unknown, operationsMax: number): readonly JsonObject[] {
  if (!Array.isArray(patch)) throw undecodable(patch, '[]handlers.jsonPatchOp');
  for (const operation of patch as unknown[]) {
    if (!isJsonObject(operation)) throw undecodable(operation, 'handlers.jsonPatchOp');
  }
  if (patch.length > operationsMax) {
    throw ApiError.requestEntityTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${operationsMax}, got ${patch.length}`,
    );
  }
  return patch as JsonObject[];
}

function undecodable(value: unknown, goType: string): ApiError {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return ApiError.badRequest(`error decoding patch: json: cannot unmarshal ${kind} into Go value of type ${goType}`);
}

function readOperation({ op, path, from, value = null }: JsonObject): Operation {
  if (typeof op !== 'string') throw new Inapplicable('Unexpected kind: unknown');
  if (typeof path !== 'string') throw new Inapplicable(`${op} operation failed to decode path: missing value`);
  if ((op === 'move' || op === 'copy') && typeof from !== 'string') {
    throw new Inapplicable(`${op} operation failed to decode from: missing value`);
  }
  return { op, path, from: typeof from === 'string' ? from : '', value };
}

function applyOperation(document: PatchedDocument, { op, path, from, value }: Operation): void {
  switch (op) {
    case 'add':
      return placeAt(document, op, path).add(copyJson(value));
    case 'remove':
      return placeAt(document, op, path).remove();
    case 'replace':
      if (path === '') document.root = replacement(value);
      else placeAt(document, op, path).replace(copyJson(value));
      return;
    case 'test':
      return test(document, path, value);
    case 'move': {
      const place = placeAt(document, op, from);
      const moved = place.get() ?? null;
      place.remove();
      return placeAt(document, op, path).add(moved);
    }
    case 'copy': {
      const copied = placeAt(document, op, from).get() ?? null;
      const place = placeAt(document, op, path);
      document.settleWithin(copied);
      document.copiedBytes += jsonLength(copied, copiedBytesMax - document.copiedBytes);
      if (document.copiedBytes > copiedBytesMax) {
        throw new Inapplicable(
          `Unable to complete the copy, the accumulated size increase of copy is ${document.copiedBytes}, exceeding the limit ${copiedBytesMax}`,
        );
      }
      return place.add(copyJson(copied));
    }
    default:
      throw new Inapplicable(`Unexpected kind: ${op}`);
  }
}

function replacement(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) {
    throw new Inapplicable('replace operation value must be object or array');
  }
  return copyJson(value);
}

function test(document: PatchedDocument, path: string, value: JsonValue): void {
  const found = path === '' ? document.root : (placeAt(document, 'test', path).peek() ?? null);
  if (!document.holds(found, value)) throw new Inapplicable(`testing value ${path} failed: test failed`);
}

/** Where an operation does its work: a field of an object, or an item of a list. */
interface Place {
  get(): JsonValue | undefined;
  /** The same, and nothing where there is no item. */
  peek(): JsonValue | undefined;
  add(value: JsonValue): void;
  replace(value: JsonValue): void;
  remove(): void;
}

function placeAt(document: PatchedDocument, op: string, path: string): Place {
  let slash = path.indexOf('/');
  let holder: JsonValue | undefined = slash < 0 ? undefined : document.root;
  // Steps are read one by one: most of a long path is behind a step that leads nowhere.
  for (let next; holder !== undefined && (next = path.indexOf('/', slash + 1)) >= 0; slash = next) {
    const step = unescaped(path.slice(slash + 1, next));
    holder = Array.isArray(holder)
      ? peekItem(document.items(holder), step)
      : isJsonObject(holder)
        ? own(holder, step)
        : undefined;
  }
  if (Array.isArray(holder)) return itemOf(document.items(holder), unescaped(path.slice(slash + 1)));
  if (isJsonObject(holder)) return fieldOf(holder, unescaped(path.slice(slash + 1)), op, path);
  throw new Inapplicable(`${op} operation does not apply: doc is missing path: "${path}": missing value`);
}

/** In longer steps each replacement of thousands would be a piece of its own that is joined to the others. */
const replacedCharactersMax = 1024;

function unescaped(step: string): string {
  if (!step.includes('~')) return step;
  if (step.length > replacedCharactersMax) return unescapedInPlace(step);
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function unescapedInPlace(step: string): string {
  const bytes = Buffer.from(step, 'utf16le');
  let length = 0;
  for (let at = 0; at < step.length; at++) {
    let unit = step.charCodeAt(at);
    if (unit === tilde) {
      const escaped = step.charCodeAt(at + 1);
      if (escaped === zero || escaped === one) {
        if (escaped === one) unit = slash;
        at++;
      }
    }
    length = bytes.writeUInt16LE(unit, length);
  }
  return bytes.toString('utf16le', 0, length);
}

const tilde = 0x7e;
const slash = 0x2f;
const zero = 0x30;
const one = 0x31;

function fieldOf(object: JsonObject, name: string, op: string, path: string): Place {
  if (name === '__proto__') throw new Inapplicable(`${op} operation does not apply: a path through __proto__`);
  return {
    get: () => own(object, name),
    peek: () => own(object, name),
    add: (value) => void (object[name] = value),
    replace: (value) => void (object[name] = value),
    remove() {
      if (own(object, name) === undefined) {
        throw new Inapplicable(
          `${op} operation does not apply for path: "${path}": Unable to remove nonexistent key: ${name}: missing value`,
        );
      }
      delete object[name];
    },
  };
}

function itemOf(list: Items, step: string): Place {
  const existing = () => indexWithin(step, list.length, list.length - 1);
  return {
    get: () => list.at(existing()),
    peek: () => peekItem(list, step),
    add: (value) => list.insert(step === '-' ? list.length : indexWithin(step, list.length + 1, list.length), value),
    replace: (value) => list.set(existing(), value),
    remove: () => list.remove(existing()),
  };
}

function peekItem(list: Items, step: string): JsonValue | undefined {
  const index = indexOf(step);
  return list.at(index < 0 ? index + list.length : index);
}

/** Negative ones count from the end, of which `length` is one behind. */
function indexWithin(step: string, length: number, indexMax: number): number {
  const given = indexOf(step);
  const index = given < 0 ? given + length : given;
  if (index < 0 || index > indexMax) {
    throw new Inapplicable(`Unable to access invalid index: ${given}: invalid index referenced`);
  }
  return index;
}

function indexOf(step: string): number {
  if (!/^[+-]?\d{1,15}$/.test(step)) throw new Inapplicable(`strconv.Atoi: parsing "${step}": invalid syntax`);
  return Number(step);
}

/** Of the value as JSON, about; counting ends where it is more than `max`. */
function jsonLength(value: JsonValue, max: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  if (depth > documentDepthMax) throw new Inapplicable('exceeded max depth');
  let length = 2;
  if (Array.isArray(value)) {
    for (const item of value) if ((length += 1 + jsonLength(item, max - length, depth + 1)) > max) break;
    return length;
  }
  for (const name in value) {
    length += name.length + 4 + jsonLength(value[name]!, max - length, depth + 1);
    if (length > max) break;
  }
  return length;
}

function isDeeper(value: JsonValue, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depthMax === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, depthMax - 1));
  for (const name in value) if (isDeeper(value[name]!, depthMax - 1)) return true;
  return false;
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
