import type { FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import { fillIn, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/status-subresource.js';
import type { Strategy } from '../../registry/strategy.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCounters, validateParts } from '../core/replica-status.validation.js';
import { specAt, validateSelectedTemplate, workloadStrategy } from './workload.strategy.js';

export const replicaSetStrategy: Strategy = workloadStrategy({
  validateName: nameIsDnsSubdomain,
  default: defaultReplicaSet,
  status: () => ({ replicas: 0 }),
  validate: validateReplicaSet,
});

function defaultReplicaSet(set: KubeObject): void {
  const spec = makeFields(set, 'spec');
  fillIn(spec, 'replicas', 1);
  defaultPodTemplate(spec);
  fillIn(makeFields(set, 'status'), 'replicas', 0);
  fillConditionTimes(set, 'lastTransitionTime');
}

function validateReplicaSet(spec: Fields): FieldError[] {
  return [
    ...notNegative(spec['replicas'], specAt.child('replicas')),
    ...notNegative(spec['minReadySeconds'], specAt.child('minReadySeconds')),
    // The message says deployment here too, and clients know it so.
    ...validateSelectedTemplate(spec, { kind: 'deployment', isRequired: true, maker: 'ReplicaSet' }),
  ];
}

export const replicaSetStatusSubresource = statusSubresource({
  validate: (set) => [
    ...validateCounters(set, ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    ...validateCounters(set, ['terminatingReplicas', 'observedGeneration']),
    ...validateParts(set, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    ...validateParts(set, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
  ],
});
