import { stringifyJson } from '../codec/json.js';
import { deepEqual } from '../machinery/deep-equal.js';
import { uncountedErrors } from '../machinery/error-budget.js';
import { fieldError, type FieldError } from '../machinery/field-error.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { valueKey } from '../machinery/value-key.js';
import { validateAlternatives, type ValidateWith, type Outcome } from './alternatives.validation.js';
import { inOrder, Occurrences } from './list-keys.js';
import { oldItems } from './old-items.js';
import { validateNumber, validateText, validateType } from './scalar.validation.js';
import type { Enumeration, ObjectBounds, SchemaNode } from './schema-node.js';
import { ValueWalk } from './value-walk.js';

/** The old value at the same path; undefined if there is none. */
type OldValue = JsonValue | undefined;

/**
 * Validates a value against a schema, with the messages of kube-apiserver's validator. With the old value, errors in
 * unchanged parts are ignored (ratcheting, KEP-4008), so that an update need not repair what a newer schema forbids
 * elsewhere. The old value is compared only if there are errors, so that no valid update is refused because of it.
 */
export function validateValue(
  value: JsonValue,
  node: SchemaNode,
  { at = '', old }: { at?: string; old?: OldValue } = {},
): FieldError[] {
  return uncountedErrors(() => errorsOf(value, node, at, old));
}

function errorsOf(value: JsonValue, node: SchemaNode, at: string, old: OldValue): FieldError[] {
  const all = walked(value, node, undefined, at);
  if (all.errors.length === 0 || old === undefined || all.isExhausted) return reported(all);
  const { isSpent, isExhausted, errors } = walked(value, node, old, at);
  // With too many errors to tell old ones from new ones, all are reported.
  return reported(isSpent || isExhausted ? all : { errors });
}

function walked(value: JsonValue, node: SchemaNode, old: OldValue, at: string): ValueWalk {
  const walk = new ValueWalk(at);
  validateNode(value, node, old, walk);
  if (walk.isExhausted) walk.errors = [walk.exhausted()];
  return walk;
}

const reported = ({ errors }: Pick<ValueWalk, 'errors'>): FieldError[] =>
  errors.length > 1 ? distinct(errors) : errors;

/** Removes duplicates: alternatives find the same error several times. */
function distinct(errors: readonly FieldError[]): FieldError[] {
  const seen = new Map(errors.map((error) => [`${error.field}: ${error.detail}`, error]));
  return [...seen.values()];
}

function validateNode(value: JsonValue, node: SchemaNode, old: OldValue, walk: ValueWalk): void {
  const before = walk.found;
  validateInside(value, node, old, walk);
  if (walk.found > before && old !== undefined && deepEqual(value, old)) walk.dropAfter(before);
}

function validateInside(value: JsonValue, node: SchemaNode, old: OldValue, walk: ValueWalk): void {
  validateType(value, node, walk);
  if (value === null) {
    validateEnum(value, node, walk);
    return;
  }
  walk.matches += baseMatches;
  const { alternatives } = node;
  if (alternatives) {
    const validateWith: ValidateWith = (other, isCounting) => outcomeOf(value, other, old, { walk, isCounting });
    validateAlternatives(alternatives, validateWith, walk);
  }
  if (typeof value === 'string') validateText(value, node, walk);
  else if (typeof value === 'number' || typeof value === 'bigint') validateNumber(value, node, walk);
  else if (Array.isArray(value)) validateList(value, node, old, walk);
  validateEnum(value, node, walk);
  if (typeof value === 'object' && !Array.isArray(value)) validateObject(value, node, old, walk);
}

