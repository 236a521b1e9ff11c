import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HPAScalingPolicy,
  HPAScalingRules,
} from '../../catalog/types/autoscaling.v2.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, notNegative, oneOf } from '../../machinery/field-rules.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import { isNegative } from '../core/pod/pod-resources.js';
import { validateMetrics } from './metrics.validation.js';
import { validateReference } from './reference.validation.js';

const at = path('spec');

export function validateAutoscaler(autoscaler: HorizontalPodAutoscaler, old?: HorizontalPodAutoscaler): FieldError[] {
  const { spec = {} } = autoscaler;
  const { minReplicas, maxReplicas = 0, scaleTargetRef = {}, behavior = {} } = spec;
  // An autoscaler that scales to zero already may keep doing it.
  const lowest = old?.spec?.minReplicas === 0 ? 0 : 1;
  const errors: FieldError[] = [];
  if ((minReplicas ?? 0) < lowest) {
    const message = `must be greater than or equal to ${lowest}`;
    errors.push(fieldError.invalid(at.child('minReplicas'), minReplicas, message));
  }
  const maxAt = at.child('maxReplicas');
  if (maxReplicas < 1) errors.push(fieldError.required(maxAt, 'must be set and greater than 0'));
  if (maxReplicas < (minReplicas ?? 0)) {
    const message = 'must be greater than or equal to `minReplicas`';
    errors.push(fieldError.invalid(maxAt, maxReplicas, message));
  }
  return [
    ...errors,
    ...validateTargetRef(scaleTargetRef, old?.spec?.scaleTargetRef),
    ...validateMetrics(spec.metrics ?? [], at.child('metrics'), minReplicas ?? 0),
    ...(behavior.scaleUp ? validateRules(behavior.scaleUp, at.child('behavior', 'scaleUp')) : []),
    ...(behavior.scaleDown ? validateRules(behavior.scaleDown, at.child('behavior', 'scaleDown')) : []),
  ];
}

/** Validates the reference to the scaled object. Of the core group only ReplicationControllers can be scaled. */
function validateTargetRef(
  ref: CrossVersionObjectReference,
  before: CrossVersionObjectReference | undefined,
): FieldError[] {
  const refAt = at.child('scaleTargetRef');
  const errors = validateReference(ref, refAt);
  const { apiVersion: version = '' } = ref;
  if (before && before.apiVersion === ref.apiVersion) return errors;
  const parsed = parseApiVersion(version);
  const versionAt = refAt.child('apiVersion');
  if (!parsed) return [...errors, fieldError.invalid(versionAt, version, `unexpected GroupVersion string: ${version}`)];
  const isCore = ref.kind === 'ReplicationController' && version !== '';
  if (parsed.group !== '' || isCore) return errors;
  return [...errors, fieldError.invalid(versionAt, version, 'apiVersion must specify API group')];
}

const windowSecondsMax = 3600;
const periodSecondsMax = 1800;

function validateRules(rules: HPAScalingRules, rulesAt: FieldPath): FieldError[] {
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [], tolerance } = rules;
  const windowAt = rulesAt.child('stabilizationWindowSeconds');
  const errors = notNegative(window, windowAt);
  if (window > windowSecondsMax) {
    errors.push(fieldError.invalid(windowAt, window, `must be less than or equal to ${windowSecondsMax}`));
  }
  errors.push(...oneOf(selectPolicy, rulesAt.child('selectPolicy'), ['Disabled', 'Max', 'Min']));
  if (policies.length === 0) {
    errors.push(fieldError.required(rulesAt.child('policies'), 'must specify at least one Policy'));
  }
  if (isNegative(tolerance)) {
    const message = 'must be greater or equal to zero';
    errors.push(fieldError.invalid(rulesAt.child('tolerance'), tolerance, message));
  }
  return [...errors, ...each(policies, rulesAt.child('policies'), validatePolicy)];
}

function validatePolicy(policy: HPAScalingPolicy, policyAt: FieldPath): FieldError[] {
  const { type = '', periodSeconds = 0 } = policy;
  const errors = oneOf(type, policyAt.child('type'), ['Percent', 'Pods']);
  for (const field of ['value', 'periodSeconds'] as const) {
    const amount = policy[field] ?? 0;
    if (amount > 0) continue;
    errors.push(fieldError.invalid(policyAt.child(field), amount, 'must be greater than zero'));
  }
  if (periodSeconds > periodSecondsMax) {
    const message = `must be less than or equal to ${periodSecondsMax}`;
    errors.push(fieldError.invalid(policyAt.child('periodSeconds'), periodSeconds, message));
  }
  return errors;
}

export function validateAutoscalerStatus({ status = {} }: HorizontalPodAutoscaler): FieldError[] {
  const statusAt = path('status');
  return [
    ...notNegative(status.currentReplicas, statusAt.child('currentReplicas')),
    ...notNegative(status.desiredReplicas, statusAt.child('desiredReplicas')),
  ];
}
