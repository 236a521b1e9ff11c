import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, notNegative, oneOf } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { isNegative } from '../core/pod/pod-resources.js';
import { validateMetrics } from './metrics.validation.js';
import { validateReference } from './reference.validation.js';

const at = path('spec');

export function validateAutoscaler(autoscaler: KubeObject, old?: KubeObject): FieldError[] {
  const spec = asFields(autoscaler['spec']);
  const { minReplicas, maxReplicas } = spec;
  // Who scales to nothing already may go on with it.
  const lowest = asFields(old?.['spec'])['minReplicas'] === 0 ? 0 : 1;
  const errors: FieldError[] = [];
  if (asNumber(minReplicas) < lowest) {
    const message = `must be greater than or equal to ${lowest}`;
    errors.push(fieldError.invalid(String(at.child('minReplicas')), minReplicas, message));
  }
  const maxAt = String(at.child('maxReplicas'));
  if (asNumber(maxReplicas) < 1) errors.push(fieldError.required(maxAt, 'must be set and greater than 0'));
  if (asNumber(maxReplicas) < asNumber(minReplicas)) {
    const message = 'must be greater than or equal to `minReplicas`';
    errors.push(fieldError.invalid(maxAt, asNumber(maxReplicas), message));
  }
  return [
    ...errors,
    ...validateTargetRef(asFields(spec['scaleTargetRef']), asFields(old?.['spec'])['scaleTargetRef']),
    ...validateMetrics(spec['metrics'], at.child('metrics'), asNumber(minReplicas)),
    ...validateBehavior(asFields(spec['behavior'])),
  ];
}

/** What is scaled. Of the core group, only the oldest of the workloads can be. */
function validateTargetRef(ref: Fields, before: unknown): FieldError[] {
  const refAt = at.child('scaleTargetRef');
  const errors = validateReference(ref, refAt);
  const version = asText(ref['apiVersion']);
  if (isSet(before) && asFields(before)['apiVersion'] === ref['apiVersion']) return errors;
  const parsed = parseApiVersion(version);
  const versionAt = String(refAt.child('apiVersion'));
  if (!parsed) return [...errors, fieldError.invalid(versionAt, version, `unexpected GroupVersion string: ${version}`)];
  const isCore = ref['kind'] === 'ReplicationController' && version !== '';
  if (parsed.group !== '' || isCore) return errors;
  return [...errors, fieldError.invalid(versionAt, version, 'apiVersion must specify API group')];
}

const windowSecondsMax = 3600;
const periodSecondsMax = 1800;

function validateBehavior(behavior: Fields): FieldError[] {
  return ['scaleUp', 'scaleDown'].flatMap((direction) =>
    isSet(behavior[direction]) ? validateRules(asFields(behavior[direction]), at.child('behavior', direction)) : [],
  );
}

function validateRules(rules: Fields, rulesAt: FieldPath): FieldError[] {
  const { stabilizationWindowSeconds: window, policies, tolerance } = rules;
  const windowAt = rulesAt.child('stabilizationWindowSeconds');
  const errors = notNegative(window, windowAt);
  if (asNumber(window) > windowSecondsMax) {
    errors.push(fieldError.invalid(String(windowAt), window, `must be less than or equal to ${windowSecondsMax}`));
  }
  errors.push(...oneOf(rules['selectPolicy'], rulesAt.child('selectPolicy'), ['Disabled', 'Max', 'Min']));
  if (asItems(policies).length === 0) {
    errors.push(fieldError.required(String(rulesAt.child('policies')), 'must specify at least one Policy'));
  }
  if (isNegative(tolerance)) {
    const message = 'must be greater or equal to zero';
    errors.push(fieldError.invalid(String(rulesAt.child('tolerance')), tolerance, message));
  }
  return [...errors, ...each(policies, rulesAt.child('policies'), validatePolicy)];
}

function validatePolicy(policy: Fields, policyAt: FieldPath): FieldError[] {
  const errors = oneOf(asText(policy['type']), policyAt.child('type'), ['Percent', 'Pods']);
  for (const field of ['value', 'periodSeconds']) {
    const amount = asNumber(policy[field]);
    if (amount > 0) continue;
    errors.push(fieldError.invalid(String(policyAt.child(field)), amount, 'must be greater than zero'));
  }
  if (asNumber(policy['periodSeconds']) > periodSecondsMax) {
    const message = `must be less than or equal to ${periodSecondsMax}`;
    errors.push(fieldError.invalid(String(policyAt.child('periodSeconds')), policy['periodSeconds'], message));
  }
  return errors;
}

export function validateAutoscalerStatus(autoscaler: KubeObject): FieldError[] {
  const status = asFields(autoscaler['status']);
  return ['currentReplicas', 'desiredReplicas'].flatMap((field) =>
    notNegative(status[field], path('status').child(field)),
  );
}