/** Validates with one alternative. Errors in unchanged parts are dropped by the schema around the alternatives. */
function outcomeOf(value: JsonValue, node: SchemaNode, old: OldValue, { walk, isCounting }: Comparison): Outcome {
  const { errors, found, matches, isCounting: wasCounting } = walk;
  walk.compare(1 + (node.object?.required.length ?? 0));
  if (walk.isExhausted) return exhausted;
  if (!isCounting) walk.errors = [];
  walk.found = 0;
  walk.matches = 0;
  walk.isCounting = isCounting;
  validateInside(value, node, old, walk);
  const outcome = { errors: isCounting ? none : walk.errors, found: walk.found, matches: walk.matches };
  walk.errors = errors;
  walk.found = found;
  walk.matches = matches;
  walk.isCounting = wasCounting;
  return outcome;
}

interface Comparison {
  readonly walk: ValueWalk;
  readonly isCounting: boolean;
}

const none: readonly FieldError[] = [];
const exhausted: Outcome = { errors: none, found: 1, matches: 0 };

const nothing: readonly string[] = [];

/** Score of every non-null value before its fields are looked at. */
const baseMatches = 4;

function validateEnum(value: JsonValue, { enumeration }: SchemaNode, walk: ValueWalk): void {
  if (!enumeration || (value !== null && isOneOf(value, enumeration))) return;
  walk.report(() => {
    const shown = enumeration.values.map((one) => (typeof one === 'string' ? one : stringifyJson(one)));
    return fieldError.notSupported(walk.field, inOrder(value), shown);
  });
}

const isOneOf = (value: JsonValue, { scalars, others }: Enumeration): boolean =>
  typeof value === 'object' ? others.size > 0 && others.has(valueKey(value)) : scalars.has(value);

function validateList(list: readonly JsonValue[], node: SchemaNode, old: OldValue, walk: ValueWalk): void {
  walk.matches += 2;
  const { items, list: bounds } = node;
  if (items) {
    const before = old === undefined ? undefined : oldItems(old, node);
    for (let index = 0; index < list.length; index++) {
      const item = list[index]!;
      walk.enter(index);
      validateNode(item, items, before?.(item, index), walk);
      walk.leave();
      if (walk.isFull) return;
    }
  }
  if (!bounds) return;
  const { min, max, isUnique } = bounds;
  if (min !== undefined && list.length < min) walk.invalid(list.length, `should have at least ${min} items`);
  if (max !== undefined && list.length > max) walk.report(() => fieldError.tooMany(walk.field, list.length, max));
  if (isUnique && hasDuplicates(list)) walk.invalid('', "shouldn't contain duplicates");
}

function hasDuplicates(list: readonly JsonValue[]): boolean {
  const occurrences = new Occurrences();
  return list.some((item) => occurrences.add(item) > 0);
}

function validateObject(object: JsonObject, node: SchemaNode, old: OldValue, walk: ValueWalk): void {
  walk.matches++;
  const { properties, additional, others, object: bounds } = node;
  if (bounds && !hasRightSize(object, bounds, walk)) return;
  if (properties.size > 0 || others !== undefined) {
    const before = isJsonObject(old) ? old : undefined;
    for (const field in object) {
      if (walk.isFull) return;
      const property = properties.get(field);
      const oldValue = before && Object.hasOwn(before, field) ? before[field] : undefined;
      if (property) {
        walk.enter(field);
        validateNode(object[field]!, property, oldValue, walk);
        walk.leave();
      } else if (additional) {
        walk.enterOther(field);
        validateNode(object[field]!, additional, oldValue, walk);
        walk.leaveOther();
      } else if (others === false) {
        walk.report(() => {
          const message = `${walk.name}.${field} in body is a forbidden property`;
          return fieldError.invalid(walk.field, field, message);
        });
      }
    }
  }
  for (const field of bounds?.required ?? nothing) if (!Object.hasOwn(object, field)) walk.missing(field);
}

function hasRightSize(object: JsonObject, { min, max }: ObjectBounds, walk: ValueWalk): boolean {
  if (min === undefined && max === undefined) return true;
  const size = Object.keys(object).length;
  if (min !== undefined && size < min) {
    walk.invalid(size, `should have at least ${min} properties`);
    return false;
  }
  if (max === undefined || size <= max) return true;
  walk.report(() => fieldError.tooMany(walk.field, size, max));
  return false;
}
