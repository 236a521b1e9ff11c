import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { between, checked, each, oneOf, requiredName } from '../../machinery/field-rules.js';
import { asItems, asNumber, asText, fillInZero, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  nameIsDnsSubdomain,
  validateDnsLabel,
  validateDnsSubdomain,
  validateQualifiedName,
} from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateIp, validateReachableIp } from '../../machinery/ip-addresses.js';
import { protocols } from './pod/container.validation.js';

export const endpointsStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default(endpoints) {
    for (const subset of asItems(endpoints['subsets'])) {
      for (const port of asItems(subset['ports'])) fillInZero(port, 'protocol', 'TCP');
    }
  },
  validateCreate: validateSubsets,
  validateUpdate: validateSubsets,
};

function validateSubsets(endpoints: KubeObject): FieldError[] {
  return each(endpoints['subsets'], path('subsets'), (subset, at) => {
    const { addresses, notReadyAddresses } = subset;
    const ports = asItems(subset['ports']);
    const isEmpty = asItems(addresses).length === 0 && asItems(notReadyAddresses).length === 0;
    return [
      ...(isEmpty ? [fieldError.required(String(at), 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...each(addresses, at.child('addresses'), validateAddress),
      ...each(notReadyAddresses, at.child('notReadyAddresses'), validateAddress),
      ...each(ports, at.child('ports'), (port, portAt) => validateEndpointPort(port, portAt, ports.length > 1)),
    ];
  });
}

function validateAddress(address: Fields, at: FieldPath): FieldError[] {
  const ip = asText(address['ip']);
  const hostname = asText(address['hostname']);
  const nodeName = asText(address['nodeName']);
  const problems = checked(ip, at.child('ip'), validateIp);
  return [
    ...problems,
    ...(problems.length > 0
      ? [fieldError.invalid(String(at.child('ip')), ip, 'must be a valid IP address')]
      : validateReachableIp(ip, at.child('ip'))),
    ...(hostname === '' ? [] : checked(hostname, at.child('hostname'), validateDnsLabel)),
    ...(nodeName === '' ? [] : checked(nodeName, at.child('nodeName'), validateDnsSubdomain)),
  ];
}

function validateEndpointPort(port: Fields, at: FieldPath, needsName: boolean): FieldError[] {
  const name = asText(port['name']);
  const appProtocol = asText(port['appProtocol']);
  return [
    ...(name === '' && !needsName ? [] : requiredName(name, at.child('name'), validateDnsLabel)),
    ...between(asNumber(port['port']), at.child('port'), 1, 65535),
    ...oneOf(asText(port['protocol']), at.child('protocol'), protocols),
    ...(appProtocol === '' ? [] : checked(appProtocol, at.child('appProtocol'), validateQualifiedName)),
  ];
}
