import { uncountedErrors } from '../../../machinery/error-budget.js';
import type { FieldError } from '../../../machinery/field-error.js';
import type { Fields } from '../../../machinery/fields.js';
import type { JsonValue } from '../../../machinery/kube-object.js';
import type { StructType } from '../../../machinery/type-model.js';
import { compileNode } from './compile-node.js';
import { EmbeddedObjects } from './embedded-object.js';
import { filled } from './fill.js';
import { validateListTypes } from './list-type.validation.js';
import { pruned } from './prune.js';
import type { SchemaNode } from './schema-node.js';
import { validateValue } from './value.validation.js';

/** The schema of a version of a kind, prepared once, and then used for every object. It never changes what it is given. */
export interface ValueSchema {
  /**
   * Without unknown fields, and with the metadata of objects inside as all metadata is: a copy where that makes a
   * difference, else the value itself. `unknown` is told the path of each unknown field (`spec.foo`, `spec.items[0].bar`),
   * sorted. What all objects have (`apiVersion`, `kind`, `metadata`) is known at the root. Throws ConformError where an
   * object inside cannot be one.
   */
  pruned(value: JsonValue, unknown?: (path: string) => void): JsonValue;
  /**
   * With defaults, and without nulls that are not allowed: a copy where something changes, else the value itself. Throws
   * ApiError, 413, where defaults add too much.
   */
  filled(value: JsonValue): JsonValue;
  /** What was written under another schema as this one has it, or the value itself: pruned, and never refused. */
  converted(value: JsonValue): JsonValue;
  /** The same of what is stored: it gets the defaults as well. */
  refreshed(value: JsonValue): JsonValue;
  /** All errors, in the words that clients know. */
  validate(value: JsonValue): FieldError[];
  /** Of an update: what was wrong before and has not changed is not held against it. */
  validateUpdate(value: JsonValue, old: JsonValue): FieldError[];
  /** Of an update through the `status` subresource, which may only bring a status. */
  validateStatusUpdate(value: JsonValue, old: JsonValue): FieldError[];
  readonly hasDefaults: boolean;
  /** What rules (`x-kubernetes-validations`) are found along. */
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
      // An object that is stored stays readable, however much a later schema adds to it.
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
    root,
  };
}

function fieldOf(value: JsonValue, field: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, field) ? value[field] : undefined;
}
