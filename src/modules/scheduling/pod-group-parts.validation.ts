import type {
  PodGroupResourceClaim,
  PodGroupSchedulingConstraints,
  PodGroupSchedulingPolicy,
  PodGroupSpec,
  PodGroupTemplate,
} from '../../catalog/types/scheduling.v1alpha2.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, each, oneOf, requiredName } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { userPriorityMax } from './priority-class.strategy.js';

/** Validates the fields that PodGroups and the PodGroup templates of Workloads have in common. */
export function validateGroupParts(group: PodGroupSpec | PodGroupTemplate, at: FieldPath): FieldError[] {
  const { priority = 0, disruptionMode, priorityClassName: className = '' } = group;
  const errors = [
    ...validatePolicy(group.schedulingPolicy ?? {}, at.child('schedulingPolicy')),
    ...validateConstraints(group.schedulingConstraints ?? {}, at.child('schedulingConstraints')),
    ...validateClaims(group.resourceClaims ?? [], at.child('resourceClaims')),
    ...oneOf(disruptionMode, at.child('disruptionMode'), ['Pod', 'PodGroup']),
    ...(className === '' ? [] : checked(className, at.child('priorityClassName'), validateDnsSubdomain)),
  ];
  if (priority > userPriorityMax) {
    const where = at.child('priority');
    errors.push(fieldError.invalid(where, priority, `must be less than or equal to ${userPriorityMax}`));
  }
  return errors;
}

function validatePolicy(policy: PodGroupSchedulingPolicy, at: FieldPath): FieldError[] {
  const errors = validateUnion(policy, at, ['basic', 'gang']);
  const { gang } = policy;
  if (gang === undefined) return errors;
  const { minCount = 0 } = gang;
  const countAt = at.child('gang', 'minCount');
  if (minCount === 0) errors.push(fieldError.required(countAt));
  else if (minCount < 1) errors.push(fieldError.invalid(countAt, minCount, 'must be greater than or equal to 1'));
  return errors;
}

/** Requires exactly one of several fields. */
export function validateUnion<T extends object>(
  value: T,
  at: FieldPath,
  members: readonly (keyof T & string)[],
): FieldError[] {
  const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const set = members.filter((member) => isSet(value[member]));
  if (set.length === 1) return [];
  if (set.length === 0) return [fieldError.invalid(at, '', `must specify one of: ${named(members)}`)];
  const message = `must specify exactly one of: ${named(members)}`;
  return [fieldError.invalid(at, `{${named(set)}}`, message)];
}

const topologiesMax = 1;

function validateConstraints({ topology = [] }: PodGroupSchedulingConstraints, at: FieldPath): FieldError[] {
  const topologyAt = at.child('topology');
  const count = topology.length;
  return [
    ...(count > topologiesMax ? [fieldError.tooMany(topologyAt, count, topologiesMax)] : []),
    ...each(topology, topologyAt, ({ key = '' }, constraintAt) =>
      requiredName(key, constraintAt.child('key'), validateQualifiedName),
    ),
  ];
}

const claimsMax = 4;

const claimNames = ['resourceClaimName', 'resourceClaimTemplateName'] as const;

function validateClaims(claims: readonly PodGroupResourceClaim[], at: FieldPath): FieldError[] {
  return [
    ...(claims.length > claimsMax ? [fieldError.tooMany(at, claims.length, claimsMax)] : []),
    ...each(claims, at, (claim, claimAt) => [
      ...requiredName(claim.name ?? '', claimAt.child('name'), validateDnsLabel),
      ...validateUnion(claim, claimAt, claimNames),
      ...claimNames.flatMap((field) => {
        const name = claim[field];
        return name === undefined ? [] : checked(name, claimAt.child(field), validateDnsSubdomain);
      }),
    ]),
    ...duplicates(
      claims,
      ({ name = '' }) => name,
      (index) => at.index(index),
    ),
  ];
}
