import type * as appsV1 from '../../catalog/types/apps.v1.js';
import type * as appsV1beta1 from '../../catalog/types/apps.v1beta1.js';
import type { PodTemplateSpec } from '../../catalog/types/core.v1.js';
import type * as extensionsV1beta1 from '../../catalog/types/extensions.v1beta1.js';
import type { LabelSelector } from '../../catalog/types/meta.v1.js';
import type { ObjectMeta } from '../../machinery/kube-object.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';
import { generationAnnotation } from './daemon-set.strategy.js';

/**
 * Versions in which older servers stored workloads. v1beta2 has the fields of v1; in the versions before it a selector
 * was optional, some defaults were others, and two fields have since become annotations.
 */
const extensions = { group: 'extensions', version: 'v1beta1' } as const;
const appsBeta = { group: 'apps', version: 'v1beta1' } as const;
const rollbackAnnotation = 'deprecated.deployment.rollback.to';
const noLimit = 2 ** 31 - 1;

export const storedDeployments: readonly StoredVersion[] = [
  {
    ...extensions,
    toHub(stored: extensionsV1beta1.Deployment): appsV1.Deployment {
      const { metadata, spec } = withSelector(stored);
      const { rollbackTo, ...rest } = spec;
      const strategy = { ...(spec.strategy ?? { type: 'RollingUpdate' }) };
      if (strategy.type === 'RollingUpdate') {
        const update = { ...strategy.rollingUpdate };
        update.maxUnavailable ??= 1;
        update.maxSurge ??= 1;
        strategy.rollingUpdate = update;
      }
      return {
        ...stored,
        metadata: withRollback(metadata, rollbackTo),
        spec: {
          ...rest,
          strategy,
          revisionHistoryLimit: rest.revisionHistoryLimit ?? noLimit,
          progressDeadlineSeconds: rest.progressDeadlineSeconds ?? noLimit,
        },
      };
    },
  },
  {
    ...appsBeta,
    toHub(stored: appsV1beta1.Deployment): appsV1.Deployment {
      const { metadata, spec } = withSelector(stored);
      const { rollbackTo, ...rest } = spec;
      return {
        ...stored,
        metadata: withRollback(metadata, rollbackTo),
        spec: { ...rest, revisionHistoryLimit: rest.revisionHistoryLimit ?? 2 },
      };
    },
  },
];

export const storedReplicaSets: readonly StoredVersion[] = [
  {
    ...extensions,
    toHub: (stored: extensionsV1beta1.ReplicaSet): appsV1.ReplicaSet => ({ ...stored, ...withSelector(stored) }),
  },
];

export const storedStatefulSets: readonly StoredVersion[] = [
  {
    ...appsBeta,
    toHub(stored: appsV1beta1.StatefulSet): appsV1.StatefulSet {
      const { metadata, spec } = withSelector(stored);
      return { ...stored, metadata, spec: { ...spec, updateStrategy: spec.updateStrategy ?? { type: 'OnDelete' } } };
    },
  },
];

export const storedDaemonSets: readonly StoredVersion[] = [
  {
    ...extensions,
    toHub(stored: extensionsV1beta1.DaemonSet): appsV1.DaemonSet {
      const { metadata, spec } = withSelector(stored);
      const { templateGeneration: generation, ...rest } = spec;
      return {
        ...stored,
        metadata: generation === undefined ? metadata : annotated(metadata, generationAnnotation, String(generation)),
        spec: { ...rest, updateStrategy: rest.updateStrategy ?? { type: 'OnDelete' } },
      };
    },
  },
];

interface StoredWorkload<Spec> {
  readonly metadata: ObjectMeta;
  readonly spec?: Spec | undefined;
}
type SelectedTemplate = {
  readonly selector?: LabelSelector | undefined;
  readonly template?: PodTemplateSpec | undefined;
};

/** The metadata and spec of a workload, with the labels of its template as its selector and labels where it had none. */
function withSelector<Spec extends SelectedTemplate>({ metadata, spec }: StoredWorkload<Spec>) {
  const labels = spec?.template?.metadata?.labels;
  return {
    metadata: labels && !metadata.labels ? { ...metadata, labels: { ...labels } } : metadata,
    spec: { ...spec, ...(labels && !spec?.selector && { selector: { matchLabels: { ...labels } } }) } as Spec,
  };
}

function withRollback(metadata: ObjectMeta, rollbackTo: extensionsV1beta1.RollbackConfig | undefined): ObjectMeta {
  return rollbackTo ? annotated(metadata, rollbackAnnotation, String(rollbackTo.revision ?? 0)) : metadata;
}

function annotated(metadata: ObjectMeta, annotation: string, value: string): ObjectMeta {
  return { ...metadata, annotations: { ...metadata.annotations, [annotation]: value } };
}
