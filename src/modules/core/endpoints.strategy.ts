import type { EndpointAddress, EndpointPort, Endpoints } from '../../catalog/types/core.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { between, checked, each, oneOf, requiredName } from '../../machinery/field-rules.js';
import {
  nameIsDnsSubdomain,
  validateDnsLabel,
  validateDnsSubdomain,
  validateQualifiedName,
} from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateIp, validateReachableIp } from '../../machinery/ip-addresses.js';
import { protocols } from './pod/container.validation.js';

export const endpointsStrategy: Strategy<Endpoints> = {
  validateName: nameIsDnsSubdomain,
  default({ subsets = [] }) {
    for (const { ports = [] } of subsets) {
      for (const port of ports) port.protocol ||= 'TCP';
    }
  },
  validateCreate: validateSubsets,
  validateUpdate: validateSubsets,
};

function validateSubsets({ subsets }: Endpoints): FieldError[] {
  return each(subsets, path('subsets'), ({ addresses = [], notReadyAddresses = [], ports = [] }, at) => {
    const isEmpty = addresses.length === 0 && notReadyAddresses.length === 0;
    return [
      ...(isEmpty ? [fieldError.required(at, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...each(addresses, at.child('addresses'), validateAddress),
      ...each(notReadyAddresses, at.child('notReadyAddresses'), validateAddress),
      ...each(ports, at.child('ports'), (port, portAt) => validateEndpointPort(port, portAt, ports.length > 1)),
    ];
  });
}

function validateAddress({ ip = '', hostname = '', nodeName = '' }: EndpointAddress, at: FieldPath): FieldError[] {
  const problems = checked(ip, at.child('ip'), validateIp);
  return [
    ...problems,
    ...(problems.length > 0
      ? [fieldError.invalid(at.child('ip'), ip, 'must be a valid IP address')]
      : validateReachableIp(ip, at.child('ip'))),
    ...(hostname === '' ? [] : checked(hostname, at.child('hostname'), validateDnsLabel)),
    ...(nodeName === '' ? [] : checked(nodeName, at.child('nodeName'), validateDnsSubdomain)),
  ];
}

function validateEndpointPort(endpointPort: EndpointPort, at: FieldPath, needsName: boolean): FieldError[] {
  const { name = '', port = 0, protocol = '', appProtocol = '' } = endpointPort;
  return [
    ...(name === '' && !needsName ? [] : requiredName(name, at.child('name'), validateDnsLabel)),
    ...between(port, at.child('port'), 1, 65535),
    ...oneOf(protocol, at.child('protocol'), protocols),
    ...(appProtocol === '' ? [] : checked(appProtocol, at.child('appProtocol'), validateQualifiedName)),
  ];
}
