import { isIP } from 'node:net';
import type {
  Endpoint,
  EndpointHints,
  EndpointPort,
  EndpointSlice,
  ForNode,
  ForZone,
} from '../../catalog/types/discovery.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf, required } from '../../machinery/field-rules.js';
import {
  firstParts,
  nameIsDnsSubdomain,
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabelValue,
  validateQualifiedName,
} from '../../machinery/names.js';
import { validateIp, validateReachableIp } from '../../machinery/ip-addresses.js';
import { protocols } from '../core/pod/container.validation.js';

const endpointsMax = 1000;
const addressesMax = 100;
const portsMax = 20000;
const hintsMax = 8;

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];

export function validateEndpointSlice({ addressType: type = '', endpoints, ports }: EndpointSlice): FieldError[] {
  const typeAt = path('addressType');
  return [
    ...(type === '' ? required(type, typeAt) : oneOf(type, typeAt, addressTypes)),
    ...atMost(endpointsMax, endpoints, path('endpoints'), (list, at) =>
      each(list, at, (endpoint, endpointAt) => validateEndpoint(endpoint, endpointAt, type)),
    ),
    ...atMost(portsMax, ports, path('ports'), validatePorts),
  ];
}

/** Items of a list that is too long are not validated. */
function atMost<T>(
  max: number,
  list: readonly T[] | null | undefined,
  at: FieldPath,
  rule: (list: readonly T[], at: FieldPath) => FieldError[],
): FieldError[] {
  const items = list ?? [];
  return items.length > max ? [fieldError.tooMany(at, items.length, max)] : rule(items, at);
}

function validateEndpoint(endpoint: Endpoint, at: FieldPath, type: string): FieldError[] {
  const addresses = endpoint.addresses ?? [];
  const addressesAt = at.child('addresses');
  const { nodeName, hostname, hints = {} } = endpoint;
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(...required('', addressesAt, 'must contain at least 1 address'));
  else if (addresses.length > addressesMax) {
    errors.push(fieldError.tooMany(addressesAt, addresses.length, addressesMax));
  }
  const rule = Object.hasOwn(addressRules, type) ? addressRules[type]! : () => [];
  return [
    ...errors,
    ...addresses.flatMap((address, index) => rule(address, addressesAt, index)),
    ...(nodeName === undefined ? [] : checked(nodeName, at.child('nodeName'), nameIsDnsSubdomain)),
    ...(hostname === undefined ? [] : checked(hostname, at.child('hostname'), validateDnsLabel)),
    ...validateHints(hints, at.child('hints')),
  ];
}

type AddressRule = (address: string, at: FieldPath, index: number) => FieldError[];

/** An address of the wrong family is reported at the list, not at the address. */
const ofFamily =
  (family: 4 | 6): AddressRule =>
  (address, at, index) => {
    const problems = checked(address, at.index(index), validateIp);
    if (problems.length > 0) return problems;
    const isOther = isIP(address) !== family;
    return [
      ...(isOther ? [fieldError.invalid(at, address, `must be an IPv${family} address`)] : []),
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
  if (!name.includes('.')) {
    const message = 'should be a domain with at least two segments separated by dots';
    return [fieldError.invalid(at, name, message)];
  }
  return firstParts(name, '.').flatMap((label) => checked(label, at, validateDnsLabel));
}

function validateHints({ forZones, forNodes }: EndpointHints, at: FieldPath): FieldError[] {
  return [
    ...validateHintedNames(forZones, at.child('forZones'), validateLabelValue),
    ...validateHintedNames(forNodes, at.child('forNodes'), nameIsDnsSubdomain),
  ];
}

function validateHintedNames(
  hints: readonly (ForZone | ForNode)[] | undefined,
  at: FieldPath,
  check: (name: string) => string[],
): FieldError[] {
  const seen = new Set<string>();
  return atMost(hintsMax, hints, at, () =>
    each(hints, at, ({ name = '' }, hintAt) => {
      const nameAt = hintAt.child('name');
      const errors = seen.has(name) ? [fieldError.duplicate(nameAt, name)] : [];
      seen.add(name);
      return [...errors, ...checked(name, nameAt, check)];
    }),
  );
}

/** At most one port may have no name. Port numbers are not validated, as in kube-apiserver. */
function validatePorts(ports: readonly EndpointPort[], at: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return each(ports, at, ({ name = '', protocol, appProtocol }, portAt) => {
    const nameAt = portAt.child('name');
    const errors: FieldError[] = [];
    if (seen.has(name)) errors.push(fieldError.duplicate(nameAt, name));
    seen.add(name);
    if (name !== '') errors.push(...checked(name, nameAt, validateDnsLabel));
    errors.push(...oneOf(protocol, portAt.child('protocol'), protocols));
    if (appProtocol !== undefined) {
      errors.push(...checked(appProtocol, portAt.child('appProtocol'), validateQualifiedName));
    }
    return errors;
  });
}
