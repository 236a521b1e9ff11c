import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/kube-object.js';
import { putOwn } from '../../machinery/put-own.js';

/**
 * Directives of a strategic merge patch:
 *   $patch: replace | delete         replaces this object, or deletes this object or item
 *   $retainKeys: [a, b]              deletes all other fields of this object
 *   $deleteFromPrimitiveList/f: []   deletes these items of the list f
 *   $setElementOrder/f: []           orders the items of the list f
 */
export const patchDirective = '$patch';
export const retainKeysDirective = '$retainKeys';
export const deleteFromListPrefix = '$deleteFromPrimitiveList';
export const setElementOrderPrefix = '$setElementOrder';

export function hasDirective(value: JsonValue): boolean {
  return isJsonObject(value) && value[patchDirective] !== undefined;
}

export function isDeletion(item: JsonValue): boolean {
  return isJsonObject(item) && item[patchDirective] === 'delete';
}

/** The field after the slash of a directive; undefined if there is none. */
export function fieldOfDirective(name: string, prefix: string): string | undefined {
  return name.startsWith(`${prefix}/`) ? name.slice(prefix.length + 1) : undefined;
}

/** Returns an own property, ignoring Object.prototype. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * The value that a patch sets if the target has none: without nulls and deletion directives. Undefined if nothing
 * remains.
 */
export function valueOfPatch(patch: JsonValue): JsonValue | undefined {
  if (Array.isArray(patch)) return patch.map(valueOfPatch).filter((item) => item !== undefined);
  if (!isJsonObject(patch)) return patch;
  if (patch[patchDirective] !== undefined) return undefined;
  const value: JsonObject = {};
  for (const [name, part] of Object.entries(patch)) {
    const left = part === null ? undefined : valueOfPatch(part);
    if (left !== undefined && !isInstruction(name, part)) putOwn(value, name, left);
  }
  return value;
}

function isInstruction(name: string, value: JsonValue): boolean {
  return (
    Array.isArray(value) &&
    (name === retainKeysDirective ||
      name.startsWith(`${deleteFromListPrefix}/`) ||
      name.startsWith(`${setElementOrderPrefix}/`))
  );
}
