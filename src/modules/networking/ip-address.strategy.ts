import type { IPAddress } from '../../catalog/types/networking.v1.js';
import { path, type FieldError } from '../../machinery/field-error.js';
import { checked, required, requiredName } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { validateDnsSubdomain, validatePathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateCanonicalIp } from './canonical.validation.js';

const at = path('spec').child('parentRef');

/** The name of an IPAddress is the address in canonical form, so that an address cannot be allocated twice. */
export const ipAddressStrategy: Strategy<IPAddress> = {
  validateName: validateCanonicalIp,
  validateCreate: validateParent,
  validateUpdate(address, old) {
    const parent = address.spec?.parentRef;
    const { group = '', resource = '', namespace = '', name = '' } = parent ?? {};
    const shown = parent ? { Group: group, Resource: resource, Namespace: namespace, Name: name } : null;
    return [...immutable(parent, old.spec?.parentRef, at, shown), ...validateParent(address)];
  },
};

function validateParent({ spec }: IPAddress): FieldError[] {
  const parent = spec?.parentRef;
  if (!parent) return required(parent, at);
  const { group = '', resource = '', namespace = '', name = '' } = parent;
  return [
    ...(group === '' ? [] : checked(group, at.child('group'), validateDnsSubdomain)),
    ...requiredName(resource, at.child('resource'), validatePathSegment),
    ...requiredName(name, at.child('name'), validatePathSegment),
    ...(namespace === '' ? [] : checked(namespace, at.child('namespace'), validatePathSegment)),
  ];
}
