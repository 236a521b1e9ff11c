import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import type { FieldType, StructType } from '../machinery/type-model.js';

/** The parts of an object that a patch touched, by name or index; `throughout` includes everything below. */
type Touched = ReadonlyMap<string, Touched> | 'throughout';

/** Objects that a merge patch merged, and all values that it set. */
export function touchedByMerge(patch: JsonValue): Touched {
  if (!isJsonObject(patch)) return 'throughout';
  const parts = Object.entries(patch).filter(([, value]) => typeof value === 'object' && value !== null);
  return new Map(parts.map(([name, value]) => [name, touchedByMerge(value)]));
}

/** The values along the paths of the operations. */
export function touchedByOperations(operations: readonly JsonObject[]): Touched {
  const root = new Map<string, Touched>();
  for (const { path, from } of operations) {
    for (const pointer of [path, from]) if (typeof pointer === 'string') addPath(root, pointer);
  }
  return root;
}

function addPath(root: Map<string, Touched>, pointer: string): void {
  let part = root;
  for (const step of pointer.split('/').slice(1, -1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    let next = part.get(name) as Map<string, Touched> | undefined;
    if (!next) part.set(name, (next = new Map<string, Touched>()));
    part = next;
  }
}

/**
 * Orders the fields of a patched object as kube-apiserver's error messages do: sorted where the patch touched it, else
 * as declared by its type.
 */
export function inRefusedOrder(value: JsonValue, type: StructType | undefined, touched: Touched): JsonValue {
  return ordered(value, type, type ? touched : 'throughout');
}

function ordered(value: JsonValue, type: FieldType | undefined, touched: Touched | undefined): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  const below = (name: string) => (touched === 'throughout' ? touched : touched?.get(name));
  if (Array.isArray(value)) {
    const of = type?.form === 'list' ? type.of : undefined;
    return value.map((item, index) => ordered(item, of, below(String(index))));
  }
  const names = Object.keys(value);
  if (touched || type?.form === 'map') names.sort();
  else if (type?.form === 'struct') sortAsDeclared(names, type);
  return Object.fromEntries(names.map((name) => [name, ordered(value[name]!, typeOf(type, name), below(name))]));
}

function typeOf(type: FieldType | undefined, name: string): FieldType | undefined {
  if (type?.form === 'struct') return type.byName.get(name)?.type;
  return type?.form === 'map' ? type.of : undefined;
}

const declaredPlaces = new WeakMap<StructType, ReadonlyMap<string, number>>();

function sortAsDeclared(names: string[], type: StructType): void {
  let places = declaredPlaces.get(type);
  if (!places) {
    places = new Map([...type.byName.keys()].map((name, index) => [name, index]));
    declaredPlaces.set(type, places);
  }
  const placeOf = (name: string) => places.get(name) ?? Infinity;
  names.sort((a, b) => placeOf(a) - placeOf(b) || 0);
}
