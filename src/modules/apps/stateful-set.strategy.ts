import type { StatefulSet } from '../../catalog/types/apps.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsLabel } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultClaim } from '../core/persistent-volume-claim.defaults.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCollisions, validateCounters, validateAtMost } from '../core/replica-status.validation.js';
import { validateStatefulSet, validateStatefulSetUpdate } from './stateful-set.validation.js';
import { workloadStrategy } from './workload.strategy.js';

const base = workloadStrategy<StatefulSet>({
  validateName: nameIsDnsLabel,
  default: defaultStatefulSet,
  initialStatus: () => ({ replicas: 0, availableReplicas: 0 }),
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
});

export const statefulSetStrategy: Strategy<StatefulSet> = {
  ...base,
  warnings(set, old) {
    const texts = base.warnings!(set, old);
    if ((set.spec?.revisionHistoryLimit ?? 0) < 0) {
      texts.push(
        'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
      );
    }
    return texts;
  },
};

function defaultStatefulSet(set: Mutable<StatefulSet>): void {
  const spec = (set.spec ??= {});
  spec.replicas ??= 1;
  spec.serviceName ??= '';
  spec.podManagementPolicy ||= 'OrderedReady';
  const strategy = (spec.updateStrategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {};
    strategy.rollingUpdate.partition ??= 0;
  }
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ||= 'Retain';
  retention.whenScaled ||= 'Retain';
  if (spec.ordinals) spec.ordinals.start ??= 0;
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.kind ??= 'PersistentVolumeClaim';
    claim.apiVersion ??= 'v1';
    claim.metadata ??= {};
    defaultClaim(claim);
  }
  const status = (set.status ??= {});
  status.replicas ??= 0;
  status.availableReplicas ??= 0;
  fillConditionTimes(set, 'lastTransitionTime');
}

const countedReplicas = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;

export const statefulSetStatusSubresource = statusSubresource<StatefulSet>({
  validate: (set, old) => [
    ...validateCounters(set, ['replicas', ...countedReplicas, 'observedGeneration', 'collisionCount']),
    ...validateAtMost(set, countedReplicas, 'replicas'),
    ...validateAtMost(set, ['availableReplicas'], 'readyReplicas'),
    ...validateCollisions(set, old),
  ],
});
