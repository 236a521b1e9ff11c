import type { Value } from '../../cel/values/value.js';
import { jsonOfValue, NoJson } from '../../expressions/json-of-value.js';
import { ApiError } from '../../machinery/api-error.js';
import { isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../machinery/kube-object.js';
import { pathText } from '../../patch/apply/field-set.js';
import { mergeTyped } from '../../patch/apply/merge-typed.js';
import { fieldElement, UntypedItem, type PathElement } from '../../patch/apply/path-element.js';
import type { Schema } from '../../patch/apply/schema.js';
import { typeProblems } from '../../patch/apply/type-check.js';
import { jsonPatchInSteps, TestFailed } from '../../patch/json-patch.js';
import type { Steps } from '../../std/steps.js';
import type { CompiledMutation } from './compiled-policy.js';
import type { RequestForm } from '../request/request-form.js';

/** A mutation that cannot be applied. Its text is that of kube-apiserver. */
export class MutationError extends Error {}

const operationsMax = 10_000;

/** Returns the changed object; the same one if a `test` of a JSON patch fails. Throws MutationError. */
export function* applyMutation(
  { patchType }: CompiledMutation,
  result: Value,
  object: KubeObject,
  form: RequestForm,
): Steps<JsonValue> {
  const before = object as unknown as JsonObject;
  const json = jsonOf(result);
  yield;
  return patchType === 'jsonPatch' ? yield* patched(before, json) : applied(before, json, form.schema());
}

function jsonOf(result: Value): JsonValue {
  try {
    return jsonOfValue(result);
  } catch (error) {
    if (error instanceof NoJson) throw new MutationError(error.message);
    throw error;
  }
}

function* patched(object: JsonObject, operations: JsonValue): Steps<JsonValue> {
  try {
    return yield* jsonPatchInSteps(object, operations, operationsMax);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.cause instanceof TestFailed) return object;
    const { message } = error.cause instanceof Error ? error.cause : error;
    throw new MutationError(`JSON Patch: ${operationText(message)}`);
  }
}

/** Rewrites an error of json-patch v4, which the PATCH verb has, as that of v5, which policies have. */
const operationText = (message: string): string =>
  message.replace(/^(\w+) operation does not apply for path: "([^"]*)":/, "error in $1 for path: '$2':");

function applied(object: JsonObject, configuration: JsonValue, schema: Schema | undefined): JsonValue {
  if (!schema) throw new MutationError('error applying patch: the kind has no type');
  if (!isJsonObject(configuration)) throw new MutationError('error applying patch: the result is no object');
  // The kind of the object cannot be changed.
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = configuration;
  const problems = typeProblems(schema, fields).map(({ path, detail }) =>
    path === '' ? detail : `${path}: ${detail}`,
  );
  if (problems.length > 0) {
    const text = problems.length === 1 ? problems[0] : ['errors:', ...problems.map((one) => `  ${one}`)].join('\n');
    throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${text}`);
  }
  const atomics = atomicPaths(schema, fields, []);
  if (atomics.length > 0) {
    const text = `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`;
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${text}`);
  }
  try {
    return mergeTyped(schema, object, fields) as JsonValue;
  } catch (error) {
    if (!(error instanceof UntypedItem)) throw error;
    throw new MutationError(`error applying patch: ${error.message}`);
  }
}

/** Returns the paths of atomic lists and maps in a configuration, outside of lists. */
function atomicPaths({ map, list }: Schema, value: JsonValue, path: readonly PathElement[]): string[] {
  if (Array.isArray(value)) return list?.kind === 'atomic' ? [pathText(path)] : [];
  if (!map || !isJsonObject(value)) return [];
  const own = map.isAtomic ? [pathText(path)] : [];
  const below = Object.entries(value).flatMap(([name, part]) => {
    const field = map.fields.get(name)?.schema;
    return field ? atomicPaths(field, part, [...path, fieldElement(name)]) : [];
  });
  return [...own, ...below];
}
