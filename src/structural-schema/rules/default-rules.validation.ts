import type { FieldError, FieldPath } from '../../machinery/field-error.js';
import { asFields, isSet, type Fields } from '../../machinery/fields.js';
import { isJsonObject, type JsonValue } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';
import { evaluateRules } from './rule-evaluation.js';
import { compileRuleTree, isEmbedded } from './rule-tree.js';

/** Evaluates the rules of defaults. Defaults inside additionalProperties are not validated. */
export function* validateDefaultRules(schema: Fields, at: FieldPath): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  if (isSet(schema['default'])) {
    const tree = yield* compileRuleTree(schema, isEmbedded(schema));
    const value = schema['default'] as JsonValue;
    if (tree)
      errors.push(...(yield* evaluateRules(tree, value, value, { at: at.child('default'), isDefault: true })).errors);
  }
  const { items } = schema;
  if (isJsonObject(items)) errors.push(...(yield* validateDefaultRules(items, at.child('items'))));
  for (const [name, property] of Object.entries(asFields(schema['properties']))) {
    errors.push(...(yield* validateDefaultRules(asFields(property), at.child('properties').key(name))));
  }
  return errors;
}
