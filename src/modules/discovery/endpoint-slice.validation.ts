import { isIP } from 'node:net';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  nameIsDnsSubdomain,
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabelValue,
  validateQualifiedName,
} from '../../machinery/names.js';
import { validateIp, validateReachableIp } from '../core/addresses.js';
import { protocols } from '../core/pod/container.validation.js';

const endpointsMax = 1000;
const addressesMax = 100;
const portsMax = 20000;
const hintsMax = 8;

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];

export function validateEndpointSlice(slice: KubeObject): FieldError[] {
  const type = asText(slice['addressType']);
  const typeAt = path('addressType');
  return [
    ...(type === '' ? required(type, typeAt) : oneOf(type, typeAt, addressTypes)),
    ...atMost(endpointsMax, slice['endpoints'], path('endpoints'), (endpoints, at) =>
      each(endpoints, at, (endpoint, endpointAt) => validateEndpoint(endpoint, endpointAt, type)),
    ),
    ...atMost(portsMax, slice['ports'], path('ports'), validatePorts),
  ];
}

/** A list that is too long is not looked at any further. */
function atMost(
  max: number,
  list: unknown,
  at: FieldPath,
  rule: (list: unknown, at: FieldPath) => FieldError[],
): FieldError[] {
  const count = asItems(list).length;
  return count > max ? [fieldError.tooMany(String(at), count, max)] : rule(list, at);
}

function validateEndpoint(endpoint: Fields, at: FieldPath, type: string): FieldError[] {
  const addresses = asTexts(endpoint['addresses']);
  const addressesAt = at.child('addresses');
  const { nodeName, hostname } = endpoint;
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(...required('', addressesAt, 'must contain at least 1 address'));
  else if (addresses.length > addressesMax) {
    errors.push(fieldError.tooMany(String(addressesAt), addresses.length, addressesMax));
  }
  const rule = Object.hasOwn(addressRules, type) ? addressRules[type]! : () => [];
  return [
    ...errors,
    ...addresses.flatMap((address, index) => rule(address, addressesAt, index)),
    ...(isSet(nodeName) ? checked(asText(nodeName), at.child('nodeName'), nameIsDnsSubdomain) : []),
    ...(isSet(hostname) ? checked(asText(hostname), at.child('hostname'), validateDnsLabel) : []),
    ...validateHints(asFields(endpoint['hints']), at.child('hints')),
  ];
}

type AddressRule = (address: string, at: FieldPath, index: number) => FieldError[];

/** The family is a matter of all the addresses, so the list is named and not the address. */
const ofFamily =
  (family: 4 | 6): AddressRule =>
  (address, at, index) => {
    const problems = checked(address, at.index(index), validateIp);
    if (problems.length > 0) return problems;
    const isOther = isIP(address) !== family;
    return [
      ...(isOther ? [fieldError.invalid(String(at), address, `must be an IPv${family} address`)] : []),
      ...validateReachableIp(address, at.index(index)),
    ];
  };

const addressRules: Readonly<Record<string, AddressRule>> = {
  IPv4: ofFamily(4),
  IPv6: ofFamily(6),
  FQDN: (address, at, index) => validateFqdn(address, at.index(index)),
};

function validateFqdn(text: string, at: FieldPath): FieldError[] {
  if (text === '') return required(text, at);
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const problems = checked(name, at, validateDnsSubdomain);
  if (problems.length > 0) return problems;
  const labels = name.split('.');
  if (labels.length < 2) {
    const message = 'should be a domain with at least two segments separated by dots';
    return [fieldError.invalid(String(at), name, message)];
  }
  return labels.flatMap((label) => checked(label, at, validateDnsLabel));
}

function validateHints(hints: Fields, at: FieldPath): FieldError[] {
  return [
    ...validateHintedNames(hints['forZones'], at.child('forZones'), validateLabelValue),
    ...validateHintedNames(hints['forNodes'], at.child('forNodes'), nameIsDnsSubdomain),
  ];
}

function validateHintedNames(hints: unknown, at: FieldPath, check: (name: string) => string[]): FieldError[] {
  const seen = new Set<string>();
  return atMost(hintsMax, hints, at, () =>
    each(hints, at, (hint, hintAt) => {
      const name = asText(hint['name']);
      const nameAt = hintAt.child('name');
      const errors = seen.has(name) ? [fieldError.duplicate(String(nameAt), name)] : [];
      seen.add(name);
      return [...errors, ...checked(name, nameAt, check)];
    }),
  );
}

/** Of all ports one at most may be without a name. Port numbers are not checked, as kube-apiserver does not. */
function validatePorts(ports: unknown, at: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return each(ports, at, (port, portAt) => {
    const name = asText(port['name']);
    const nameAt = portAt.child('name');
    const { protocol, appProtocol } = port;
    const errors: FieldError[] = [];
    if (seen.has(name)) errors.push(fieldError.duplicate(String(nameAt), name));
    seen.add(name);
    if (name !== '') errors.push(...checked(name, nameAt, validateDnsLabel));
    errors.push(...oneOf(protocol, portAt.child('protocol'), protocols));
    if (isSet(appProtocol)) {
      errors.push(...checked(asText(appProtocol), portAt.child('appProtocol'), validateQualifiedName));
    }
    return errors;
  });
}
