import { isSet, type Fields } from '../machinery/fields.js';
import { isJsonObject } from '../machinery/kube-object.js';

const listFields = ['allOf', 'anyOf', 'oneOf'];
const mapFields = ['properties', 'patternProperties', 'definitions', 'dependencies'];
const singleFields = ['not', 'additionalProperties', 'additionalItems'];

/** Returns the schema and all schemas inside it. Lists and booleans in place of a schema are skipped. */
export function everySchema(schema: Fields): Fields[] {
  const found: Fields[] = [];
  collect(schema, found);
  return found;
}

/** Depth is bounded by the codec. */
function collect(schema: Fields, found: Fields[]): void {
  found.push(schema);
  const { items } = schema;
  if (Array.isArray(items)) collectAll(items, found);
  else if (isJsonObject(items)) collect(items, found);
  for (const field of listFields) if (Array.isArray(schema[field])) collectAll(schema[field], found);
  for (const field of singleFields) if (isJsonObject(schema[field])) collect(schema[field], found);
  for (const field of mapFields) if (isJsonObject(schema[field])) collectAll(Object.values(schema[field]), found);
}

function collectAll(schemas: readonly unknown[], found: Fields[]): void {
  for (const schema of schemas) if (isJsonObject(schema)) collect(schema, found);
}

/** True if a schema uses the field that has this value: it is not empty. */
export function isUsed(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : isSet(value) && value !== '';
}
