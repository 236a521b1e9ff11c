import { asFields, isSet, type Fields } from '../../../machinery/fields.js';

const metaFields = ['apiVersion', 'kind', 'metadata'];

/** A copy of the value without fields that its schema does not know. Without a schema, objects know no fields. */
export function pruned(value: unknown, schema: Fields | undefined): unknown {
  if (Array.isArray(value)) {
    const items = schema && isSet(schema['items']) ? asFields(schema['items']) : undefined;
    const keepsAll = schema?.['x-kubernetes-preserve-unknown-fields'] === true && !items;
    return keepsAll ? value : value.map((item) => pruned(item, items));
  }
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([field, inner]) => {
    const known = schemaOfField(schema, field);
    return known === undefined ? [] : [[field, known === 'any' ? inner : pruned(inner, known)] as const];
  });
  // fromEntries defines own properties, whatever they are called.
  return Object.fromEntries(kept);
}

/** The schema of a field; `any` where nothing is pruned, undefined where the field is unknown. */
function schemaOfField(schema: Fields | undefined, field: string): Fields | 'any' | undefined {
  if (!schema) return undefined;
  if (schema['x-kubernetes-embedded-resource'] === true && metaFields.includes(field)) return 'any';
  const properties = asFields(schema['properties']);
  if (Object.hasOwn(properties, field)) return asFields(properties[field]);
  const additional = schema['additionalProperties'];
  if (typeof additional === 'object' && additional !== null) return asFields(additional);
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return 'any';
  return isSet(additional) ? {} : undefined;
}
