import type { Field, FieldType, StructType } from '../../src/machinery/type-model.js';
import type { Container } from './field-walk.js';
import { fieldsOf } from './field-walk.js';
import type { Json, JsonObject } from './templates.js';

/** Styles of the entries that fill a list or map. */
export const entryStyles = [
  'distinct',
  'equal',
  'long',
  'rich',
  'invalid',
  'empty',
  'null',
  'wrongType',
  'unknownFields',
] as const;
export type EntryStyle = (typeof entryStyles)[number];

const long = 'l'.repeat(900);

/** The `index`-th entry as JSON text; for a map, the caller adds the key. */
export function entryOf({ of, field }: Container, style: EntryStyle, index: number, like: Json | undefined): string {
  if (style === 'null') return 'null';
  if (style === 'empty')
    return of.form === 'struct' ? '{}' : of.form === 'list' ? '[]' : of.form === 'map' ? '{}' : '""';
  if (style === 'wrongType') return of.form === 'struct' || of.form === 'list' || of.form === 'map' ? '1' : '{"a":1}';
  if (style === 'unknownFields' && of.form === 'struct') return `{"u${index}":${index}}`;
  const at = style === 'equal' ? 0 : index;
  if (of.form !== 'struct') return JSON.stringify(valueOf(of, field.name, style, at));
  const keys = identityOf(field, of);
  const base = style === 'rich' ? filled(of, at, 0) : {};
  const own = like !== null && typeof like === 'object' && !Array.isArray(like) ? like : {};
  const entry: JsonObject = { ...base, ...(style === 'invalid' ? {} : own) };
  for (const key of keys) entry[key.name] = valueOf(key.type, key.name, style, at);
  return JSON.stringify(entry);
}

/** Keys of a map, distinct in every style: duplicates have a family of their own. */
export function keyOf(style: EntryStyle, index: number): string {
  if (style === 'long') return `example.com/${'k'.repeat(40)}${index}`;
  if (style === 'invalid') return `-K!${index}`;
  return `k${index}`;
}

/** Fields that identify an entry: the keys of the list, or fields with usual names for them. */
function identityOf(field: Field, of: StructType): readonly Field[] {
  const fields = fieldsOf(of);
  const named = [...(field.list?.keys ?? []), field.patch?.mergeKey ?? ''];
  const keys = fields.filter(({ name }) => named.includes(name));
  const likely = fields.filter(
    ({ name, type }) => /^(name|uid|key|type|ip|path|host|port|id)$/.test(name) && isPlain(type),
  );
  const found = [...new Set([...keys, ...likely])];
  if (found.length > 0) return found;
  const plain = fields.find(({ type }) => isPlain(type));
  return plain ? [plain] : [];
}

const isPlain = (type: FieldType) => type.form === 'scalar' || type.form === 'value';

function valueOf(type: FieldType, name: string, style: EntryStyle, index: number): Json {
  switch (type.form) {
    case 'scalar':
      if (type.scalar === 'bool') return index % 2 === 0;
      if (type.scalar === 'string') return textOf(name, type.enumValues, style, index);
      if (type.scalar === 'bytes') return Buffer.from(style === 'long' ? long : `b${index}`).toString('base64');
      return style === 'invalid' ? -index - 1 : (index % 65_535) + 1;
    case 'value':
      if (type.value === 'quantity') return style === 'invalid' ? `x${index}` : `${index + 1}m`;
      if (type.value === 'intOrString') return style === 'invalid' ? `-P!${index}` : (index % 65_535) + 1;
      if (type.value === 'time') return '2026-01-01T00:00:00Z';
      if (type.value === 'microTime') return '2026-01-01T00:00:00.000000Z';
      if (type.value === 'duration') return '1s';
      return { [`f:${name}${index}`]: {} };
    case 'list':
      return [valueOf(type.of, name, style, index)];
    case 'map':
      return { [`k${index}`]: valueOf(type.of, name, style, index) };
    case 'struct':
      return {};
  }
}

function textOf(name: string, enumValues: readonly string[] | undefined, style: EntryStyle, index: number): string {
  if (style === 'invalid') return `-I! ${index}`;
  if (style === 'long') return `n${index}-${long}`;
  if (enumValues && enumValues.length > 0) return enumValues[index % enumValues.length]!;
  if (/cidr|range/i.test(name)) return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}/32`;
  if (/ip$|ips$|^address|nameserver/i.test(name))
    return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  if (/path$/i.test(name)) return `/p${index}`;
  if (/^(key|topologyKey|uid)$/i.test(name)) return `example.com/k${index}`;
  return `n${index}`;
}

/** Sets every field, so that each of them is validated. */
function filled(struct: StructType, index: number, depth: number): JsonObject {
  const object: JsonObject = {};
  for (const { name, type } of fieldsOf(struct)) {
    if (isPlain(type)) object[name] = valueOf(type, name, 'distinct', index);
    else if (depth > 1) continue;
    else if (type.form === 'struct') object[name] = filled(type, index, depth + 1);
    else if (type.form === 'list')
      object[name] = [
        type.of.form === 'struct' ? filled(type.of, index, depth + 1) : valueOf(type.of, name, 'distinct', index),
      ];
    else if (type.form === 'map' && isPlain(type.of))
      object[name] = { [`k${index}`]: valueOf(type.of, name, 'distinct', index) };
  }
  return object;
}
