import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { checked, duplicates, each, oneOf, required } from '../../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, asTexts, isSet, type Fields } from '../../../machinery/fields.js';
import {
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabelValue,
  validateQualifiedName,
} from '../../../machinery/names.js';
import { validateLabelMap, validateLabelSelectorObject, validateOperator } from '../selector.validation.js';

/** Everything of a pod's spec that tells where it may run. */
export function validateScheduling(spec: Fields, at: FieldPath): FieldError[] {
  const affinity = asFields(spec['affinity']);
  const affinityAt = at.child('affinity');
  return [
    ...(asText(spec['nodeName']) === ''
      ? []
      : checked(asText(spec['nodeName']), at.child('nodeName'), validateDnsSubdomain)),
    ...validateLabelMap(spec['nodeSelector'], at.child('nodeSelector')),
    ...validateNodeAffinity(affinity['nodeAffinity'], affinityAt.child('nodeAffinity')),
    ...validatePodAffinity(affinity['podAffinity'], affinityAt.child('podAffinity')),
    ...validatePodAffinity(affinity['podAntiAffinity'], affinityAt.child('podAntiAffinity')),
    ...validateTolerations(spec['tolerations'], at.child('tolerations')),
    ...validateSpread(spec['topologySpreadConstraints'], at.child('topologySpreadConstraints')),
    ...validateGates(spec, at),
  ];
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution';

function validateNodeAffinity(affinity: unknown, at: FieldPath): FieldError[] {
  const fields = asFields(affinity);
  const errors: FieldError[] = [];
  if (isSet(fields[requiredTerms])) {
    errors.push(...validateNodeSelector(asFields(fields[requiredTerms]), at.child(requiredTerms)));
  }
  errors.push(
    ...each(fields[preferredTerms], at.child(preferredTerms), validateWeight, (term, termAt) =>
      validateNodeSelectorTerm(asFields(term['preference']), termAt.child('preference')),
    ),
  );
  return errors;
}

export function validateNodeSelector(selector: Fields, at: FieldPath): FieldError[] {
  const { nodeSelectorTerms: terms } = selector;
  const termsAt = at.child('nodeSelectorTerms');
  return [
    ...(asItems(terms).length === 0
      ? [fieldError.required(String(termsAt), 'must have at least one node selector term')]
      : []),
    ...each(terms, termsAt, validateNodeSelectorTerm),
  ];
}

function validateNodeSelectorTerm(term: Fields, at: FieldPath): FieldError[] {
  return [
    ...each(term['matchExpressions'], at.child('matchExpressions'), (requirement, requirementAt) => [
      ...validateOperator(requirement, requirementAt, true),
      ...checked(asText(requirement['key']), requirementAt.child('key'), validateQualifiedName),
    ]),
    ...each(term['matchFields'], at.child('matchFields'), validateNodeField),
  ];
}

/** Nodes have one field to select by: their name. */
function validateNodeField(requirement: Fields, at: FieldPath): FieldError[] {
  const { key, operator } = requirement;
  const values = asTexts(requirement['values']);
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(fieldError.invalid(String(at.child('operator')), asText(operator), 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const message = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(fieldError.required(String(at.child('values')), message));
  }
  if (key !== 'metadata.name') {
    return [...errors, fieldError.invalid(String(at.child('key')), asText(key), 'not a valid field selector key')];
  }
  return [
    ...errors,
    ...values.flatMap((value, i) => checked(value, at.child('values').index(i), validateDnsSubdomain)),
  ];
}

function validateWeight(term: Fields, at: FieldPath): FieldError[] {
  const weight = asNumber(term['weight']);
  return weight >= 1 && weight <= 100
    ? []
    : [fieldError.invalid(String(at.child('weight')), weight, 'must be in the range 1-100')];
}

function validatePodAffinity(affinity: unknown, at: FieldPath): FieldError[] {
  const fields = asFields(affinity);
  return [
    ...each(fields[requiredTerms], at.child(requiredTerms), validatePodAffinityTerm),
    ...each(fields[preferredTerms], at.child(preferredTerms), validateWeight, (term, termAt) =>
      validatePodAffinityTerm(asFields(term['podAffinityTerm']), termAt.child('podAffinityTerm')),
    ),
  ];
}

function validatePodAffinityTerm(term: Fields, at: FieldPath): FieldError[] {
  const topologyKey = asText(term['topologyKey']);
  return [
    ...validateLabelSelectorObject(term['labelSelector'], at.child('labelSelector')),
    ...validateLabelSelectorObject(term['namespaceSelector'], at.child('namespaceSelector')),
    ...asTexts(term['namespaces']).flatMap((name) => checked(name, at.child('namespace'), validateDnsLabel)),
    ...required(topologyKey, at.child('topologyKey'), 'can not be empty'),
    ...checked(topologyKey, at.child('topologyKey'), validateQualifiedName),
  ];
}

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

export function validateTolerations(tolerations: unknown, at: FieldPath): FieldError[] {
  return each(tolerations, at, (toleration, itemAt) => {
    const key = asText(toleration['key']);
    const operator = asText(toleration['operator']);
    const value = asText(toleration['value']);
    const effect = asText(toleration['effect']);
    const operatorAt = itemAt.child('operator');
    const errors: FieldError[] = [];
    if (key !== '') errors.push(...checked(key, itemAt.child('key'), validateQualifiedName));
    if (key === '' && operator !== 'Exists') {
      const message = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(fieldError.invalid(String(operatorAt), operator, message));
    }
    if (isSet(toleration['tolerationSeconds']) && effect !== 'NoExecute') {
      const message = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(fieldError.invalid(String(itemAt.child('effect')), effect, message));
    }
    if (operator === 'Exists' && value !== '') {
      errors.push(fieldError.invalid(String(operatorAt), value, "value must be empty when `operator` is 'Exists'"));
    }
    if (operator === '' || operator === 'Equal') errors.push(...checked(value, operatorAt, validateLabelValue));
    if (operator !== '') errors.push(...oneOf(operator, operatorAt, ['Equal', 'Exists']));
    if (effect !== '') errors.push(...oneOf(effect, itemAt.child('effect'), taintEffects));
    return errors;
  });
}

function validateSpread(constraints: unknown, at: FieldPath): FieldError[] {
  const keyOf = (item: Fields) => `{${asText(item['topologyKey'])}, ${asText(item['whenUnsatisfiable'])}}`;
  const lastIndexes = new Map(asItems(constraints).map((item, index) => [keyOf(item), index]));
  return each(constraints, at, validateSpreadConstraint, (item, itemAt, index) =>
    // Both of a pair are said to be wrong where the first stands.
    lastIndexes.get(keyOf(item))! > index
      ? [fieldError.duplicate(String(itemAt.child('{topologyKey, whenUnsatisfiable}')), keyOf(item))]
      : [],
  );
}

function validateSpreadConstraint(constraint: Fields, at: FieldPath): FieldError[] {
  const { maxSkew, minDomains, whenUnsatisfiable } = constraint;
  const topologyKey = asText(constraint['topologyKey']);
  const errors: FieldError[] = [];
  if (asNumber(maxSkew) <= 0) {
    errors.push(fieldError.invalid(String(at.child('maxSkew')), asNumber(maxSkew), 'must be greater than zero'));
  }
  if (topologyKey === '') errors.push(fieldError.required(String(at.child('topologyKey')), 'can not be empty'));
  errors.push(...oneOf(asText(whenUnsatisfiable), at.child('whenUnsatisfiable'), ['DoNotSchedule', 'ScheduleAnyway']));
  if (isSet(minDomains)) {
    const where = String(at.child('minDomains'));
    if (asNumber(minDomains) <= 0) errors.push(fieldError.invalid(where, minDomains, 'must be greater than zero'));
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const message = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${asText(whenUnsatisfiable)}`;
      errors.push(fieldError.invalid(where, minDomains, message));
    }
  }
  for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
    errors.push(...oneOf(constraint[policy], at.child(policy), ['Honor', 'Ignore']));
  }
  errors.push(...validateLabelSelectorObject(constraint['labelSelector'], at.child('labelSelector')));
  return errors;
}

function validateGates(spec: Fields, at: FieldPath): FieldError[] {
  const gates = asItems(spec['schedulingGates']);
  const gatesAt = at.child('schedulingGates');
  const errors = [
    ...gates.flatMap((gate, index) => checked(asText(gate['name']), gatesAt.index(index), validateQualifiedName)),
    ...duplicates(
      gates,
      (gate) => asText(gate['name']),
      (index) => gatesAt.index(index),
    ),
    ...each(spec['readinessGates'], at.child('readinessGates'), (gate, gateAt) =>
      checked(asText(gate['conditionType']), gateAt.child('conditionType'), validateQualifiedName),
    ),
  ];
  if (gates.length > 0 && asText(spec['nodeName']) !== '') {
    const message = 'cannot be set until all schedulingGates have been cleared';
    errors.push(fieldError.forbidden(String(at.child('nodeName')), message));
  }
  return errors;
}
