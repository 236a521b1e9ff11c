import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import { validateQualifiedName } from '../../machinery/names.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { validateNamedRule } from './rule.validation.js';

const matchConditionsMax = 64;

export const matchPolicies = ['Equivalent', 'Exact'];
export const failurePolicies = ['Fail', 'Ignore'];

export function validateSelectors(match: Fields, at: FieldPath): FieldError[] {
  return ['namespaceSelector', 'objectSelector'].flatMap((field) =>
    validateLabelSelectorObject(match[field], at.child(field)),
  );
}

/** Which requests a policy is for. */
export function validateMatchResources(resources: unknown, at: FieldPath): FieldError[] {
  if (!isSet(resources)) return [];
  const match = asFields(resources);
  return [
    ...oneOf(match['matchPolicy'], at.child('matchPolicy'), matchPolicies),
    ...validateSelectors(match, at),
    ...each(match['excludeResourceRules'], at.child('excludeResourceRules'), validateNamedRule),
    ...each(match['resourceRules'], at.child('resourceRules'), validateNamedRule),
  ];
}

/** Expressions that a request must meet before anything else of a webhook or a policy is looked at. */
export function validateMatchConditions(conditions: unknown, at: FieldPath): FieldError[] {
  const list = asItems(conditions);
  return [
    ...(list.length > matchConditionsMax ? [fieldError.tooMany(at, list.length, matchConditionsMax)] : []),
    ...each(conditions, at, ({ name, expression }, where) => [
      ...required(asText(expression).trim(), where.child('expression')),
      ...requiredName(asText(name), where.child('name'), validateQualifiedName),
    ]),
    ...duplicates(
      list,
      ({ name }) => asText(name),
      (index) => at.index(index).child('name'),
    ),
  ];
}
