import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../../catalog/types/apps.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { notNegative, required } from '../../machinery/field-rules.js';
import { atMostAll, intOrPercent, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import { nextGeneration } from '../../machinery/int64.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCollisions, validateCounters, validateAtMost } from '../core/replica-status.validation.js';
import { specAt, validateSelectedTemplate, workloadStrategy } from './workload.strategy.js';

export const deploymentStrategy = workloadStrategy<Deployment>({
  validateName: nameIsDnsSubdomain,
  default: defaultDeployment,
  prepareForUpdate: countAnnotationChange,
  validate: validateDeployment,
});

function defaultDeployment(deployment: Mutable<Deployment>): void {
  const spec = (deployment.spec ??= {});
  spec.replicas ??= 1;
  const strategy = (spec.strategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const update = (strategy.rollingUpdate ??= {});
    update.maxUnavailable ??= '25%';
    update.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  defaultPodTemplate(spec);
  deployment.status ??= {};
  fillConditionTimes(deployment, 'lastUpdateTime', 'lastTransitionTime');
}

/** Increments the generation when annotations change: the deployment controller copies them to ReplicaSets. */
function countAnnotationChange(deployment: Mutable<Deployment>, old: Deployment): void {
  if (deepEqual(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return;
  deployment.metadata.generation = nextGeneration(old.metadata.generation);
}

function validateDeployment(spec: DeploymentSpec): FieldError[] {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  return [
    ...notNegative(spec.replicas, specAt.child('replicas')),
    ...notNegative(minReadySeconds, specAt.child('minReadySeconds')),
    ...validateSelectedTemplate(spec, { kind: 'deployment', isRequired: true, maker: 'ReplicaSet' }),
    ...validateUpdateStrategy(spec.strategy ?? {}),
    ...notNegative(spec.revisionHistoryLimit, specAt.child('revisionHistoryLimit')),
    ...notNegative(deadline, specAt.child('progressDeadlineSeconds')),
    ...(deadline !== undefined && deadline <= minReadySeconds
      ? [fieldError.invalid(specAt.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds')]
      : []),
  ];
}

function validateUpdateStrategy({ type, rollingUpdate }: DeploymentStrategy): FieldError[] {
  const at = specAt.child('strategy');
  if (type === 'Recreate') {
    if (!rollingUpdate) return [];
    const message = "may not be specified when strategy `type` is 'Recreate'";
    return [fieldError.forbidden(at.child('rollingUpdate'), message)];
  }
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: rollingUpdate ?? null };
    return [fieldError.notSupported(at, shown, ['Recreate', 'RollingUpdate'])];
  }
  const updateAt = at.child('rollingUpdate');
  if (!rollingUpdate) return required(undefined, updateAt);
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const unavailableAt = updateAt.child('maxUnavailable');
  const errors = [
    ...validateIntOrPercent(maxUnavailable, unavailableAt),
    ...validateIntOrPercent(maxSurge, updateAt.child('maxSurge')),
  ];
  // With both at zero a rolling update could not remove or add a Pod.
  if (intOrPercent(maxUnavailable) === 0 && intOrPercent(maxSurge) === 0) {
    errors.push(fieldError.invalid(unavailableAt, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...errors, ...atMostAll(maxUnavailable, unavailableAt)];
}

const counters = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'] as const;

export const deploymentStatusSubresource = statusSubresource<Deployment>({
  keepsLabels: true,
  validate: (deployment, old) => [
    ...validateCounters(deployment, ['observedGeneration', ...counters, 'terminatingReplicas', 'collisionCount']),
    ...validateAtMost(deployment, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    ...validateAtMost(deployment, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
    ...validateCollisions(deployment, old),
  ],
});
