import { stringifyJson } from '../../../codec/json.js';
import { deepEqual } from '../../../machinery/deep-equal.js';
import { uncountedErrors } from '../../../machinery/error-budget.js';
import { fieldError, type FieldError } from '../../../machinery/field-error.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machinery/kube-object.js';
import { valueKey } from '../../../machinery/value-key.js';
import { validateAlternatives, type Meet, type Outcome } from './alternatives.validation.js';
import { inOrder, Sightings } from './list-keys.js';
import { oldItems } from './old-items.js';
import { validateNumber, validateText, validateType } from './scalar.validation.js';
import type { Enumeration, ObjectBounds, SchemaNode } from './schema-node.js';
import { ValueWalk } from './value-walk.js';

/** An old value that says nothing of the new one. */
export type OldValue = JsonValue | undefined;

/**
 * Whether a value is what a schema asks for, in the words of the validator that clients of custom kinds know. With the
 * value that was there before, what is wrong in parts that have not changed is let through (KEP-4008): whoever only
 * changes a label must not be made to repair what a newer schema finds wrong elsewhere. The old value is only looked at
 * when something is wrong, so that nothing valid is ever refused for what was there before.
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
  if (all.errors.length === 0 || old === undefined || all.isExhausted) return told(all);
  const { isSpent, isExhausted, errors } = walked(value, node, old, at);
  // Where too much is wrong to tell old mistakes from new ones, nothing is let through.
  return told(isSpent || isExhausted ? all : { errors });
}

function walked(value: JsonValue, node: SchemaNode, old: OldValue, at: string): ValueWalk {
  const walk = new ValueWalk(at);
  validateNode(value, node, old, walk);
  if (walk.isExhausted) walk.errors = [walk.exhausted()];
  return walk;
}

const told = ({ errors }: Pick<ValueWalk, 'errors'>): FieldError[] => (errors.length > 1 ? distinct(errors) : errors);

/** Alternatives find the same mistake again and again. */
function distinct(errors: readonly FieldError[]): FieldError[] {
  const seen = new Map(errors.map((error) => [`${error.field}: ${error.detail}`, error]));
  return [...seen.values()];
}

function validateNode(value: JsonValue, node: SchemaNode, old: OldValue, walk: ValueWalk): void {
  const before = walk.found;
  validateInside(value, node, old, walk);
  if (walk.found > before && old !== undefined && deepEqual(value, old)) walk.forgive(before);
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
    const meet: Meet = (other, isCounting) => outcomeOf(value, other, old, { walk, isCounting });
    validateAlternatives(alternatives, meet, walk);
  }
  if (typeof value === 'string') validateText(value, node, walk);
  else if (typeof value === 'number' || typeof value === 'bigint') validateNumber(value, node, walk);
  else if (Array.isArray(value)) validateList(value, node, old, walk);
  validateEnum(value, node, walk);
  if (typeof value === 'object' && !Array.isArray(value)) validateObject(value, node, old, walk);
}

/** What has not changed is for the schema around the alternatives to forgive. */
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

/** Every value that is there counts as much as any other before it is looked at. */
const baseMatches = 4;

function validateEnum(value: JsonValue, { enumeration }: SchemaNode, walk: ValueWalk): void {
  if (!enumeration || (value !== null && isOneOf(value, enumeration))) return;
  walk.tell(() => {
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
  if (max !== undefined && list.length > max) walk.tell(() => fieldError.tooMany(walk.field, list.length, max));
  if (isUnique && hasTwins(list)) walk.invalid('', "shouldn't contain duplicates");
}

function hasTwins(list: readonly JsonValue[]): boolean {
  const sightings = new Sightings();
  return list.some((item) => sightings.see(item) > 0);
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
        walk.tell(() => {
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
  walk.tell(() => fieldError.tooMany(walk.field, size, max));
  return false;
}
