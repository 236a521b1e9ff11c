import { ApiError } from '../machinery/api-error.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { documentDepthMax, PatchedDocument, type Items } from './patched-document.js';
import { atOnce, type Steps } from '../std/steps.js';
import { copyJson } from './copy-json.js';

/**
 * Limit on the JSON of all copies: each copy may double the document. As in kube-apiserver, the size of its largest
 * request.
 */
const copiedBytesMax = 3 * 1024 * 1024;

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: JsonValue;
}

/** The error of an operation, with the message of gopkg.in/evanphx/json-patch.v4. */
class Inapplicable extends Error {
  override readonly name = 'Inapplicable';
}

/** The failure of a `test` operation. */
export class TestFailed extends Inapplicable {}

/**
 * Applies a JSON patch (RFC 6902) as kube-apiserver does: replace also adds an absent field, and negative indexes count
 * from the end. The target is not changed. Throws ApiError: 422 if an operation fails, 400 if the patch is invalid.
 */
export function jsonPatch(target: JsonValue, patch: unknown, operationsMax: number): JsonValue {
  return atOnce(jsonPatchInSteps(target, patch, operationsMax));
}

/** Generator form, with one operation per step. */
export function* jsonPatchInSteps(target: JsonValue, patch: unknown, operationsMax: number): Steps<JsonValue> {
  const operations = checkedOperations(patch, operationsMax);
  const document = new PatchedDocument(copyJson(target));
  try {
    for (const operation of operations) {
      yield;
      applyOperation(document, readOperation(operation));
    }
    yield;
    document.joinChunks();
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
      return locationAt(document, op, path).add(copyJson(value));
    case 'remove':
      return locationAt(document, op, path).remove();
    case 'replace':
      if (path === '') document.root = replacement(value);
      else locationAt(document, op, path).replace(copyJson(value));
      return;
    case 'test':
      return test(document, path, value);
    case 'move': {
      const location = locationAt(document, op, from);
      const moved = location.get() ?? null;
      location.remove();
      return locationAt(document, op, path).add(moved);
    }
    case 'copy': {
      const copied = locationAt(document, op, from).get() ?? null;
      document.joinChunksWithin(copied); // Before the location, which may be in these chunks.
      const location = locationAt(document, op, path);
      document.copiedBytes += jsonLength(copied, copiedBytesMax - document.copiedBytes);
      if (document.copiedBytes > copiedBytesMax) {
        throw new Inapplicable(
          `Unable to complete the copy, the accumulated size increase of copy is ${document.copiedBytes}, exceeding the limit ${copiedBytesMax}`,
        );
      }
      return location.add(copyJson(copied));
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
  const found = path === '' ? document.root : (locationAt(document, 'test', path).peek() ?? null);
  if (!document.holds(found, value)) throw new TestFailed(`testing value ${path} failed: test failed`);
}

/** The location of an operation: a field of an object, or an item of a list. */
interface Location {
  get(): JsonValue | undefined;
  /** Like `get()`, but returns undefined for an absent item. */
  peek(): JsonValue | undefined;
  add(value: JsonValue): void;
  replace(value: JsonValue): void;
  remove(): void;
}

function locationAt(document: PatchedDocument, op: string, path: string): Location {
  let slash = path.indexOf('/');
  let holder: JsonValue | undefined = slash < 0 ? undefined : document.root;
  // Parsed one element at a time: the rest of a long path is often unreachable.
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

/** Limit for String.replaceAll(), which is slow for thousands of matches. */
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

function fieldOf(object: JsonObject, name: string, op: string, path: string): Location {
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

function itemOf(list: Items, step: string): Location {
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

/** Negative indexes count from the end, which is at `length`. */
function indexWithin(step: string, length: number, indexMax: number): number {
  const signedIndex = indexOf(step);
  const index = signedIndex < 0 ? signedIndex + length : signedIndex;
  if (index < 0 || index > indexMax) {
    throw new Inapplicable(`Unable to access invalid index: ${signedIndex}: invalid index referenced`);
  }
  return index;
}

function indexOf(step: string): number {
  if (!/^[+-]?\d{1,15}$/.test(step)) throw new Inapplicable(`strconv.Atoi: parsing "${step}": invalid syntax`);
  return Number(step);
}

/** Approximate length of the value as JSON; stops at `max`. */
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
