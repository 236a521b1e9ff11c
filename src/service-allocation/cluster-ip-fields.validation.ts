import type { ServiceSpec } from '../catalog/types/core.v1.js';
import { fieldError, path, type FieldError } from '../machinery/field-error.js';
import { checked, duplicates, oneOf } from '../machinery/field-rules.js';
import { validateIp } from '../machinery/ip-addresses.js';
import { hasClusterIp } from './service.types.js';

const at = path('spec');

/** Validates the fields that cluster IPs are allocated from. Runs before the allocation, and again after it. */
export function validateClusterIpFields(spec: ServiceSpec): FieldError[] {
  return [...validateClusterIps(spec), ...validateFamilies(spec)];
}

const notForType = (type: string): string => `may not be set to 'None' for ${type} services`;

function validateClusterIps(spec: ServiceSpec): FieldError[] {
  const { clusterIP: first = '', clusterIPs: ips = [], ipFamilies = [], type = '' } = spec;
  const ipsAt = at.child('clusterIPs');
  if (!hasClusterIp(spec)) {
    return ips.length > 0 ? [fieldError.forbidden(ipsAt, 'may not be set for ExternalName services')] : [];
  }
  const errors: FieldError[] = [];
  if (first === '' && ips.length > 0) {
    errors.push(fieldError.invalid(ipsAt, ips, 'must be empty when `clusterIP` is not specified'));
  } else if (ips.length > 0 && ips[0] !== first) {
    errors.push(fieldError.invalid(ipsAt, ips, 'first value must match `clusterIP`'));
  }
  if (ips[0] === 'None') {
    if (ips.length > 1) errors.push(fieldError.invalid(ipsAt, ips, "'None' must be the first and only value"));
    if (type !== 'ClusterIP') errors.push(fieldError.invalid(ipsAt.index(0), 'None', notForType(type)));
    return errors;
  }
  if (ips.length > 2) errors.push(fieldError.invalid(ipsAt, ips, 'may only hold up to 2 values'));
  for (const [index, ip] of ips.entries()) {
    const problems = checked(ip, ipsAt.index(index), validateIp);
    errors.push(...problems);
    const expected = ipFamilies[index];
    if (problems.length > 0 || (expected !== 'IPv4' && expected !== 'IPv6')) continue;
    if ((expected === 'IPv6') !== ip.includes(':')) {
      const message = `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``;
      errors.push(fieldError.invalid(ipsAt.index(index), ip, message));
    }
  }
  return errors;
}

const familyFields = ['ipFamilies', 'ipFamilyPolicy'] as const;

function validateFamilies(spec: ServiceSpec): FieldError[] {
  if (!hasClusterIp(spec)) {
    return familyFields
      .filter((field) => spec[field] !== undefined)
      .map((field) => fieldError.forbidden(at.child(field), 'may not be set for ExternalName services'));
  }
  const { ipFamilies: families = [], ipFamilyPolicy: policy } = spec;
  const familiesAt = at.child('ipFamilies');
  return [
    ...families.flatMap((family, index) => oneOf(family, familiesAt.index(index), ['IPv4', 'IPv6'])),
    ...duplicates(
      families,
      (family) => family,
      (index) => familiesAt.index(index),
    ),
    ...oneOf(policy, at.child('ipFamilyPolicy'), ['PreferDualStack', 'RequireDualStack', 'SingleStack']),
  ];
}
