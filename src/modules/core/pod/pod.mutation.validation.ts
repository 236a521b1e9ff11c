import type { NamingProfile } from '../../../config/naming-profile.js';
import { deepEqual } from '../../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { asFields, asItems, isSet, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';

/** The annotations of Pods that are fixed once the Pod exists. */
export interface FixedAnnotations {
  /** `kubernetes.io/config.mirror` */
  readonly mirror: string;
  /** `container.apparmor.security.beta.kubernetes.io/` */
  readonly appArmorPrefix: string;
}

export const fixedAnnotationsOf = (naming: NamingProfile): FixedAnnotations => ({
  mirror: naming.label('config.mirror'),
  appArmorPrefix: naming.label('', 'container.apparmor.security.beta'),
});

const annotationsAt = path('metadata').child('annotations');

/** Refuses to make a Pod a mirror Pod, or the opposite, and to change its AppArmor profiles. */
export function validateFixedAnnotations(
  { metadata: { annotations: after = {} } }: KubeObject,
  { metadata: { annotations: before = {} } }: KubeObject,
  { mirror, appArmorPrefix }: FixedAnnotations,
): FieldError[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const words =
      key === mirror ? 'mirror pod annotation' : key.startsWith(appArmorPrefix) ? 'AppArmor annotations' : '';
    if (words === '' || (Object.hasOwn(before, key) && before[key] === after[key])) return [];
    const verb = Object.hasOwn(before, key) ? 'remove or update' : 'add';
    return [fieldError.forbidden(String(annotationsAt.key(key)), `may not ${verb} ${words}`)];
  });
}

/**
 * Sets nodeSelector and the node affinity of `fixed` to those of the old spec, where gates keep the Pod from being
 * scheduled, and returns the errors of the change: a selector and required terms may only become narrower.
 */
export function takeNarrowedPlacement(fixed: Fields, oldSpec: Fields): FieldError[] {
  if (asItems(oldSpec['schedulingGates']).length === 0) return [];
  const errors: FieldError[] = [];
  const [selector, oldSelector] = [asFields(fixed['nodeSelector']), asFields(oldSpec['nodeSelector'])];
  if (!deepEqual(selector, oldSelector)) {
    errors.push(...validateSelectorAdditions(selector, oldSelector));
    restore(fixed, oldSpec, 'nodeSelector');
  }
  const [affinity, oldAffinity] = [asFields(fixed['affinity']), asFields(oldSpec['affinity'])];
  const [nodes, oldNodes] = [asFields(affinity['nodeAffinity']), asFields(oldAffinity['nodeAffinity'])];
  if (!deepEqual(nodes, oldNodes)) {
    errors.push(...validateAffinityAdditions(nodes, oldNodes));
    const kept = { ...affinity };
    restore(kept, oldAffinity, 'nodeAffinity');
    if (isSet(oldSpec['affinity']) || Object.keys(kept).length > 0) fixed['affinity'] = kept;
    else delete fixed['affinity'];
  }
  return errors;
}

function restore(target: Fields, source: Fields, field: string): void {
  if (isSet(source[field])) target[field] = source[field];
  else delete target[field];
}

function validateSelectorAdditions(selector: Fields, old: Fields): FieldError[] {
  if (Object.entries(old).every(([key, value]) => Object.hasOwn(selector, key) && selector[key] === value)) return [];
  const message = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [fieldError.invalid('spec.nodeSelector', selector, message)];
}

const termsAt: FieldPath = path('spec').child(
  'affinity',
  'nodeAffinity',
  'requiredDuringSchedulingIgnoredDuringExecution',
  'nodeSelectorTerms',
);

function validateAffinityAdditions(nodes: Fields, old: Fields): FieldError[] {
  const termsOf = (affinity: Fields) =>
    asItems(asFields(affinity['requiredDuringSchedulingIgnoredDuringExecution'])['nodeSelectorTerms']);
  const [terms, oldTerms] = [termsOf(nodes), termsOf(old)];
  if (oldTerms.length === 0) return [];
  if (terms.length !== oldTerms.length) {
    const message = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [fieldError.invalid(String(termsAt), terms, message)];
  }
  return oldTerms.flatMap((before, index) => {
    if (hasOnlyAdditions(terms[index]!, before)) return [];
    const message = 'only additions are allowed (no mutations or deletions)';
    return [fieldError.invalid(String(termsAt.index(index)), terms[index], message)];
  });
}

/** True if the requirements of the old term are the first ones of the new. An empty term, which matches nothing, stays. */
function hasOnlyAdditions(term: Fields, old: Fields): boolean {
  const lists = ['matchExpressions', 'matchFields'].map(
    (field) => [asItems(term[field]), asItems(old[field])] as const,
  );
  if (lists.every(([, before]) => before.length === 0)) return lists.every(([after]) => after.length === 0);
  return lists.every(([after, before]) => deepEqual(after.slice(0, before.length), before));
}
