import type { PodGroup, PodGroupTemplateReference } from '../../catalog/types/scheduling.v1alpha2.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, duplicates, each, requiredName } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain, validateDnsLabel, validateDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateGroupParts, validateUnion } from './pod-group-parts.validation.js';

const at = path('spec');

/** A PodGroup is a set of Pods that are scheduled together or not at all; its spec is immutable. */
export const podGroupStrategy: Strategy<PodGroup> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  validateCreate: validatePodGroup,
  validateUpdate: (group, old) => [
    ...validatePodGroup(group),
    ...fixedFields.flatMap((field) => immutable(group.spec?.[field], old.spec?.[field], at.child(field))),
  ],
};

const fixedFields = [
  'podGroupTemplateRef',
  'schedulingPolicy',
  'schedulingConstraints',
  'resourceClaims',
  'disruptionMode',
  'priorityClassName',
  'priority',
] as const;

function validatePodGroup({ spec = {} }: PodGroup): FieldError[] {
  const { podGroupTemplateRef } = spec;
  return [...(podGroupTemplateRef ? validateTemplateRef(podGroupTemplateRef) : []), ...validateGroupParts(spec, at)];
}

function validateTemplateRef(reference: PodGroupTemplateReference): FieldError[] {
  const referenceAt = at.child('podGroupTemplateRef');
  const errors = validateUnion(reference, referenceAt, ['workload']);
  if (errors.length > 0) return errors;
  const { workloadName = '', podGroupTemplateName = '' } = reference.workload ?? {};
  const workloadAt = referenceAt.child('workload');
  return [
    ...requiredName(workloadName, workloadAt.child('workloadName'), validateDnsSubdomain),
    ...requiredName(podGroupTemplateName, workloadAt.child('podGroupTemplateName'), validateDnsLabel),
  ];
}

const statusAt = path('status');
const claimStatusesMax = 4;

export const podGroupStatusSubresource = statusSubresource<PodGroup>({
  keepsMetadata: true,
  validate({ status = {} }) {
    const { conditions, resourceClaimStatuses: claims = [] } = status;
    const claimsAt = statusAt.child('resourceClaimStatuses');
    return [
      ...validateConditions(conditions, statusAt.child('conditions')),
      ...(claims.length > claimStatusesMax ? [fieldError.tooMany(claimsAt, claims.length, claimStatusesMax)] : []),
      ...each(claims, claimsAt, ({ resourceClaimName: name }, claimAt) =>
        name === undefined ? [] : checked(name, claimAt.child('resourceClaimName'), validateDnsSubdomain),
      ),
      ...duplicates(
        claims,
        ({ name = '' }) => name,
        (index) => claimsAt.index(index),
      ),
    ];
  },
});
