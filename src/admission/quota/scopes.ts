import { asFields, asItems, asNumber, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ScopeRequirement } from '../configuration/quota.configuration.js';
import { containersOf } from '../pods/containers.js';
import { amountsOf } from '../pods/pod-requests.js';

/** Which objects a quota counts: all of its scopes must hold. */
export function scopesOf(quota: KubeObject): ScopeRequirement[] {
  const spec = asFields(quota['spec']);
  return [
    ...asTexts(spec['scopes']).map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
    ...asItems(asFields(spec['scopeSelector'])['matchExpressions']).map((expression) => ({
      scopeName: asText(expression['scopeName']),
      operator: asText(expression['operator']),
      values: asTexts(expression['values']),
    })),
  ];
}

export type ScopeMatcher = (scope: ScopeRequirement, object: KubeObject) => boolean;

export const podScope: ScopeMatcher = (scope, pod) => {
  const spec = asFields(pod['spec']);
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
      return valueMatches(scope, asText(spec['priorityClassName']));
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(spec);
    default:
      return false;
  }
};

/** Equal for Pods that are in the same scopes. */
export function scopeKey({ spec }: KubeObject): string {
  const fields = asFields(spec);
  const facts = [isBounded(fields), isBestEffort(fields), reachesOtherNamespaces(fields)];
  return [...facts, asText(fields['priorityClassName'])].join();
}

export const claimScope: ScopeMatcher = (scope, claim) => {
  if (scope.scopeName !== 'VolumeAttributesClass') return false;
  const names = [
    asText(asFields(claim['spec'])['volumeAttributesClassName']),
    asText(asFields(claim['status'])['currentVolumeAttributesClassName']),
    asText(asFields(asFields(claim['status'])['modifyVolumeStatus'])['targetVolumeAttributesClassName']),
  ];
  return names.some((name) => name !== '' && valueMatches(scope, name)) || (names[0] === '' && valueMatches(scope, ''));
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

/** It ends by itself after some time. */
function isBounded(spec: Fields): boolean {
  return isSet(spec['activeDeadlineSeconds']) && asNumber(spec['activeDeadlineSeconds']) >= 0;
}

/** Nobody in it asks for any processor or memory. */
export function isBestEffort(spec: Fields): boolean {
  return [spec, ...containersOf(spec, ['initContainers', 'containers'])].every((holder) =>
    (['requests', 'limits'] as const).every((side) => {
      const amounts = amountsOf(holder, side);
      return ['cpu', 'memory'].every((name) => amounts.get(name)?.isZero ?? true);
    }),
  );
}

function reachesOtherNamespaces(spec: Fields): boolean {
  const affinity = asFields(spec['affinity']);
  return ['podAffinity', 'podAntiAffinity'].some((field) => {
    const terms = asFields(affinity[field]);
    const preferred = asItems(terms['preferredDuringSchedulingIgnoredDuringExecution']);
    return [
      ...asItems(terms['requiredDuringSchedulingIgnoredDuringExecution']),
      ...preferred.map(({ podAffinityTerm }) => asFields(podAffinityTerm)),
    ].some((term) => asTexts(term['namespaces']).length > 0 || isSet(term['namespaceSelector']));
  });
}
