import type { NamingProfile } from '../../../config/naming-profile.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../../machinery/names.js';
import type { ViewSubresource } from '../../../registry/definition/resource-definition.js';
import { statusSubresource } from '../../../registry/definition/status-subresource.js';
import type { Strategy } from '../../../registry/definition/strategy.js';
import { defaultPod } from './pod.defaults.js';
import { qosClass } from './pod.qos.js';
import { fixedAnnotationsOf, type FixedAnnotations } from './pod.mutation.validation.js';
import { validateResize } from './pod.resize.validation.js';
import { validateEphemeralUpdate, validatePodStatus, validatePodUpdate } from './pod.update.validation.js';
import { validateNewPod } from './pod.validation.js';
import { podWarnings } from './pod.warnings.js';

/** The strategy of Pods and the lenses of their subresources. */
export function podRules(naming: NamingProfile) {
  const annotations = fixedAnnotationsOf(naming);
  return {
    strategy: {
      ...podStrategy,
      validateUpdate: (pod, old) => validatePodUpdate(pod, old, annotations),
    } satisfies Strategy as Strategy,
    statusSubresource: podStatusSubresource(annotations),
    ephemeralContainersSubresource: ephemeralContainersSubresource(annotations),
    resizeSubresource: resizeSubresource(annotations),
  };
}

const podStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPod,
  prepareForCreate(pod, { now }) {
    const spec = asFields(pod['spec']);
    // Less than nothing means as soon as can be, which is a second.
    if (asNumber(spec['terminationGracePeriodSeconds']) < 0) spec['terminationGracePeriodSeconds'] = 1;
    spreadByOwnLabels(pod, spec);
    const isGated = asItems(spec['schedulingGates']).length > 0;
    pod['status'] = {
      phase: 'Pending',
      ...(isGated && { conditions: [gatedCondition(now)] }),
      qosClass: qosClass(pod),
    };
  },
  prepareForUpdate(pod, old) {
    if (old['status'] === undefined) delete pod['status'];
    else pod['status'] = old['status'];
  },
  validateCreate: validateNewPod,
  warnings: podWarnings,
  deletion: { graceSeconds },
};

function gatedCondition(now: string): Fields {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

/** matchLabelKeys mean "as this very pod is labelled", which becomes part of the selector once the labels are known. */
function spreadByOwnLabels(pod: KubeObject, spec: Fields): void {
  const labels = pod.metadata.labels ?? {};
  for (const constraint of asItems(spec['topologySpreadConstraints'])) {
    narrowSelector(constraint, constraint['matchLabelKeys'], 'In', labels);
  }
  const affinity = asFields(spec['affinity']);
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: hard,
      preferredDuringSchedulingIgnoredDuringExecution: soft,
    } = asFields(affinity[kind]);
    const terms = [...asItems(hard), ...asItems(soft).map((term) => asFields(term['podAffinityTerm']))];
    for (const term of terms) {
      narrowSelector(term, term['matchLabelKeys'], 'In', labels);
      narrowSelector(term, term['mismatchLabelKeys'], 'NotIn', labels);
    }
  }
}

function narrowSelector(
  owner: Fields,
  keys: unknown,
  operator: string,
  labels: Readonly<Record<string, string>>,
): void {
  if (!Array.isArray(keys) || !isSet(owner['labelSelector'])) return;
  const selector = asFields(owner['labelSelector']);
  const added = keys.flatMap((key) =>
    typeof key === 'string' && Object.hasOwn(labels, key) ? [{ key, operator, values: [labels[key]] }] : [],
  );
  if (added.length > 0) selector['matchExpressions'] = [...asItems(selector['matchExpressions']), ...added];
}

/** A pod that runs on no node, or has ended, has nobody to wait for. */
function graceSeconds(pod: KubeObject, requested: number | undefined): number {
  const spec = asFields(pod['spec']);
  const phase = asFields(pod['status'])['phase'];
  if (asText(spec['nodeName']) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = requested ?? asNumber(spec['terminationGracePeriodSeconds']);
  return seconds < 0 ? 1 : seconds;
}

/** Status without a class of service keeps the one that the pod was given when it was made. */
function podStatusSubresource(annotations: FixedAnnotations): ViewSubresource {
  const parts = statusSubresource({ validate: (pod, old) => validatePodStatus(pod, old, annotations) });
  return {
    ...parts,
    put(pod, view) {
      const merged = parts.put(pod, view);
      const given = asFields(pod['status'])['qosClass'];
      const status = asFields(merged['status']);
      if (given !== undefined && !status['qosClass']) merged['status'] = { ...status, qosClass: given };
      return merged;
    },
  };
}

/** Of what is submitted, only some fields of the spec are taken. */
function specSubresource(
  reached: readonly string[],
  pick: (spec: Fields, view: Fields) => Fields,
  validate: ViewSubresource['validate'],
): ViewSubresource {
  return {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    view: (pod) => pod,
    onlyFields: reached,
    put(pod, view) {
      const { resourceVersion } = view.metadata;
      return {
        ...pod,
        metadata: { ...pod.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
        spec: pick(asFields(pod['spec']), asFields(view['spec'])),
      };
    },
    ...(validate && { validate }),
  };
}

const ephemeralContainersSubresource = ({ mirror }: FixedAnnotations): ViewSubresource =>
  specSubresource(
    ['spec/ephemeralContainers'],
    (spec, { ephemeralContainers }) => ({ ...spec, ephemeralContainers: structuredClone(ephemeralContainers) }),
    (pod, old) => validateEphemeralUpdate(pod, old, mirror),
  );

const resizedFields = ['resources', 'resizePolicy'].flatMap((field) => [
  `spec/containers/*/${field}`,
  `spec/initContainers/*/${field}`,
]);

const resizeSubresource = ({ mirror }: FixedAnnotations): ViewSubresource =>
  specSubresource(
    resizedFields,
    (spec, view) => {
      const resized = { ...spec };
      for (const list of ['containers', 'initContainers']) {
        if (!isSet(spec[list])) continue;
        const wanted = new Map(asItems(view[list]).map((container) => [container['name'], container]));
        resized[list] = asItems(spec[list]).map((container) => {
          const { resources, resizePolicy } = wanted.get(container['name']) ?? container;
          return structuredClone({ ...container, resources, ...(resizePolicy !== undefined && { resizePolicy }) });
        });
      }
      return resized;
    },
    (pod, old) => validateResize(pod, old, mirror),
  );
