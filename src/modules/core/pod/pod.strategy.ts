import type { Container, Pod, PodCondition, PodSpec } from '../../../catalog/types/core.v1.js';
import type { LabelSelector } from '../../../catalog/types/meta.v1.js';
import type { NamingProfile } from '../../../config/naming-profile.js';
import type { FieldError } from '../../../machinery/field-error.js';
import type { Int64 } from '../../../machinery/int64.js';
import type { Mutable } from '../../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../../machinery/names.js';
import type { ViewSubresource } from '../../../registry/definition/resource-definition.js';
import { statusSubresource } from '../../../registry/definition/status-subresource.js';
import type { Strategy } from '../../../registry/definition/strategy.js';
import { defaultPod } from './pod.defaults.js';
import { immutableAnnotationsOf, type ImmutableAnnotations } from './pod.mutation.validation.js';
import { qosClass } from './pod.qos.js';
import { validateResize } from './pod.resize.validation.js';
import { validateEphemeralUpdate, validatePodStatus, validatePodUpdate } from './pod.update.validation.js';
import { validateNewPod } from './pod.validation.js';
import { podWarnings } from './pod.warnings.js';

/** The strategy of Pods and their view subresources. */
interface PodRules {
  readonly strategy: Strategy<Pod>;
  readonly statusSubresource: ViewSubresource;
  readonly ephemeralContainersSubresource: ViewSubresource;
  readonly resizeSubresource: ViewSubresource;
}

export function podRules(naming: NamingProfile): PodRules {
  const annotations = immutableAnnotationsOf(naming);
  return {
    strategy: { ...podStrategy, validateUpdate: (pod, old) => validatePodUpdate(pod, old, annotations) },
    statusSubresource: podStatusSubresource(annotations),
    ephemeralContainersSubresource: ephemeralContainersSubresource(annotations),
    resizeSubresource: resizeSubresource(annotations),
  };
}

const podStrategy: Strategy<Pod> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPod,
  initialStatus: (pod, { now }) => ({
    phase: 'Pending',
    ...(pod.spec?.schedulingGates?.length && { conditions: [gatedCondition(now)] }),
    qosClass: qosClass(pod),
  }),
  prepareForCreate(pod) {
    const spec = (pod.spec ??= {});
    // A negative grace period means the shortest one.
    if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
    applyMatchLabelKeys(pod, spec);
  },
  validateCreate: validateNewPod,
  warnings: podWarnings,
  deletion: { graceSeconds },
};

function gatedCondition(now: string): Mutable<PodCondition> {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

/**
 * Adds the Pod's own values of the labels in matchLabelKeys and mismatchLabelKeys to the label selectors beside them,
 * in spread constraints and in Pod affinity.
 */
function applyMatchLabelKeys({ metadata: { labels = {} } }: Mutable<Pod>, spec: Mutable<PodSpec>): void {
  for (const constraint of spec.topologySpreadConstraints ?? []) {
    narrowSelector(constraint.labelSelector, constraint.matchLabelKeys, 'In', labels);
  }
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  for (const affinity of [podAffinity, podAntiAffinity]) {
    const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const terms = [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...preferred.map(({ podAffinityTerm = {} }) => podAffinityTerm),
    ];
    for (const { labelSelector, matchLabelKeys, mismatchLabelKeys } of terms) {
      narrowSelector(labelSelector, matchLabelKeys, 'In', labels);
      narrowSelector(labelSelector, mismatchLabelKeys, 'NotIn', labels);
    }
  }
}

function narrowSelector(
  selector: Mutable<LabelSelector> | undefined,
  keys: readonly string[] | undefined,
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): void {
  if (!selector) return;
  const added = (keys ?? [])
    .filter((key) => Object.hasOwn(labels, key))
    .map((key) => ({ key, operator, values: [labels[key]!] }));
  if (added.length > 0) selector.matchExpressions = [...(selector.matchExpressions ?? []), ...added];
}

/** Returns zero for a Pod without a kubelet that has to stop it: it is not scheduled, or its containers have ended. */
function graceSeconds({ spec = {}, status }: Pod, requested: Int64 | undefined): Int64 {
  if (!spec.nodeName || status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}

/** A write of a status without qosClass keeps the class that the Pod got when it was created. */
function podStatusSubresource(annotations: ImmutableAnnotations): ViewSubresource {
  const subresource = statusSubresource<Pod>({ validate: (pod, old) => validatePodStatus(pod, old, annotations) });
  return {
    ...subresource,
    put(pod: Pod, view) {
      const merged: Pod = subresource.put(pod, view);
      const oldClass = pod.status?.qosClass;
      if (oldClass === undefined || merged.status?.qosClass) return merged;
      return { ...merged, status: { ...merged.status, qosClass: oldClass } };
    },
  };
}

interface SpecSubresource {
  /** The paths that a write changes. */
  readonly onlyFields: readonly string[];
  /** Returns the spec of the Pod with these fields of the submitted spec. */
  readonly merge: (spec: PodSpec, submitted: PodSpec) => PodSpec;
  readonly validate: (pod: Pod, old: Pod) => FieldError[];
}

/** A subresource that writes some fields of the spec and leaves all others unchanged. */
function specSubresource({ onlyFields, merge, validate }: SpecSubresource): ViewSubresource {
  return {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    view: (pod) => pod,
    onlyFields,
    put(pod: Pod, view: Pod) {
      const { resourceVersion } = view.metadata;
      return {
        ...pod,
        metadata: { ...pod.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
        spec: merge(pod.spec ?? {}, view.spec ?? {}),
      };
    },
    validate,
  };
}

const ephemeralContainersSubresource = ({ mirror }: ImmutableAnnotations): ViewSubresource =>
  specSubresource({
    onlyFields: ['spec/ephemeralContainers'],
    merge: (spec, { ephemeralContainers }) => ({ ...spec, ephemeralContainers: structuredClone(ephemeralContainers) }),
    validate: (pod, old) => validateEphemeralUpdate(pod, old, mirror),
  });

const resizeSubresource = ({ mirror }: ImmutableAnnotations): ViewSubresource =>
  specSubresource({
    onlyFields: ['resources', 'resizePolicy'].flatMap((field) => [
      `spec/containers/*/${field}`,
      `spec/initContainers/*/${field}`,
    ]),
    merge: (spec, submitted) => ({
      ...spec,
      ...(spec.containers && { containers: resized(spec.containers, submitted.containers ?? []) }),
      ...(spec.initContainers && { initContainers: resized(spec.initContainers, submitted.initContainers ?? []) }),
    }),
    validate: (pod, old) => validateResize(pod, old, mirror),
  });

/** Returns containers with the resources and resizePolicy of the submitted containers of the same name. */
function resized(containers: readonly Container[], submitted: readonly Container[]): Container[] {
  const byName = new Map(submitted.map((container) => [container.name, container]));
  return containers.map((container) => {
    const { resources, resizePolicy } = byName.get(container.name) ?? container;
    return structuredClone({ ...container, resources, ...(resizePolicy !== undefined && { resizePolicy }) });
  });
}
