import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../machinery/type-model.js';
import { putOwn } from '../machinery/put-own.js';
import {
  deleteFromListPrefix,
  fieldOfDirective,
  own,
  patchDirective,
  retainKeysDirective,
  setElementOrderPrefix,
  valueOfPatch,
} from './strategic/directives.js';
import {
  checkOrder,
  holdsObjects,
  inOrder,
  itself,
  keyReader,
  mergeLists,
  orderAfter,
} from './strategic/merge-lists.js';
import { restoreProblem } from './strategic/restore.js';
import { badFormat, below, misfit, unrestorable, type PatchPath } from './strategic/strategic-error.js';

/**
 * Applies a strategic merge patch (k8s.io/apimachinery/pkg/util/strategicpatch): a merge patch that merges lists by
 * their patchMergeKey and has directives for deletion and order. Arguments are not changed; unpatched values are shared
 * with the target. Throws ApiError: 400 for an invalid patch, 422 for one that does not fit the object.
 */
export function strategicMergePatch(target: JsonObject, patch: JsonValue, type: StructType): JsonObject {
  if (patch === null) return target;
  if (!isJsonObject(patch)) throw badFormat.notAnObject(patch);
  const result = mergeObjects(target, patch, type, '');
  const problem = restoreProblem(type, result, target);
  if (problem !== undefined) throw unrestorable(patch, problem);
  return result;
}

function mergeObjects(original: JsonObject, patch: JsonObject, type: FieldType, path: PatchPath): JsonObject {
  const directive = own(patch, patchDirective);
  if (directive !== undefined) return directed(directive, patch, path);
  const result = retained(original, patch);
  const done = orderLists(result, patch, type, path);
  for (const [name, value] of Object.entries(patch)) {
    if (name === retainKeysDirective || done.has(name) || name.startsWith(setElementOrderPrefix)) continue;
    if (!name.startsWith(deleteFromListPrefix)) mergeField(result, name, value, type, path);
    else deleteItems(result, name, value, type, path);
  }
  return result;
}

function directed(directive: JsonValue, patch: JsonObject, path: PatchPath): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw misfit.directive(path, directive, patch);
  const { [patchDirective]: _directive, ...rest } = patch;
  return rest;
}

/** A copy of the object without the fields that `$retainKeys` does not name. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = own(patch, retainKeysDirective);
  const result: JsonObject = {};
  if (keys !== undefined && !Array.isArray(keys)) throw badFormat.retainKeys();
  const kept = keys && new Set(keys);
  for (const [name, value] of Object.entries(patch)) {
    if (!kept || value === null || name === retainKeysDirective) continue;
    if (name.startsWith(deleteFromListPrefix) || name.startsWith(setElementOrderPrefix)) continue;
    if (!kept.has(name)) throw badFormat.retainKeys();
  }
  for (const [name, value] of Object.entries(original)) {
    if (!kept || kept.has(name)) putOwn(result, name, value);
  }
  return result;
}

/** Merges and orders the lists that have a `$setElementOrder`. Returns the names of these fields. */
function orderLists(result: JsonObject, patch: JsonObject, type: FieldType, path: PatchPath): ReadonlySet<string> {
  const done = new Set<string>();
  for (const [directive, order] of Object.entries(patch)) {
    if (!directive.startsWith(setElementOrderPrefix)) continue;
    const name = fieldOfDirective(directive, setElementOrderPrefix);
    const where = below(path, name ?? directive);
    if (!Array.isArray(order)) throw misfit.wrongType(where, '[]interface {}', order);
    if (name === undefined) throw badFormat.setElementOrder();
    const live = listAt(result, name, where);
    const changes = listAt(patch, name, where);
    const field = fieldOf(type, name, where);
    const key = field.patch?.mergeKey;
    checkOrder(changes ?? [], order, key, where);
    if (!live && !changes) continue;
    const merged = orderedContent(live, changes, field, where);
    const isKeyed = holdsObjects(where, live ?? [], changes ?? []) && key !== undefined;
    const then = isKeyed && live && changes ? orderAfter(live, changes, key, where) : (live ?? []);
    putOwn(result, name, inOrder(merged, { first: order, then, keyOf: isKeyed ? keyReader(key, where) : itself }));
    done.add(name);
  }
  return done;
}

function orderedContent(
  live: readonly JsonValue[] | undefined,
  changes: readonly JsonValue[] | undefined,
  field: Field,
  path: PatchPath,
): readonly JsonValue[] {
  if (!changes) return live ?? [];
  return live ? mergeListField(live, changes, field, path) : (valueOfPatch([...changes]) as JsonValue[]);
}

function listAt(object: JsonObject, name: string, path: PatchPath): readonly JsonValue[] | undefined {
  const value = own(object, name);
  if (value === undefined || Array.isArray(value)) return value;
  throw misfit.wrongType(path, '[]interface {}', value);
}

function mergeField(result: JsonObject, name: string, value: JsonValue, type: FieldType, path: PatchPath): void {
  const before = own(result, name);
  if (value === null) {
    delete result[name];
    return;
  }
  const where = below(path, name);
  if (isJsonObject(before) && isJsonObject(value)) {
    const field = fieldOf(type, name, where);
    const replaces = field.patch?.strategies.includes('replace') ?? false;
    putOwn(result, name, replaces ? value : mergeObjects(before, value, field.type, where));
  } else if (Array.isArray(before) && Array.isArray(value)) {
    putOwn(result, name, mergeListField(before, value, fieldOf(type, name, where), where));
  } else {
    const left = valueOfPatch(value);
    if (left === undefined) delete result[name];
    else putOwn(result, name, left);
  }
}

function deleteItems(result: JsonObject, directive: string, gone: JsonValue, type: FieldType, path: PatchPath): void {
  const name = fieldOfDirective(directive, deleteFromListPrefix);
  if (name === undefined) throw badFormat.primitiveList();
  const where = below(path, name);
  const before = own(result, name);
  if (gone === null) delete result[name];
  if (!Array.isArray(before) || !Array.isArray(gone) || (before.length === 0 && gone.length === 0)) return;
  const field = fieldOf(type, name, where);
  if (holdsObjects(where, before, gone)) putOwn(result, name, mergeItemsOf(before, gone, field, where));
  else {
    const items = new Set(gone);
    putOwn(
      result,
      name,
      before.filter((item) => !items.has(item)),
    );
  }
}

function mergeListField(
  before: readonly JsonValue[],
  patch: readonly JsonValue[],
  field: Field,
  path: PatchPath,
): JsonValue[] {
  return field.patch?.strategies.includes('merge') ? mergeItemsOf(before, patch, field, path) : [...patch];
}

function mergeItemsOf(
  before: readonly JsonValue[],
  patch: readonly JsonValue[],
  field: Field,
  path: PatchPath,
): JsonValue[] {
  const of = field.type.form === 'list' ? field.type.of : field.type;
  return mergeLists(before, patch, {
    path,
    mergeKey: field.patch?.mergeKey,
    mergeItem: (item, change) => mergeObjects(item, change, of, path),
  });
}

/** The patch strategy of a field. Only structs declare one. */
function fieldOf(type: FieldType, name: string, path: PatchPath): Field {
  if (type.form !== 'struct') throw misfit.noStruct(path);
  const field = type.byName.get(name);
  if (!field) throw misfit.noField(path, type.goName.slice(type.goName.lastIndexOf('.') + 1), name);
  return field;
}
