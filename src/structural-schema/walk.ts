import type { Fields } from '../machinery/fields.js';

const listFields = ['allOf', 'anyOf', 'oneOf'];
const mapFields = ['properties', 'patternProperties', 'definitions', 'dependencies'];
const singleFields = ['not', 'additionalProperties', 'additionalItems'];

const isSchema = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
  else if (isSchema(items)) collect(items, found);
  for (const field of listFields) if (Array.isArray(schema[field])) collectAll(schema[field], found);
  for (const field of singleFields) if (isSchema(schema[field])) collect(schema[field], found);
  for (const field of mapFields) if (isSchema(schema[field])) collectAll(Object.values(schema[field]), found);
}

function collectAll(schemas: readonly unknown[], found: Fields[]): void {
  for (const schema of schemas) if (isSchema(schema)) collect(schema, found);
}
