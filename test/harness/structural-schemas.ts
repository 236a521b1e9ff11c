import { Catalog } from '../../src/catalog/catalog.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { JsonValue } from '../../src/machinery/kube-object.js';
import { compileSchema } from '../../src/structural-schema/value-schema.js';

const objectMeta = new Catalog(namingProfile('kubernetes')).struct('meta.v1.ObjectMeta');
export const compile = (schema: object) => compileSchema(schema as Record<string, unknown>, { objectMeta });
/** Compiles the schema of a kind with this schema of spec. */
export const kind = (spec: object) => compile({ type: 'object', properties: { spec } });

export const own = (key: string, value: JsonValue, rest: object = {}) =>
  Object.fromEntries<JsonValue>([[key, value], ...Object.entries(rest)]);
export const anything = { 'x-kubernetes-preserve-unknown-fields': true };
export const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
export const text = { type: 'string' };
export const integer = { type: 'integer' };
export const list = (items: object, rest: object = {}) => ({ type: 'array', items, ...rest });
export const embedded = object({ spec: object({ a: text }) }, { 'x-kubernetes-embedded-resource': true });
