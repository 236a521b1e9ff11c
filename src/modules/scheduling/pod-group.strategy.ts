import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, duplicates, each, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateDnsLabel, validateDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/status-subresource.js';
import type { Strategy } from '../../registry/strategy.js';
import { validateGroupParts, validateUnion } from './pod-group-parts.validation.js';

const at = path('spec');

/** Pods that are scheduled together or not at all; what it is was said when it was made. */
export const podGroupStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  prepareForCreate(group) {
    group['status'] = {};
  },
  prepareForUpdate(group, old) {
    group['status'] = old['status'];
  },
  validateCreate: validatePodGroup,
  validateUpdate: (group, old) => [
    ...validatePodGroup(group),
    ...fixedFields.flatMap((field) =>
      immutable(asFields(group['spec'])[field], asFields(old['spec'])[field], at.child(field)),
    ),
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
];

function validatePodGroup(group: KubeObject): FieldError[] {
  const spec = asFields(group['spec']);
  return [...validateTemplateRef(spec['podGroupTemplateRef']), ...validateGroupParts(spec, at)];
}

function validateTemplateRef(reference: unknown): FieldError[] {
  if (!isSet(reference)) return [];
  const referenceAt = at.child('podGroupTemplateRef');
  const errors = validateUnion(asFields(reference), referenceAt, ['workload']);
  if (errors.length > 0) return errors;
  const { workloadName, podGroupTemplateName } = asFields(asFields(reference)['workload']);
  const workloadAt = referenceAt.child('workload');
  return [
    ...requiredName(asText(workloadName), workloadAt.child('workloadName'), validateDnsSubdomain),
    ...requiredName(asText(podGroupTemplateName), workloadAt.child('podGroupTemplateName'), validateDnsLabel),
  ];
}

const statusAt = path('status');
const claimStatusesMax = 4;

export const podGroupStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate(group) {
    const { conditions, resourceClaimStatuses } = asFields(group['status']);
    const claims = asItems(resourceClaimStatuses);
    const claimsAt = statusAt.child('resourceClaimStatuses');
    return [
      ...validateConditions(conditions, statusAt.child('conditions')),
      ...(claims.length > claimStatusesMax
        ? [fieldError.tooMany(String(claimsAt), claims.length, claimStatusesMax)]
        : []),
      ...each(resourceClaimStatuses, claimsAt, (claim, claimAt) =>
        isSet(claim['resourceClaimName'])
          ? checked(asText(claim['resourceClaimName']), claimAt.child('resourceClaimName'), validateDnsSubdomain)
          : [],
      ),
      ...duplicates(
        claims,
        (claim) => asText(claim['name']),
        (index) => claimsAt.index(index),
      ),
    ];
  },
});
