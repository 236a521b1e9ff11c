import { asFields, asItems, fillIn, fillInZero, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsLabel } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/status-subresource.js';
import type { Strategy } from '../../registry/strategy.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultClaim } from '../core/persistent-volume-claim.defaults.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCollisions, validateCounters, validateParts } from '../core/replica-status.validation.js';
import { validateStatefulSet, validateStatefulSetUpdate } from './stateful-set.validation.js';
import { workloadStrategy } from './workload.strategy.js';

const base = workloadStrategy({
  validateName: nameIsDnsLabel,
  default: defaultStatefulSet,
  status: () => ({ replicas: 0, availableReplicas: 0 }),
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
});

export const statefulSetStrategy: Strategy = {
  ...base,
  warnings(set, old) {
    const spec = asFields(set['spec']);
    const texts = base.warnings!(set, old);
    if (spec['revisionHistoryLimit'] !== null && Number(spec['revisionHistoryLimit']) < 0) {
      texts.push(
        'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
      );
    }
    return texts;
  },
};

function defaultStatefulSet(set: KubeObject): void {
  const spec = makeFields(set, 'spec');
  fillIn(spec, 'replicas', 1);
  fillIn(spec, 'serviceName', '');
  fillInZero(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = makeFields(spec, 'updateStrategy');
  fillInZero(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') fillIn(makeFields(strategy, 'rollingUpdate'), 'partition', 0);
  const retention = makeFields(spec, 'persistentVolumeClaimRetentionPolicy');
  for (const when of ['whenDeleted', 'whenScaled']) fillInZero(retention, when, 'Retain');
  if (isSet(spec['ordinals'])) fillIn(asFields(spec['ordinals']), 'start', 0);
  fillIn(spec, 'revisionHistoryLimit', 10);
  defaultPodTemplate(spec);
  for (const claim of asItems(spec['volumeClaimTemplates'])) {
    fillIn(claim, 'kind', 'PersistentVolumeClaim');
    fillIn(claim, 'apiVersion', 'v1');
    fillIn(claim, 'metadata', {});
    defaultClaim(claim);
  }
  const status = makeFields(set, 'status');
  for (const counter of ['replicas', 'availableReplicas']) fillIn(status, counter, 0);
  fillConditionTimes(set, 'lastTransitionTime');
}

const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];

export const statefulSetStatusSubresource = statusSubresource({
  validate: (set, old) => [
    ...validateCounters(set, ['replicas', ...parts, 'observedGeneration', 'collisionCount']),
    ...validateParts(set, parts, 'replicas'),
    ...validateParts(set, ['availableReplicas'], 'readyReplicas'),
    ...validateCollisions(set, old),
  ],
});
