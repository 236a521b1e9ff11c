import type { DeclaredType } from '../cel/declared/declared-type.js';
import { fromJson, JsonList, JsonMap, JsonStruct, type Json } from '../cel/declared/json-values.js';
import { schemaType } from '../cel/declared/schema-type.js';
import { listOf, mapOf, structType, types, type CelType } from '../cel/types.js';
import { CelError } from '../cel/values/value.js';

/** The types of values of built-in kinds that expressions see, composed by hand as in the reference. */
export const text = schemaType({ type: 'string' }, '')!;
export const bool = schemaType({ type: 'boolean' }, '')!;
export const integer = schemaType({ type: 'integer' }, '')!;
export const timestamp = schemaType({ type: 'string', format: 'date-time' }, '')!;
export const dynamic = scalar(types.dyn);

/** A type whose values are read as plain JSON. */
export function scalar(type: CelType, maxElements = 0): DeclaredType {
  return { type, maxElements, minSerializedSize: 1, read: fromJson };
}

const anySize = Number.MAX_SAFE_INTEGER;

export function list(elements: DeclaredType): DeclaredType {
  return {
    type: listOf(elements.type),
    maxElements: anySize,
    minSerializedSize: 2,
    elements,
    read: (json) => (Array.isArray(json) ? new JsonList(json as Json[], elements) : notRead),
  };
}

export function map(keys: DeclaredType, elements: DeclaredType, maxElements = anySize): DeclaredType {
  return {
    type: mapOf(keys.type, elements.type),
    maxElements,
    minSerializedSize: 2,
    keys,
    elements,
    read: (json) => (isObject(json) ? new JsonMap(json, elements) : notRead),
  };
}

/** A struct, by the name that messages have for it. */
export function struct(name: string, fields: Readonly<Record<string, DeclaredType>>): DeclaredType {
  const byName = new Map(Object.entries(fields));
  return {
    type: structType(name),
    maxElements: 0,
    minSerializedSize: 2,
    fields: byName,
    // A cluster-scoped object has no namespaceObject, which expressions see as null.
    read: (json) => (json === null ? null : isObject(json) ? new JsonStruct(json, byName) : notRead),
  };
}

const isObject = (json: unknown): json is Readonly<Record<string, Json>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);
const notRead = new CelError('invalid data, expected another type of JSON');
