import type { PersistentVolumeClaim, Pod, PodSpec, ResourceQuota } from '../../catalog/types/core.v1.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ScopeRequirement } from '../configuration/quota.configuration.js';
import { containersOf } from '../../pods/containers.js';
import { amountsOf } from '../pods/pod-requests.js';

/** Returns the requirements of spec.scopes and spec.scopeSelector. A quota counts objects that match all of them. */
export function scopesOf({ spec = {} }: ResourceQuota): ScopeRequirement[] {
  return [
    ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
    ...(spec.scopeSelector?.matchExpressions ?? []).map(({ scopeName = '', operator = '', values = [] }) => ({
      scopeName,
      operator,
      values,
    })),
  ];
}

export type ScopeMatcher = (scope: ScopeRequirement, object: KubeObject) => boolean;

export const podScope: ScopeMatcher = (scope, { spec = {} }: Pod) => {
  switch (scope.scopeName) {
    case 'Terminating':
      return isBounded(spec);
    case 'NotTerminating':
      return !isBounded(spec);
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'PriorityClass':
      return valueMatches(scope, spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(spec);
    default:
      return false;
  }
};

/** Returns a text that is equal for two Pods if the same scopes match them. */
export function scopeKey({ spec = {} }: Pod): string {
  const facts = [isBounded(spec), isBestEffort(spec), reachesOtherNamespaces(spec)];
  return [...facts, spec.priorityClassName ?? ''].join();
}

export const claimScope: ScopeMatcher = (scope, { spec, status }: PersistentVolumeClaim) => {
  if (scope.scopeName !== 'VolumeAttributesClass') return false;
  const wanted = spec?.volumeAttributesClassName ?? '';
  const names = [
    wanted,
    status?.currentVolumeAttributesClassName ?? '',
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName ?? '',
  ];
  return names.some((name) => name !== '' && valueMatches(scope, name)) || (wanted === '' && valueMatches(scope, ''));
};

export const noScope: ScopeMatcher = () => false;

function valueMatches({ operator, values }: ScopeRequirement, value: string): boolean {
  switch (operator) {
    case 'Exists':
      return value !== '';
    case 'DoesNotExist':
      return value === '';
    case 'In':
      return values.includes(value);
    case 'NotIn':
      return !values.includes(value);
    default:
      return false;
  }
}

/** True if spec.activeDeadlineSeconds ends the Pod after some time. */
function isBounded({ activeDeadlineSeconds }: PodSpec): boolean {
  return activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0;
}

/** True if the Pod and its containers have no requests and limits of cpu and memory. */
export function isBestEffort(spec: PodSpec): boolean {
  return [spec, ...containersOf(spec, ['initContainers', 'containers'])].every((holder) =>
    (['requests', 'limits'] as const).every((side) => {
      const amounts = amountsOf(holder, side);
      return ['cpu', 'memory'].every((name) => amounts.get(name)?.isZero ?? true);
    }),
  );
}

/** True if a term of Pod affinity or anti-affinity names or selects namespaces. */
function reachesOtherNamespaces({ affinity = {} }: PodSpec): boolean {
  return [affinity.podAffinity, affinity.podAntiAffinity].some((terms) =>
    [
      ...(terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
        ({ podAffinityTerm }) => podAffinityTerm ?? [],
      ),
    ].some((term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined),
  );
}
