import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/kube-object.js';
import { putOwn } from '../../machinery/put-own.js';

/**
 * What a strategic merge patch says beside values:
 *   $patch: replace | delete         this object instead of the old one; away with this object or item
 *   $retainKeys: [a, b]              away with all other fields of this object
 *   $deleteFromPrimitiveList/f: []   away with these items of the list f
 *   $setElementOrder/f: []           the items of the list f in this order
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

/** The field after the slash; undefined when there is none. */
export function fieldOfDirective(name: string, prefix: string): string | undefined {
  return name.startsWith(`${prefix}/`) ? name.slice(prefix.length + 1) : undefined;
}

/** A field of its own: not what every object inherits. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * What a patch leaves where there was nothing: without nulls, and without objects that only say what is to go.
 * Undefined when that is all of it.
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
