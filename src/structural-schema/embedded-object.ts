import { deepEqual } from '../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../machinery/field-error.js';
import { parseApiVersion } from '../machinery/gvk.js';
import type { JsonObject, JsonValue, ObjectMeta } from '../machinery/kube-object.js';
import { nameIsPathSegment, validateDns1035Label } from '../machinery/names.js';
import { validateObjectMeta } from '../machinery/object-meta-validation.js';
import type { StructType } from '../machinery/type-model.js';
import { ConformError } from '../typed/conform-error.js';
import { conform, findingsMax } from '../typed/conform.js';
import { inOrder } from './list-keys.js';
import type { SchemaNode } from './schema-node.js';
import { errorsMax } from './value-walk.js';

interface ConformOptions {
  /** Receives the paths of unknown metadata fields. */
  readonly unknown?: string[] | undefined;
  /** Drops fields of a wrong type instead of refusing them: reading a stored object must not fail. */
  readonly drops?: boolean;
}

const typeFields = ['apiVersion', 'kind'];

/** Conforms and validates apiVersion, kind and metadata of embedded objects (`x-kubernetes-embedded-resource`). */
export class EmbeddedObjects {
  constructor(private readonly objectMeta: StructType) {}

  /**
   * Conforms the metadata of each embedded object to ObjectMeta. Returns a copy if that changes anything, else the
   * value itself. Throws ConformError if a field has a wrong type.
   */
  conformed(value: JsonValue, node: SchemaNode, { unknown, drops = false }: ConformOptions = {}, at = ''): JsonValue {
    if (!node.has.embedded || typeof value !== 'object' || value === null) return value;
    let copy: JsonValue[] | JsonObject | undefined;
    if (node.isEmbedded && !Array.isArray(value)) copy = this.conformedOne(value, { unknown, drops }, at);
    for (const [key, inner, known, path] of children(copy ?? value, node, at)) {
      const conformed = this.conformed(inner, known, { unknown, drops }, path);
      if (conformed === inner) continue;
      copy ??= Array.isArray(value) ? [...value] : { ...value };
      (copy as JsonObject)[key] = conformed;
    }
    return copy ?? value;
  }

  private conformedOne(object: JsonObject, { unknown, drops }: ConformOptions, at: string): JsonObject | undefined {
    let copy: JsonObject | undefined;
    for (const field of typeFields) {
      if (!Object.hasOwn(object, field) || typeof object[field] === 'string') continue;
      if (!drops) refuse(child(at, field), object[field]!, 'must be a string');
      delete (copy ??= { ...object })[field];
    }
    if (!Object.hasOwn(object, 'metadata')) return copy;
    const given = object['metadata']!;
    const { metadata, unknownFields, problem } = this.readMeta(given);
    if (problem !== undefined && !drops) refuse(child(at, 'metadata'), given, problem);
    if (unknown && unknown.length < findingsMax) {
      unknown.push(...unknownFields.map((field) => `${child(at, 'metadata')}.${field}`));
    }
    const kept = problem === undefined ? metadata : this.fieldsOfTheirType(given);
    if (deepEqual(kept, given)) return copy;
    return { ...(copy ?? object), metadata: kept };
  }

  /**
   * Keeps the metadata fields of the right type. Metadata that is not an object stays as it is, and is refused on the
   * next write.
   */
  private fieldsOfTheirType(metadata: JsonValue): JsonValue {
    if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return metadata;
    const fields = Object.entries(metadata).map(([field, value]) => this.readMeta({ [field]: value }));
    return Object.assign({}, ...fields.map(({ metadata }) => metadata)) as JsonObject;
  }

  /** Returns all errors in apiVersion, kind and metadata of embedded objects. */
  validate(value: JsonValue, node: SchemaNode, at = ''): FieldError[] {
    if (!node.has.embedded || typeof value !== 'object' || value === null) return [];
    const errors = node.isEmbedded && !Array.isArray(value) ? this.validateOne(value, at) : [];
    for (const [, inner, known, path] of children(value, node, at)) {
      if (errors.length >= errorsMax) break;
      for (const error of this.validate(inner, known, path)) errors.push(error);
    }
    return errors;
  }

  private validateOne(object: JsonObject, at: string): FieldError[] {
    const errors: FieldError[] = [];
    for (const field of typeFields) {
      const value = object[field];
      const where = child(at, field);
      if (!Object.hasOwn(object, field)) errors.push(fieldError.required(where));
      else if (typeof value !== 'string') errors.push(fieldError.invalid(where, value, 'must be a string'));
      else if (value === '') errors.push(fieldError.invalid(where, value, 'must not be empty'));
      else errors.push(...(field === 'kind' ? validateKind(value, where) : validateVersion(value, where)));
    }
    if (!Object.hasOwn(object, 'metadata')) return errors;
    const { metadata, problem } = this.readMeta(object['metadata']!);
    if (problem !== undefined)
      return [...errors, fieldError.invalid(child(at, 'metadata'), inOrder(object['metadata']!), problem)];
    const meta = metadata as ObjectMeta;
    // The name of an embedded object is optional: a controller may create it later.
    const named = meta.name ? meta : { ...meta, name: 'unnamed' };
    const rules = { validateName: nameIsPathSegment, finalizersNeedDomain: false };
    return [...errors, ...validateObjectMeta(named, !!meta.namespace, rules, child(at, 'metadata'))];
  }

  private readMeta(value: JsonValue): { metadata: JsonObject; unknownFields: readonly string[]; problem?: string } {
    try {
      const { object, unknownFields } = conform(value, this.objectMeta);
      if (object['creationTimestamp'] === null) delete object['creationTimestamp'];
      return { metadata: object, unknownFields };
    } catch (error) {
      if (!(error instanceof ConformError)) throw error;
      return { metadata: {}, unknownFields: [], problem: error.message };
    }
  }
}

const child = (at: string, field: string): string => (at === '' ? field : `${at}.${field}`);

function refuse(field: string, value: JsonValue, problem: string): never {
  throw new ConformError(`${field}: ${fieldError.invalid(field, inOrder(value), problem).detail}`);
}

function validateVersion(apiVersion: string, where: string): FieldError[] {
  if (parseApiVersion(apiVersion)) return [];
  return [fieldError.invalid(where, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

function validateKind(kind: string, where: string): FieldError[] {
  const problems = validateDns1035Label(kind.toLowerCase());
  if (problems.length === 0) return [];
  const message = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
  return [fieldError.invalid(where, kind, message)];
}

/** Yields the items, properties and map values that may contain embedded objects. */
function* children(
  value: JsonValue[] | JsonObject,
  node: SchemaNode,
  at: string,
): Generator<[key: string | number, value: JsonValue, node: SchemaNode, at: string]> {
  if (Array.isArray(value)) {
    const { items } = node;
    if (!items?.has.embedded) return;
    for (const [index, item] of value.entries()) yield [index, item, items, `${at}[${index}]`];
    return;
  }
  for (const field of Object.keys(value)) {
    const property = node.properties.get(field);
    if (property?.has.embedded) yield [field, value[field]!, property, child(at, field)];
    else if (!property && node.additional?.has.embedded) {
      yield [field, value[field]!, node.additional, `${at}[${field}]`];
    }
  }
}
