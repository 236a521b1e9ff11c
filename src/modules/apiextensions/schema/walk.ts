import type { Fields } from '../../../machinery/fields.js';

const listFields = ['allOf', 'anyOf', 'oneOf'];
const mapFields = ['properties', 'patternProperties', 'definitions', 'dependencies'];
const singleFields = ['not', 'additionalProperties', 'additionalItems'];

const isSchema = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema and all schemas inside it. Where a schema may also be a list or a boolean, only schemas count. */
export function everySchema(schema: Fields): Fields[] {
  const found: Fields[] = [];
  collect(schema, found);
  return found;
}

/** The codec bounds how deep schemas are. */
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
