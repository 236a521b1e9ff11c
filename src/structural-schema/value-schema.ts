import { uncountedErrors } from '../machinery/error-budget.js';
import type { FieldError } from '../machinery/field-error.js';
import type { Fields } from '../machinery/fields.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { StructType } from '../machinery/type-model.js';
import { compileNode } from './compile-node.js';
import { EmbeddedObjects } from './embedded-object.js';
import { filled } from './fill.js';
import { validateListTypes } from './list-type.validation.js';
import { pruned } from './prune.js';
import { ObjectRules } from './rules/object-rules.js';
import type { SchemaNode } from './schema-node.js';
import { validateValue } from './value.validation.js';

/** The compiled schema of a version of a custom kind. Its methods never change their arguments. */
export interface ValueSchema {
  /**
   * Removes unknown fields, and conforms the metadata of embedded objects. Returns a copy if anything changes, else the
   * value itself. `unknown` receives the path of each unknown field (`spec.foo`, `spec.items[0].bar`), sorted.
   * `apiVersion`, `kind` and `metadata` are known at the root. Throws ConformError if an embedded object has fields of
   * a wrong type.
   */
  pruned(value: JsonValue, unknown?: (path: string) => void): JsonValue;
  /**
   * Sets defaults, and removes nulls of fields that are not nullable. Returns a copy if anything changes, else the
   * value itself. Throws ApiError (413) if the defaults add too much.
   */
  filled(value: JsonValue): JsonValue;
  /**
   * Prunes an object that was written under another schema. Never throws; returns the value itself if nothing changes.
   */
  converted(value: JsonValue): JsonValue;
  /** Like `converted`, and sets the defaults: for objects read from storage. */
  refreshed(value: JsonValue): JsonValue;
  /** Returns all errors, with kube-apiserver's messages. */
  validate(value: JsonValue): FieldError[];
  /** Validates an update: errors in unchanged parts are ignored. */
  validateUpdate(value: JsonValue, old: JsonValue): FieldError[];
  /** Validates an update of the `status` subresource, which changes the status only. */
  validateStatusUpdate(value: JsonValue, old: JsonValue): FieldError[];
  readonly hasDefaults: boolean;
  /** The rules of `x-kubernetes-validations`; undefined if there are none. */
  readonly rules: ObjectRules | undefined;
  /** The compiled schema. */
  readonly root: SchemaNode;
}

export function compileSchema(schema: Fields, { objectMeta }: { readonly objectMeta: StructType }): ValueSchema {
  const root = compileNode(schema);
  const embedded = new EmbeddedObjects(objectMeta);
  const listErrors = (value: JsonValue, old?: JsonValue): FieldError[] => {
    const errors = validateListTypes(value, root, '');
    return errors.length > 0 && old !== undefined && validateListTypes(old, root, '').length > 0 ? [] : errors;
  };
  return {
    pruned(value, tell) {
      const unknown: string[] | undefined = tell && [];
      const inside: string[] | undefined = tell && [];
      const known = pruned(value, root, { isRoot: true, unknown });
      const conformed = embedded.conformed(known, root, { unknown: inside });
      if (tell) for (const path of [...unknown!.sort(), ...inside!.sort()]) tell(path);
      return conformed;
    },
    converted: (value) => embedded.conformed(pruned(value, root, { isRoot: true }), root, { drops: true }),
    refreshed: (value) =>
      // No limit on added defaults: a stored object stays readable, whatever a later schema adds.
      embedded.conformed(filled(pruned(value, root, { isRoot: true }), root, Infinity), root, { drops: true }),
    filled: (value) => filled(value, root),
    validate: (value) =>
      uncountedErrors(() => [...validateValue(value, root), ...embedded.validate(value, root), ...listErrors(value)]),
    validateUpdate: (value, old) =>
      uncountedErrors(() => [
        ...validateValue(value, root, { old }),
        ...embedded.validate(value, root),
        ...listErrors(value, old),
      ]),
    validateStatusUpdate(value, old) {
      const node = root.properties.get('status');
      const [status, before] = [fieldOf(value, 'status'), fieldOf(old, 'status')];
      return uncountedErrors(() => [
        ...(node && status !== undefined ? validateValue(status, node, { at: 'status', old: before }) : []),
        ...listErrors(value, old),
      ]);
    },
    hasDefaults: root.has.defaults,
    rules: root.has.rules ? new ObjectRules(schema) : undefined,
    root,
  };
}

function fieldOf(value: JsonValue, field: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, field) ? value[field] : undefined;
}
