import type { ReplicaSet, ReplicaSetSpec } from '../../catalog/types/apps.v1.js';
import type { FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCounters, validateAtMost } from '../core/replica-status.validation.js';
import { specAt, validateSelectedTemplate, workloadStrategy } from './workload.strategy.js';

export const replicaSetStrategy = workloadStrategy<ReplicaSet>({
  validateName: nameIsDnsSubdomain,
  default: defaultReplicaSet,
  initialStatus: () => ({ replicas: 0 }),
  validate: validateReplicaSet,
});

function defaultReplicaSet(set: Mutable<ReplicaSet>): void {
  const spec = (set.spec ??= {});
  spec.replicas ??= 1;
  defaultPodTemplate(spec);
  set.status ??= {};
  set.status.replicas ??= 0;
  fillConditionTimes(set, 'lastTransitionTime');
}

function validateReplicaSet(spec: ReplicaSetSpec): FieldError[] {
  return [
    ...notNegative(spec.replicas, specAt.child('replicas')),
    ...notNegative(spec.minReadySeconds, specAt.child('minReadySeconds')),
    // The message says deployment for ReplicaSets too, as in kube-apiserver.
    ...validateSelectedTemplate(spec, { kind: 'deployment', isRequired: true, maker: 'ReplicaSet' }),
  ];
}

export const replicaSetStatusSubresource = statusSubresource<ReplicaSet>({
  validate: (set) => [
    ...validateCounters(set, ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    ...validateCounters(set, ['terminatingReplicas', 'observedGeneration']),
    ...validateAtMost(set, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    ...validateAtMost(set, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
  ],
});
