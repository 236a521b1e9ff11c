import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, each, oneOf, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';

/** What pod groups and the templates of them have in common. */
export function validateGroupParts(group: Fields, at: FieldPath): FieldError[] {
  const { priority, disruptionMode } = group;
  const className = asText(group['priorityClassName']);
  const errors = [
    ...validatePolicy(asFields(group['schedulingPolicy']), at.child('schedulingPolicy')),
    ...validateConstraints(group['schedulingConstraints'], at.child('schedulingConstraints')),
    ...validateClaims(group['resourceClaims'], at.child('resourceClaims')),
    ...oneOf(disruptionMode, at.child('disruptionMode'), ['Pod', 'PodGroup']),
    ...(className === '' ? [] : checked(className, at.child('priorityClassName'), validateDnsSubdomain)),
  ];
  if (asNumber(priority) > userPriorityMax) {
    const where = String(at.child('priority'));
    errors.push(fieldError.invalid(where, priority, `must be less than or equal to ${userPriorityMax}`));
  }
  return errors;
}

const userPriorityMax = 1_000_000_000;

function validatePolicy(policy: Fields, at: FieldPath): FieldError[] {
  const errors = validateUnion(policy, at, ['basic', 'gang']);
  const { gang } = policy;
  if (!isSet(gang)) return errors;
  const minCount = asNumber(asFields(gang)['minCount']);
  const countAt = String(at.child('gang', 'minCount'));
  if (minCount === 0) errors.push(fieldError.required(countAt));
  else if (minCount < 1) errors.push(fieldError.invalid(countAt, minCount, 'must be greater than or equal to 1'));
  return errors;
}

/** Exactly one of several fields. */
export function validateUnion(value: Fields, at: FieldPath, members: readonly string[]): FieldError[] {
  const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const set = members.filter((member) => isSet(value[member]));
  if (set.length === 1) return [];
  if (set.length === 0) return [fieldError.invalid(String(at), '', `must specify one of: ${named(members)}`)];
  const message = `must specify exactly one of: ${named(members)}`;
  return [fieldError.invalid(String(at), `{${named(set)}}`, message)];
}

const topologiesMax = 1;

function validateConstraints(constraints: unknown, at: FieldPath): FieldError[] {
  const { topology } = asFields(constraints);
  const topologyAt = at.child('topology');
  const count = asItems(topology).length;
  return [
    ...(count > topologiesMax ? [fieldError.tooMany(String(topologyAt), count, topologiesMax)] : []),
    ...each(topology, topologyAt, (constraint, constraintAt) =>
      requiredName(asText(constraint['key']), constraintAt.child('key'), validateQualifiedName),
    ),
  ];
}

const claimsMax = 4;

function validateClaims(claims: unknown, at: FieldPath): FieldError[] {
  const list = asItems(claims);
  return [
    ...(list.length > claimsMax ? [fieldError.tooMany(String(at), list.length, claimsMax)] : []),
    ...each(claims, at, (claim, claimAt) => [
      ...requiredName(asText(claim['name']), claimAt.child('name'), validateDnsLabel),
      ...validateUnion(claim, claimAt, ['resourceClaimName', 'resourceClaimTemplateName']),
      ...['resourceClaimName', 'resourceClaimTemplateName'].flatMap((field) =>
        isSet(claim[field]) ? checked(asText(claim[field]), claimAt.child(field), validateDnsSubdomain) : [],
      ),
    ]),
    ...duplicates(
      list,
      (claim) => asText(claim['name']),
      (index) => at.index(index),
    ),
  ];
}
