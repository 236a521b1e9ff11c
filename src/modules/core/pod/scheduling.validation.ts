import type {
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
  Toleration,
  TopologySpreadConstraint,
} from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { checked, duplicates, each, oneOf, required } from '../../../machinery/field-rules.js';
import {
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabelValue,
  validateQualifiedName,
} from '../../../machinery/names.js';
import { validateLabelMap, validateLabelSelectorObject, validateOperator } from '../selector.validation.js';

/** Validates the fields of a PodSpec that constrain which node the Pod runs on. */
export function validateScheduling(spec: PodSpec, at: FieldPath): FieldError[] {
  const { nodeName = '', affinity: { nodeAffinity = {}, podAffinity = {}, podAntiAffinity = {} } = {} } = spec;
  const affinityAt = at.child('affinity');
  return [
    ...(nodeName === '' ? [] : checked(nodeName, at.child('nodeName'), validateDnsSubdomain)),
    ...validateLabelMap(spec.nodeSelector, at.child('nodeSelector')),
    ...validateNodeAffinity(nodeAffinity, affinityAt.child('nodeAffinity')),
    ...validatePodAffinity(podAffinity, affinityAt.child('podAffinity')),
    ...validatePodAffinity(podAntiAffinity, affinityAt.child('podAntiAffinity')),
    ...validateTolerations(spec.tolerations ?? [], at.child('tolerations')),
    ...validateSpread(spec.topologySpreadConstraints ?? [], at.child('topologySpreadConstraints')),
    ...validateGates(spec, at),
  ];
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution';

function validateNodeAffinity(affinity: NodeAffinity, at: FieldPath): FieldError[] {
  const selector = affinity[requiredTerms];
  return [
    ...(selector ? validateNodeSelector(selector, at.child(requiredTerms)) : []),
    ...each(affinity[preferredTerms], at.child(preferredTerms), validateWeight, ({ preference = {} }, termAt) =>
      validateNodeSelectorTerm(preference, termAt.child('preference')),
    ),
  ];
}

export function validateNodeSelector(selector: NodeSelector, at: FieldPath): FieldError[] {
  const terms = selector.nodeSelectorTerms ?? [];
  const termsAt = at.child('nodeSelectorTerms');
  return [
    ...(terms.length === 0 ? [fieldError.required(termsAt, 'must have at least one node selector term')] : []),
    ...each(terms, termsAt, validateNodeSelectorTerm),
  ];
}

function validateNodeSelectorTerm({ matchExpressions, matchFields }: NodeSelectorTerm, at: FieldPath): FieldError[] {
  return [
    ...each(matchExpressions, at.child('matchExpressions'), (requirement, requirementAt) => [
      ...validateOperator(requirement, requirementAt, true),
      ...checked(requirement.key ?? '', requirementAt.child('key'), validateQualifiedName),
    ]),
    ...each(matchFields, at.child('matchFields'), validateNodeField),
  ];
}

/** Accepts the one field by which nodes can be selected, metadata.name. */
function validateNodeField(requirement: NodeSelectorRequirement, at: FieldPath): FieldError[] {
  const { key = '', operator = '', values = [] } = requirement;
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(fieldError.invalid(at.child('operator'), operator, 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const message = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(fieldError.required(at.child('values'), message));
  }
  if (key !== 'metadata.name') {
    return [...errors, fieldError.invalid(at.child('key'), key, 'not a valid field selector key')];
  }
  return [
    ...errors,
    ...values.flatMap((value, i) => checked(value, at.child('values').index(i), validateDnsSubdomain)),
  ];
}

function validateWeight({ weight = 0 }: { readonly weight?: number | undefined }, at: FieldPath): FieldError[] {
  return weight >= 1 && weight <= 100
    ? []
    : [fieldError.invalid(at.child('weight'), weight, 'must be in the range 1-100')];
}

/** Also validates PodAntiAffinity, which has the same fields. */
function validatePodAffinity(affinity: PodAffinity, at: FieldPath): FieldError[] {
  return [
    ...each(affinity[requiredTerms], at.child(requiredTerms), validatePodAffinityTerm),
    ...each(affinity[preferredTerms], at.child(preferredTerms), validateWeight, ({ podAffinityTerm = {} }, termAt) =>
      validatePodAffinityTerm(podAffinityTerm, termAt.child('podAffinityTerm')),
    ),
  ];
}

function validatePodAffinityTerm(term: PodAffinityTerm, at: FieldPath): FieldError[] {
  const { topologyKey = '', namespaces = [] } = term;
  return [
    ...validateLabelSelectorObject(term.labelSelector, at.child('labelSelector')),
    ...validateLabelSelectorObject(term.namespaceSelector, at.child('namespaceSelector')),
    ...namespaces.flatMap((name) => checked(name, at.child('namespace'), validateDnsLabel)),
    ...required(topologyKey, at.child('topologyKey'), 'can not be empty'),
    ...checked(topologyKey, at.child('topologyKey'), validateQualifiedName),
  ];
}

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

export function validateTolerations(tolerations: readonly Toleration[], at: FieldPath): FieldError[] {
  return each(tolerations, at, validateToleration);
}

function validateToleration(toleration: Toleration, at: FieldPath): FieldError[] {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const operatorAt = at.child('operator');
  const effectAt = at.child('effect');
  const errors: FieldError[] = [];
  if (key !== '') errors.push(...checked(key, at.child('key'), validateQualifiedName));
  if (key === '' && operator !== 'Exists') {
    const message = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(fieldError.invalid(operatorAt, operator, message));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const message = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(fieldError.invalid(effectAt, effect, message));
  }
  if (operator === 'Exists' && value !== '') {
    errors.push(fieldError.invalid(operatorAt, value, "value must be empty when `operator` is 'Exists'"));
  }
  if (operator === '' || operator === 'Equal') errors.push(...checked(value, operatorAt, validateLabelValue));
  if (operator !== '') errors.push(...oneOf(operator, operatorAt, ['Equal', 'Exists']));
  if (effect !== '') errors.push(...oneOf(effect, effectAt, taintEffects));
  return errors;
}

function validateSpread(constraints: readonly TopologySpreadConstraint[], at: FieldPath): FieldError[] {
  const keyOf = ({ topologyKey = '', whenUnsatisfiable = '' }: TopologySpreadConstraint) =>
    `{${topologyKey}, ${whenUnsatisfiable}}`;
  const lastIndexes = new Map(constraints.map((item, index) => [keyOf(item), index]));
  return each(constraints, at, validateSpreadConstraint, (item, itemAt, index) =>
    // The error of duplicates is at the first one.
    lastIndexes.get(keyOf(item))! > index
      ? [fieldError.duplicate(itemAt.child('{topologyKey, whenUnsatisfiable}'), keyOf(item))]
      : [],
  );
}

function validateSpreadConstraint(constraint: TopologySpreadConstraint, at: FieldPath): FieldError[] {
  const { maxSkew = 0, minDomains, topologyKey = '', whenUnsatisfiable = '' } = constraint;
  const errors: FieldError[] = [];
  if (maxSkew <= 0) errors.push(fieldError.invalid(at.child('maxSkew'), maxSkew, 'must be greater than zero'));
  if (topologyKey === '') errors.push(fieldError.required(at.child('topologyKey'), 'can not be empty'));
  errors.push(...oneOf(whenUnsatisfiable, at.child('whenUnsatisfiable'), ['DoNotSchedule', 'ScheduleAnyway']));
  if (minDomains !== undefined) {
    const domainsAt = at.child('minDomains');
    if (minDomains <= 0) errors.push(fieldError.invalid(domainsAt, minDomains, 'must be greater than zero'));
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const message = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.push(fieldError.invalid(domainsAt, minDomains, message));
    }
  }
  return [
    ...errors,
    ...oneOf(constraint.nodeAffinityPolicy, at.child('nodeAffinityPolicy'), ['Honor', 'Ignore']),
    ...oneOf(constraint.nodeTaintsPolicy, at.child('nodeTaintsPolicy'), ['Honor', 'Ignore']),
    ...validateLabelSelectorObject(constraint.labelSelector, at.child('labelSelector')),
  ];
}

function validateGates(spec: PodSpec, at: FieldPath): FieldError[] {
  const { schedulingGates: gates = [], readinessGates, nodeName = '' } = spec;
  const gatesAt = at.child('schedulingGates');
  const errors = [
    ...gates.flatMap(({ name = '' }, index) => checked(name, gatesAt.index(index), validateQualifiedName)),
    ...duplicates(
      gates,
      ({ name = '' }) => name,
      (index) => gatesAt.index(index),
    ),
    ...each(readinessGates, at.child('readinessGates'), ({ conditionType = '' }, gateAt) =>
      checked(conditionType, gateAt.child('conditionType'), validateQualifiedName),
    ),
  ];
  if (gates.length > 0 && nodeName !== '') {
    const message = 'cannot be set until all schedulingGates have been cleared';
    errors.push(fieldError.forbidden(at.child('nodeName'), message));
  }
  return errors;
}
