import { listOf, mapOf, structType, types } from '../types.js';
import { int, isInt } from '../values/numbers.js';
import { daysFromCivil, parseDuration, parseTimestamp } from '../values/time.js';
import type { Value } from '../values/value.js';
import { CelError, Double, Duration, Timestamp } from '../values/value.js';
import { spend, spendOnText } from '../work.js';
import type { DeclaredType } from './declared-type.js';
import { escapeName } from './escaping.js';
import type { Json } from './json-values.js';
import { JsonKeyedList, JsonList, JsonMap, JsonSet, JsonStruct } from './json-values.js';

/** The part of an OpenAPI v3 schema that decides on types. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

/** The largest request, from which the sizes without a declared bound follow. */
const requestBytesMax = 3 * 1024 * 1024;
const stringSizeMin = 2;
const unboundedText = requestBytesMax - 2;

/**
 * The declared type of a schema; `name` is that of its structs (`Thing`, `Thing.spec`). undefined for a schema without a
 * type, whose values expressions cannot see. `isResource` adds apiVersion, kind and metadata.
 */
export function schemaType(schema: Schema, name: string, isResource = false): DeclaredType | undefined {
  const declared = withoutNull(schema, name, isResource);
  return declared && { ...declared, read: nullable(declared.read, schema.nullable === true) };
}

type Declared = Omit<DeclaredType, 'read'> & { readonly read: (json: unknown) => Value };

function withoutNull(schema: Schema, name: string, isResource: boolean): Declared | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    const maxElements = schema.maxLength === undefined ? unboundedText : textElements(schema.maxLength);
    return { type: types.dyn, maxElements, minSerializedSize: 1, read: readIntOrString };
  }
  switch (schema.type) {
    case 'array':
      return schema.items && listType(schema, schema.items, name);
    case 'object':
      return typeof schema.additionalProperties === 'object' && !isResource
        ? mapType(schema, schema.additionalProperties, name)
        : objectType(schema, name, isResource);
    case 'string':
      return textType(schema);
    case 'boolean':
      return { type: types.bool, maxElements: 0, minSerializedSize: 4, read: readBool };
    case 'number':
      return { type: types.double, maxElements: 0, minSerializedSize: 1, read: readDouble };
    case 'integer':
      return { type: types.int, maxElements: 0, minSerializedSize: 1, read: readInt };
    default:
      return undefined;
  }
}

function nested(schema: Schema, name: string): DeclaredType | undefined {
  return schemaType(schema, name, schema['x-kubernetes-embedded-resource'] === true);
}

function listType(schema: Schema, items: Schema, name: string): Declared | undefined {
  const elements = nested(items, `${name}.@idx`);
  if (!elements) return undefined;
  const maxElements = bound(schema.maxItems) ?? Math.floor(unboundedText / (elements.minSerializedSize + 1));
  const read = readerOfList(schema, elements);
  return { type: listOf(elements.type), maxElements, minSerializedSize: 2, elements, read };
}

function readerOfList(schema: Schema, elements: DeclaredType): (json: unknown) => Value {
  const kind = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return (json) => {
    if (!Array.isArray(json)) return invalid('invalid data, expected an array for the provided schema with type=array');
    const list = json as readonly Json[];
    if (kind === 'set') return new JsonSet(list, elements);
    if (kind === 'map') return new JsonKeyedList(list, elements, keys);
    return new JsonList(list, elements);
  };
}

function mapType(schema: Schema, values: Schema, name: string): Declared | undefined {
  const elements = nested(values, `${name}.@elem`);
  if (!elements) return undefined;
  const keys: DeclaredType = { type: types.string, maxElements: 0, minSerializedSize: stringSizeMin, read: readText };
  const maxElements = bound(schema.maxProperties) ?? Math.floor(unboundedText / (elements.minSerializedSize + 6));
  const read = (json: unknown): Value => (isObject(json) ? new JsonMap(json, elements) : notAnObject);
  return { type: mapOf(types.string, elements.type), maxElements, minSerializedSize: 2, elements, keys, read };
}

const metadata: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
};

function objectType(schema: Schema, name: string, isResource: boolean): Declared {
  const ofResource = { kind: { type: 'string' }, apiVersion: { type: 'string' }, metadata };
  const properties: Readonly<Record<string, Schema>> = { ...schema.properties, ...(isResource && ofResource) };
  const fields = new Map<string, DeclaredType>();
  let minSerializedSize = 2;
  for (const [property, propertySchema] of Object.entries(properties)) {
    const escaped = escapeName(property);
    const field = nested(propertySchema, `${name}.${escaped}`);
    if (!field) continue;
    if (escaped !== undefined) fields.set(escaped, field);
    if (schema.required?.includes(property) && propertySchema.default === undefined)
      minSerializedSize += Buffer.byteLength(property) + field.minSerializedSize + 4;
  }
  const read = (json: unknown): Value => (isObject(json) ? new JsonStruct(json, fields) : notAnObject);
  return { type: structType(name), maxElements: 0, minSerializedSize, fields, read };
}

