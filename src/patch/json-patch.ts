import { ApiError } from '../machinery/api-error.js';
import { deepEqual } from '../machinery/deep-equal.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
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
  const operations = checkedOperations(patch, operationsMax);
  const document = { root: copyJson(target), copiedBytes: 0 };
  try {
    for (const operation of operations) applyOperation(document, readOperation(operation));
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

interface Document {
  root: JsonValue;
  copiedBytes: number;
}

function applyOperation(document: Document, { op, path, from, value }: Operation): void {
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

function test(document: Document, path: string, value: JsonValue): void {
  const found = path === '' ? document.root : (placeAt(document, 'test', path).peek() ?? null);
  if (!deepEqual(found, value)) throw new Inapplicable(`testing value ${path} failed: test failed`);
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

function placeAt(document: Document, op: string, path: string): Place {
  const steps = path.split('/').slice(1).map(unescaped);
  const last = steps.pop();
  let holder: JsonValue | undefined = last === undefined ? undefined : document.root;
  for (const step of steps) {
    if (Array.isArray(holder)) holder = holder[indexOf(step) < 0 ? indexOf(step) + holder.length : indexOf(step)];
    else holder = isJsonObject(holder) ? own(holder, step) : undefined;
  }
  if (Array.isArray(holder)) return itemOf(holder, last!);
  if (isJsonObject(holder)) return fieldOf(holder, last!, op, path);
  throw new Inapplicable(`${op} operation does not apply: doc is missing path: "${path}": missing value`);
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

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

function itemOf(list: JsonValue[], step: string): Place {
  const existing = () => indexWithin(step, list.length, list.length - 1);
  return {
    get: () => list[existing()],
    peek: () => list[indexOf(step) < 0 ? indexOf(step) + list.length : indexOf(step)],
    add: (value) =>
      void list.splice(step === '-' ? list.length : indexWithin(step, list.length + 1, list.length), 0, value),
    replace: (value) => void (list[existing()] = value),
    remove: () => void list.splice(existing(), 1),
  };
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
function jsonLength(value: JsonValue, max: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let length = 2;
  for (const [name, part] of Object.entries(value)) {
    length += (Array.isArray(value) ? 1 : name.length + 4) + jsonLength(part, max - length);
    if (length > max) break;
  }
  return length;
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
