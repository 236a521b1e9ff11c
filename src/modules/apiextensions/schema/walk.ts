import { asFields, asItems, isSet, type Fields } from '../../../machinery/fields.js';

/** Schemas directly inside one, whatever for. Where a schema may also be a list or a boolean, only schemas count. */
function innerSchemas(schema: Fields): Fields[] {
  const isSchema = (value: unknown): value is Fields =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return [
    ...(Array.isArray(schema['items']) ? asItems(schema['items']) : isSchema(schema['items']) ? [schema['items']] : []),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((field) => asItems(schema[field])),
    ...(isSet(schema['not']) ? [asFields(schema['not'])] : []),
    ...['properties', 'patternProperties', 'definitions', 'dependencies'].flatMap((field) =>
      Object.values(asFields(schema[field])).filter(isSchema),
    ),
    ...['additionalProperties', 'additionalItems'].flatMap((field) => (isSchema(schema[field]) ? [schema[field]] : [])),
  ];
}

/** The schema and all inside it. The codec bounds how deep that can be. */
export function* everySchema(schema: Fields): Generator<Fields> {
  yield schema;
  for (const inner of innerSchemas(schema)) yield* everySchema(inner);
}
