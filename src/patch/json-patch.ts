import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { ApiError } from '../machinery/api-error.js';
import type { JsonValue } from '../machinery/kube-object.js';

/** Each copy may double the document, so their number is bounded on its own. */
const copyOperationsMax = 200;

const operations = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** RFC 6902. The target is not changed. What cannot be applied is 422, what is not a patch is 400. */
export function jsonPatch(target: JsonValue, patch: unknown, operationsMax: number): JsonValue {
  const list = checkedOperations(patch, operationsMax);
  try {
    const copy = structuredClone(target);
    const { newDocument } = fastJsonPatch.applyPatch(copy, list, true, true, true);
    return newDocument;
  } catch (error) {
    throw unprocessable(error);
  }
}

function checkedOperations(patch: unknown, operationsMax: number): Operation[] {
  if (!Array.isArray(patch)) throw ApiError.badRequest('error decoding patch: a JSON patch is a list of operations');
  if (patch.length > operationsMax) {
    throw ApiError.requestEntityTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${operationsMax}, got ${patch.length}`,
    );
  }
  let copies = 0;
  for (const operation of patch as unknown[]) {
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
      throw ApiError.badRequest('error decoding patch: each operation of a JSON patch is an object');
    }
    const { op, path, from } = operation as { op?: unknown; path?: unknown; from?: unknown };
    if (typeof op !== 'string' || !operations.has(op)) {
      throw unprocessable(new Error(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`));
    }
    if (typeof path !== 'string') throw unprocessable(new Error(`${op} operation does not apply: missing path`));
    if ((op === 'move' || op === 'copy') && typeof from !== 'string') {
      throw unprocessable(new Error(`${op} operation does not apply: missing from`));
    }
    if (op === 'copy') copies++;
    if (
      path
        .split('/')
        .concat(typeof from === 'string' ? from.split('/') : [])
        .includes('__proto__')
    ) {
      throw unprocessable(new Error(`${op} operation does not apply: a path through __proto__`));
    }
  }
  if (copies > copyOperationsMax) {
    throw ApiError.requestEntityTooLarge(
      `Request entity too large: The allowed maximum copy operations in a JSON patch is ${copyOperationsMax}, got ${copies}`,
    );
  }
  return patch as Operation[];
}

function unprocessable(cause: unknown): ApiError {
  const first = cause instanceof Error ? cause.message.split('\n', 1)[0]! : String(cause);
  return new ApiError({
    reason: 'Invalid',
    message: `the server rejected our request due to an error in our request: ${first}`,
    details: {},
    cause,
  });
}
