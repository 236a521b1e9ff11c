import type { Affinity, NodeAffinity, NodeSelectorTerm, Pod, PodSpec } from '../../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../../config/naming-profile.js';
import { deepEqual } from '../../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../../machinery/field-error.js';

/** The annotations of Pods that are immutable. */
export interface ImmutableAnnotations {
  /** `kubernetes.io/config.mirror` */
  readonly mirror: string;
  /** `container.apparmor.security.beta.kubernetes.io/` */
  readonly appArmorPrefix: string;
}

export const immutableAnnotationsOf = (naming: NamingProfile): ImmutableAnnotations => ({
  mirror: naming.label('config.mirror'),
  appArmorPrefix: naming.label('', 'container.apparmor.security.beta'),
});

const annotationsAt = path('metadata').child('annotations');

/** Rejects an update that makes a Pod a mirror Pod, or the opposite, or that changes its AppArmor profiles. */
export function validateImmutableAnnotations(
  { metadata: { annotations: after = {} } }: Pod,
  { metadata: { annotations: before = {} } }: Pod,
  { mirror, appArmorPrefix }: ImmutableAnnotations,
): FieldError[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const words =
      key === mirror ? 'mirror pod annotation' : key.startsWith(appArmorPrefix) ? 'AppArmor annotations' : '';
    if (words === '' || (Object.hasOwn(before, key) && before[key] === after[key])) return [];
    const verb = Object.hasOwn(before, key) ? 'remove or update' : 'add';
    return [fieldError.forbidden(annotationsAt.key(key), `may not ${verb} ${words}`)];
  });
}

/** Validates changes of nodeSelector and node affinity. They are allowed while gates prevent scheduling, if they narrow. */
export function validateNarrowedPlacement(spec: PodSpec, old: PodSpec): FieldError[] {
  if (!isGated(old)) return [];
  return [
    ...validateSelectorAdditions(spec.nodeSelector ?? {}, old.nodeSelector ?? {}),
    ...validateAffinityAdditions(spec.affinity?.nodeAffinity ?? {}, old.affinity?.nodeAffinity ?? {}),
  ];
}

/** Returns `spec` with nodeSelector and node affinity of `old` where validateNarrowedPlacement allows a change. */
export function withPlacementOf(old: PodSpec, spec: PodSpec): PodSpec {
  if (!isGated(old)) return spec;
  const isSameSelector = deepEqual(spec.nodeSelector ?? {}, old.nodeSelector ?? {});
  const isSameAffinity = deepEqual(spec.affinity?.nodeAffinity ?? {}, old.affinity?.nodeAffinity ?? {});
  return {
    ...spec,
    ...(!isSameSelector && { nodeSelector: old.nodeSelector }),
    ...(!isSameAffinity && { affinity: withNodeAffinityOf(old.affinity, spec.affinity ?? {}) }),
  };
}

const isGated = ({ schedulingGates = [] }: PodSpec): boolean => schedulingGates.length > 0;

function withNodeAffinityOf(old: Affinity | undefined, affinity: Affinity): Affinity | undefined {
  const { nodeAffinity: _new, ...others } = affinity;
  const result: Affinity = old?.nodeAffinity ? { ...affinity, nodeAffinity: old.nodeAffinity } : others;
  return old || Object.keys(result).length > 0 ? result : undefined;
}

type Labels = Readonly<Record<string, string>>;

function validateSelectorAdditions(selector: Labels, old: Labels): FieldError[] {
  if (Object.entries(old).every(([key, value]) => Object.hasOwn(selector, key) && selector[key] === value)) return [];
  const message = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [fieldError.invalid('spec.nodeSelector', selector, message)];
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const termsAt = path('spec').child('affinity', 'nodeAffinity', requiredTerms, 'nodeSelectorTerms');

function validateAffinityAdditions(nodeAffinity: NodeAffinity, old: NodeAffinity): FieldError[] {
  const terms = nodeAffinity[requiredTerms]?.nodeSelectorTerms ?? [];
  const oldTerms = old[requiredTerms]?.nodeSelectorTerms ?? [];
  if (oldTerms.length === 0) return [];
  if (terms.length !== oldTerms.length) {
    const message = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [fieldError.invalid(termsAt, terms, message)];
  }
  return oldTerms.flatMap((oldTerm, index) => {
    if (hasOnlyAdditions(terms[index]!, oldTerm)) return [];
    const message = 'only additions are allowed (no mutations or deletions)';
    return [fieldError.invalid(termsAt.index(index), terms[index], message)];
  });
}

/** True if the requirements of the old term are the first of the new. An empty term, which matches nothing, must stay. */
function hasOnlyAdditions(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = (['matchExpressions', 'matchFields'] as const).map(
    (field) => [term[field] ?? [], old[field] ?? []] as const,
  );
  if (lists.every(([, before]) => before.length === 0)) return lists.every(([after]) => after.length === 0);
  return lists.every(([after, before]) => deepEqual(after.slice(0, before.length), before));
}