function textType(schema: Schema): Declared {
  switch (schema.format) {
    case 'byte':
      return {
        type: types.bytes,
        maxElements: bound(schema.maxLength) ?? unboundedText,
        minSerializedSize: 2,
        read: readBytes,
      };
    case 'duration':
      return { type: types.duration, maxElements: 32, minSerializedSize: 3, read: readDuration };
    case 'date':
      return { type: types.timestamp, maxElements: 12, minSerializedSize: 12, read: readDate };
    case 'date-time':
      return { type: types.timestamp, maxElements: 32, minSerializedSize: 21, read: readDateTime };
  }
  let maxElements = unboundedText;
  if (schema.maxLength !== undefined) maxElements = textElements(schema.maxLength);
  else if (schema.enum && schema.enum.length > 0)
    maxElements = Math.max(0, ...schema.enum.map((text) => (typeof text === 'string' ? Buffer.byteLength(text) : 0)));
  return { type: types.string, maxElements, minSerializedSize: stringSizeMin, read: readText };
}

/** A character may take four bytes. */
const textElements = (maxLength: number): number => Math.max(0, maxLength) * 4;
const bound = (max: number | undefined): number | undefined => (max === undefined ? undefined : Math.max(0, max));

const invalid = (message: string): CelError => new CelError(message);
const notAnObject = invalid('invalid data, expected a map for the provided schema with type=object');
const noNull = invalid('invalid data, got null for schema with nullable=false');
const notIntOrString = invalid('invalid data, expected XIntOrString value to be either a string or integer');

function nullable(read: (json: unknown) => Value, isNullable: boolean): (json: unknown) => Value {
  const ofNull = isNullable ? null : noNull;
  return (json) => (json === null || json === undefined ? ofNull : read(json));
}

const isObject = (json: unknown): json is Readonly<Record<string, Json>> =>
  typeof json === 'object' && !Array.isArray(json);

/** The name of the type of JSON in the reference's messages. */
function jsonTypeName(json: unknown): string {
  if (typeof json === 'number') return Number.isInteger(json) ? 'int64' : 'float64';
  if (typeof json === 'object') return Array.isArray(json) ? '[]interface {}' : 'map[string]interface {}';
  return typeof json === 'boolean' ? 'bool' : typeof json === 'bigint' ? 'int64' : typeof json;
}
const expected = (what: string, json: unknown): CelError =>
  invalid(`invalid data, expected ${what}, got ${jsonTypeName(json)}`);

const readText = (json: unknown): Value => (typeof json === 'string' ? json : expected('string', json));
const readBool = (json: unknown): Value => (typeof json === 'boolean' ? json : expected('bool', json));
const readInt = (json: unknown): Value => {
  if (typeof json === 'number' && Number.isSafeInteger(json)) return json;
  if (typeof json === 'bigint') return int(json);
  return typeof json === 'number' && Number.isInteger(json) ? int(BigInt(json)) : expected('int', json);
};
const readDouble = (json: unknown): Value =>
  typeof json === 'number' || typeof json === 'bigint' ? new Double(Number(json)) : expected('float', json);
const readIntOrString = (json: unknown): Value => {
  if (typeof json === 'string') return json;
  const value = readInt(json);
  return isInt(value) ? value : notIntOrString;
};

/** Bytes in the alphabet of base64 that is safe in URLs, as the reference reads them. */
function readBytes(json: unknown): Value {
  if (typeof json !== 'string') return expected('string', json);
  spend(30);
  spendOnText(json, 0.3);
  const digits = json.replace(/={0,2}$/, '');
  const wrong = /[^A-Za-z0-9_-]/.exec(digits)?.index ?? (json.length % 4 === 0 ? -1 : json.length);
  if (wrong < 0) return new Uint8Array(Buffer.from(digits, 'base64url'));
  return invalid(`Invalid byte formatted string ${json}: illegal base64 data at input byte ${wrong}`);
}

function readDate(json: unknown): Value {
  if (typeof json !== 'string') return expected('string', json);
  spend(30);
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(json);
  const days = match ? daysFromCivil(Number(match[1]), Number(match[2]), Number(match[3])) : undefined;
  return days === undefined
    ? invalid(`Invalid date formatted string ${json}: cannot parse`)
    : new Timestamp(days * 86400, 0);
}

function readDateTime(json: unknown): Value {
  if (typeof json !== 'string') return expected('string', json);
  spendOnText(json, 0.5);
  const plain = parseTimestamp(json);
  if (plain) return plain;
  const normal = json.trim().toUpperCase().replace(' ', 'T');
  const parsed = parseTimestamp(normal) ?? parseTimestamp(`${normal}Z`);
  return parsed ?? invalid(`Invalid date-time formatted string ${json}: cannot parse`);
}

const [daySeconds, weekSeconds] = [86_400, 604_800];
const longUnits: ReadonlyMap<string, number> = new Map([
  ...['d', 'day', 'days'].map((unit) => [unit, daySeconds] as const),
  ...['w', 'week', 'weeks'].map((unit) => [unit, weekSeconds] as const),
]);

/** A duration of Go, or a number of days or weeks. */
function readDuration(json: unknown): Value {
  if (typeof json !== 'string') return expected('string', json);
  spendOnText(json, 10);
  const parsed = parseDuration(json);
  if (parsed) return parsed;
  const match = /^(\d{1,9})\s*([a-z]+)$/.exec(json);
  const seconds = match && longUnits.get(match[2]!);
  if (match && seconds) return new Duration(BigInt(match[1]!) * BigInt(seconds) * 1_000_000_000n);
  return invalid(`Invalid duration ${json}: time: invalid duration`);
}
