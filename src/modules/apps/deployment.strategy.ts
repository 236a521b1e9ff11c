import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { notNegative, required } from '../../machinery/field-rules.js';
import { asFields, asNumber, fillIn, fillInZero, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import { atMostAll, intOrPercent, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/status-subresource.js';
import type { Strategy } from '../../registry/strategy.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCollisions, validateCounters, validateParts } from '../core/replica-status.validation.js';
import { specAt, validateSelectedTemplate, workloadStrategy } from './workload.strategy.js';

export const deploymentStrategy: Strategy = workloadStrategy({
  validateName: nameIsDnsSubdomain,
  default: defaultDeployment,
  status: () => ({}),
  prepareForUpdate: countAnnotations,
  validate: validateDeployment,
});

function defaultDeployment(deployment: KubeObject): void {
  const spec = makeFields(deployment, 'spec');
  fillIn(spec, 'replicas', 1);
  const strategy = makeFields(spec, 'strategy');
  fillInZero(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const update = makeFields(strategy, 'rollingUpdate');
    fillIn(update, 'maxUnavailable', '25%');
    fillIn(update, 'maxSurge', '25%');
  }
  fillIn(spec, 'revisionHistoryLimit', 10);
  fillIn(spec, 'progressDeadlineSeconds', 600);
  defaultPodTemplate(spec);
  makeFields(deployment, 'status');
  fillConditionTimes(deployment, 'lastUpdateTime', 'lastTransitionTime');
}

/** Its annotations are copied to what it makes, so that a change of them is work to do like a change of the spec. */
function countAnnotations(deployment: KubeObject, old: KubeObject): void {
  if (deepEqual(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return;
  deployment.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function validateDeployment(spec: Fields): FieldError[] {
  const { progressDeadlineSeconds: deadline } = spec;
  const ready = asNumber(spec['minReadySeconds']);
  return [
    ...notNegative(spec['replicas'], specAt.child('replicas')),
    ...notNegative(spec['minReadySeconds'], specAt.child('minReadySeconds')),
    ...validateSelectedTemplate(spec, { kind: 'deployment', isRequired: true, maker: 'ReplicaSet' }),
    ...validateUpdateStrategy(asFields(spec['strategy'])),
    ...notNegative(spec['revisionHistoryLimit'], specAt.child('revisionHistoryLimit')),
    ...notNegative(deadline, specAt.child('progressDeadlineSeconds')),
    ...(isSet(deadline) && asNumber(deadline) <= ready
      ? [
          fieldError.invalid(
            String(specAt.child('progressDeadlineSeconds')),
            deadline,
            'must be greater than minReadySeconds',
          ),
        ]
      : []),
  ];
}

function validateUpdateStrategy(strategy: Fields): FieldError[] {
  const at = specAt.child('strategy');
  const { type, rollingUpdate } = strategy;
  if (type === 'Recreate') {
    if (!isSet(rollingUpdate)) return [];
    const message = "may not be specified when strategy `type` is 'Recreate'";
    return [fieldError.forbidden(String(at.child('rollingUpdate')), message)];
  }
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: rollingUpdate ?? null };
    return [fieldError.notSupported(String(at), shown, ['Recreate', 'RollingUpdate'])];
  }
  const updateAt = at.child('rollingUpdate');
  if (!isSet(rollingUpdate)) return required(undefined, updateAt);
  const { maxUnavailable, maxSurge } = asFields(rollingUpdate);
  const unavailableAt = updateAt.child('maxUnavailable');
  const errors = [
    ...validateIntOrPercent(maxUnavailable, unavailableAt),
    ...validateIntOrPercent(maxSurge, updateAt.child('maxSurge')),
  ];
  // Nothing may go and nothing may come: such an update never moves.
  if (intOrPercent(maxUnavailable) === 0 && intOrPercent(maxSurge) === 0) {
    errors.push(fieldError.invalid(String(unavailableAt), maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...errors, ...atMostAll(maxUnavailable, unavailableAt)];
}

const counters = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'];

export const deploymentStatusSubresource = statusSubresource({
  keepsLabels: true,
  validate: (deployment, old) => [
    ...validateCounters(deployment, ['observedGeneration', ...counters, 'terminatingReplicas', 'collisionCount']),
    ...validateParts(deployment, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    ...validateParts(deployment, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
    ...validateCollisions(deployment, old),
  ],
});
