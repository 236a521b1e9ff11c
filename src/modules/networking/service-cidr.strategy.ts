import type { ServiceCIDR } from '../../catalog/types/networking.v1.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { cidrFamily, validateCanonicalCidr } from './canonical.validation.js';

const at = path('spec').child('cidrs');

export const serviceCidrStrategy: Strategy<ServiceCIDR> = {
  validateName: nameIsDnsSubdomain,
  default(serviceCidr) {
    serviceCidr.status ??= {};
  },
  validateCreate: validateRanges,
  validateUpdate: validateChange,
};

/** Requires one CIDR, or one of each IP family. */
function validateRanges({ spec }: ServiceCIDR): FieldError[] {
  const { cidrs = [] } = spec ?? {};
  const errors: FieldError[] = [];
  if (cidrs.length === 0) return required(undefined, at, 'at least one CIDR required');
  if (cidrs.length > 2) errors.push(fieldError.invalid(at, { CIDRs: cidrs }, 'may only hold up to 2 values'));
  else if (cidrs.length === 2 && cidrFamily(cidrs[0]!) === cidrFamily(cidrs[1]!)) {
    const message = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    errors.push(fieldError.invalid(at, cidrs, message));
  }
  return [...errors, ...cidrs.flatMap((cidr, index) => checked(cidr, at.index(index), validateCanonicalCidr))];
}

/** Allows no change but to add a CIDR of the second IP family: addresses of the first may be in use. */
function validateChange(serviceCidr: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  const { cidrs = [] } = serviceCidr.spec ?? {};
  const { cidrs: before = [] } = old.spec ?? {};
  if (cidrs.length === before.length) {
    return cidrs.flatMap((cidr, index) => immutable(cidr, before[index], at.index(index)));
  }
  if (before.length === 1 && cidrs.length === 2) {
    return [...immutable(cidrs[0], before[0], at.index(0)), ...validateRanges(serviceCidr)];
  }
  return immutable(cidrs, before, at);
}

/** Does not validate conditions: the one that this server sets has no reason. */
export const serviceCidrStatusSubresource = statusSubresource<ServiceCIDR>({ keepsMetadata: true });
