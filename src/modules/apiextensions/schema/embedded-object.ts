import { fieldError, type FieldError } from '../../../machinery/field-error.js';
import { parseApiVersion } from '../../../machinery/gvk.js';
import type { JsonObject, JsonValue, ObjectMeta } from '../../../machinery/kube-object.js';
import { nameIsPathSegment, validateDns1035Label } from '../../../machinery/names.js';
import { validateObjectMeta } from '../../../machinery/object-meta-validation.js';
import type { StructType } from '../../../machinery/type-model.js';
import { ConformError } from '../../../schema/conform-error.js';
import { conform } from '../../../schema/conform.js';
import type { SchemaNode } from './schema-node.js';

/** Objects inside an object (`x-kubernetes-embedded-resource`) have the type and the metadata that all objects have. */
export class EmbeddedObjects {
  constructor(private readonly objectMeta: StructType) {}

  /** With the metadata of each as a typed server holds it. Throws ConformError where they are of another type. */
  conformed(value: JsonValue, node: SchemaNode, unknown: string[] | undefined, at = ''): JsonValue {
    if (!node.has.embedded || typeof value !== 'object' || value === null) return value;
    let copy: JsonValue[] | JsonObject | undefined;
    const set = (key: string | number, inner: JsonValue) => {
      copy ??= Array.isArray(value) ? [...value] : { ...value };
      (copy as JsonObject)[key] = inner;
    };
    if (node.isEmbedded && !Array.isArray(value)) {
      const metadata = this.conformedMeta(value, unknown, at);
      if (metadata) set('metadata', metadata);
    }
    for (const [key, inner, known, place] of children(copy ?? value, node, at)) {
      const conformed = this.conformed(inner, known, unknown, place);
      if (conformed !== inner) set(key, conformed);
    }
    return copy ?? value;
  }

  private conformedMeta(object: JsonObject, unknown: string[] | undefined, at: string): JsonObject | undefined {
    for (const field of ['apiVersion', 'kind']) {
      if (Object.hasOwn(object, field) && typeof object[field] !== 'string') {
        refuse(child(at, field), object[field]!, 'must be a string');
      }
    }
    if (!Object.hasOwn(object, 'metadata')) return undefined;
    const { metadata, unknownFields, problem } = this.readMeta(object['metadata']!);
    if (problem !== undefined) refuse(child(at, 'metadata'), object['metadata']!, problem);
    unknown?.push(...unknownFields.map((field) => `${child(at, 'metadata')}.${field}`));
    return metadata;
  }

  /** All mistakes in the types and the metadata of objects inside. */
  validate(value: JsonValue, node: SchemaNode, at = ''): FieldError[] {
    if (!node.has.embedded || typeof value !== 'object' || value === null) return [];
    const errors = node.isEmbedded && !Array.isArray(value) ? this.validateOne(value, at) : [];
    for (const [, inner, known, place] of children(value, node, at)) errors.push(...this.validate(inner, known, place));
    return errors;
  }

  private validateOne(object: JsonObject, at: string): FieldError[] {
    const errors: FieldError[] = [];
    for (const field of ['apiVersion', 'kind']) {
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
      return [...errors, fieldError.invalid(child(at, 'metadata'), object['metadata'], problem)];
    const meta = metadata as ObjectMeta;
    // It need not have a name: nobody has made it yet.
    const named = meta.name ? meta : { ...meta, name: 'unnamed' };
    const rules = { namespaced: !!meta.namespace, validateName: nameIsPathSegment, finalizersNeedDomain: false };
    return [...errors, ...validateObjectMeta(named, rules, child(at, 'metadata'))];
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
  throw new ConformError(`${field}: ${fieldError.invalid(field, value, problem).detail}`);
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

/** What is inside a value and may have objects in it. */
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
