import type { Service, ServicePort, ServiceSpec } from '../../catalog/types/core.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { between, checked, duplicates, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { validateCidr, validateIp, validateReachableIp } from '../../machinery/ip-addresses.js';
import { protocols } from './pod/container.validation.js';
import { validatePort } from './pod/probe.validation.js';
import { validateLabelMap } from './selector.validation.js';
import { needsHealthCheck } from '../../service-allocation/holdings.js';
import { validateClusterIpFields } from '../../service-allocation/cluster-ip-fields.validation.js';
import {
  allocatesNodePorts,
  hasClusterIp,
  isExternallyAccessible,
  serviceTypes,
} from '../../service-allocation/service.types.js';

const at = path('spec');

export function validateService({ spec = {} }: Service): FieldError[] {
  return [
    ...validatePorts(spec),
    ...validateLabelMap(spec.selector, at.child('selector')),
    ...oneOf(spec.type ?? '', at.child('type'), serviceTypes),
    ...validateAffinity(spec),
    ...validateClusterIpFields(spec),
    ...validateTrafficPolicies(spec),
    ...validateExternal(spec),
    ...validateLoadBalancer(spec),
  ];
}

function validatePorts(spec: ServiceSpec): FieldError[] {
  const { ports = [], type } = spec;
  const portsAt = at.child('ports');
  const isHeadless = spec.clusterIPs?.[0] === 'None' || spec.clusterIP === 'None';
  const mayHaveNone = isHeadless || type === 'ExternalName';
  return [
    ...(ports.length === 0 && !mayHaveNone ? [fieldError.required(portsAt)] : []),
    ...each(ports, portsAt, (port, portAt) => validateServicePort(spec, port, portAt, ports.length > 1)),
    ...duplicates(
      ports,
      ({ name = '' }) => name,
      (index) => portsAt.index(index).child('name'),
    ),
    ...validateDistinct(ports, portsAt),
  ];
}

function validateServicePort(
  spec: ServiceSpec,
  servicePort: ServicePort,
  portAt: FieldPath,
  needsName: boolean,
): FieldError[] {
  const { type = '' } = spec;
  const { name = '', port = 0, protocol = '', targetPort, appProtocol, nodePort } = servicePort;
  const errors = [
    ...(name === '' && !needsName ? [] : requiredName(name, portAt.child('name'), validateDnsLabel)),
    ...between(port, portAt.child('port'), 1, 65535),
    ...oneOf(protocol, portAt.child('protocol'), protocols),
    ...(type === 'ExternalName' ? [] : validatePort(targetPort, portAt.child('targetPort'))),
    ...(appProtocol === undefined ? [] : checked(appProtocol, portAt.child('appProtocol'), validateQualifiedName)),
  ];
  if (nodePort && !allocatesNodePorts(spec)) {
    const message = `may not be used when \`type\` is '${type}'`;
    errors.push(fieldError.forbidden(portAt.child('nodePort'), message));
  }
  return errors;
}

/** Requires every port to have its own combination of port and protocol, and of node port and protocol. */
function validateDistinct(ports: readonly ServicePort[], portsAt: FieldPath): FieldError[] {
  const seen = new Set<string>();
  const seenNodePorts = new Set<string>();
  return ports.flatMap(({ protocol = '', port = 0, nodePort = 0 }, index) => {
    const errors: FieldError[] = [];
    const key = `${protocol}/${port}`;
    if (seen.has(key)) {
      const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
      errors.push(fieldError.duplicate(portsAt.index(index), shown));
    }
    seen.add(key);
    const nodeKey = `${protocol}/${nodePort}`;
    if (nodePort !== 0 && seenNodePorts.has(nodeKey)) {
      const nodePortAt = portsAt.index(index).child('nodePort');
      errors.push(fieldError.invalid(nodePortAt, nodePort, 'provided port is already allocated'));
    }
    seenNodePorts.add(nodeKey);
    return errors;
  });
}

const secondsPerDay = 86400;

function validateAffinity({ sessionAffinity = '', sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const errors = oneOf(sessionAffinity, at.child('sessionAffinity'), ['ClientIP', 'None']);
  if (sessionAffinity !== 'ClientIP') return errors;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 0;
  if (seconds > 0 && seconds <= secondsPerDay) return errors;
  const secondsAt = at.child('sessionAffinityConfig', 'clientIP', 'timeoutSeconds');
  return [...errors, fieldError.invalid(secondsAt, seconds, `must be greater than 0 and less than ${secondsPerDay}`)];
}

const policies = ['Cluster', 'Local'];
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function validateTrafficPolicies(spec: ServiceSpec): FieldError[] {
  const { type, externalTrafficPolicy: external, internalTrafficPolicy: internal, healthCheckNodePort } = spec;
  const errors: FieldError[] = [];
  const externalAt = at.child('externalTrafficPolicy');
  if (isExternallyAccessible(spec)) {
    errors.push(...(external ? oneOf(external, externalAt, policies) : required(external, externalAt)));
  } else if (external) {
    errors.push(fieldError.invalid(externalAt, external, 'may only be set for externally-accessible services'));
  }
  if (type !== 'ExternalName') {
    const internalAt = at.child('internalTrafficPolicy');
    errors.push(...(internal === undefined ? required(internal, internalAt) : oneOf(internal, internalAt, policies)));
  }
  if (healthCheckNodePort && !needsHealthCheck(spec)) {
    const message = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(fieldError.invalid(at.child('healthCheckNodePort'), healthCheckNodePort, message));
  }
  return [...errors, ...oneOf(spec.trafficDistribution, at.child('trafficDistribution'), distributions)];
}

function validateExternal({ type, externalIPs = [], externalName = '' }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, ip] of externalIPs.entries()) {
    const ipAt = at.child('externalIPs').index(index);
    const problems = checked(ip, ipAt, validateIp);
    errors.push(...(problems.length > 0 ? problems : validateReachableIp(ip, ipAt)));
  }
  if (type !== 'ExternalName') return errors;
  const host = externalName.endsWith('.') ? externalName.slice(0, -1) : externalName;
  return [...errors, ...requiredName(host, at.child('externalName'), validateDnsSubdomain)];
}

const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'";
const loadBalancerFields = ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const;

function validateLoadBalancer(spec: ServiceSpec): FieldError[] {
  const { loadBalancerSourceRanges: ranges = [], loadBalancerClass } = spec;
  const isLoadBalancer = spec.type === 'LoadBalancer';
  // kube-apiserver reports these errors with the Go name of the field.
  const rangesAt = at.child('LoadBalancerSourceRanges');
  const errors: FieldError[] = [];
  if (ranges.length > 0 && !isLoadBalancer) errors.push(fieldError.forbidden(rangesAt, onlyForLoadBalancers));
  else errors.push(...ranges.flatMap((range, index) => checked(range.trim(), rangesAt.index(index), validateCidr)));
  if (isLoadBalancer) {
    if (spec.allocateLoadBalancerNodePorts === undefined) {
      const message = "must be specified when `type` is 'LoadBalancer'";
      errors.push(fieldError.required(at.child('allocateLoadBalancerNodePorts'), message));
    }
    if (loadBalancerClass === undefined) return errors;
    return [...errors, ...checked(loadBalancerClass, at.child('loadBalancerClass'), validateQualifiedName)];
  }
  for (const field of loadBalancerFields) {
    if (spec[field] !== undefined) errors.push(fieldError.forbidden(at.child(field), onlyForLoadBalancers));
  }
  return errors;
}

export function validateServiceUpdate(service: Service, { spec: before = {} }: Service): FieldError[] {
  return [...validateImmutableFields(service.spec ?? {}, before), ...validateService(service)];
}

/** Allows a second value to be added and removed. The first cannot change. */
function unchanged(values: readonly string[], before: readonly string[], valuesAt: FieldPath): FieldError[] {
  return before.flatMap((value, index) => {
    const next = values[index];
    if (next === value || (next === undefined && index > 0)) return [];
    const valueAt = valuesAt.index(index);
    return next === undefined
      ? [fieldError.required(valueAt)]
      : [fieldError.invalid(valueAt, values, 'may not change once set')];
  });
}

/** Validates cluster IPs and families, which cannot change while the Service has any, and loadBalancerClass. */
function validateImmutableFields(spec: ServiceSpec, before: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const { clusterIPs: ipsBefore = [] } = before;
  if (hasClusterIp(spec) && hasClusterIp(before) && ipsBefore.length > 0) {
    errors.push(...unchanged(spec.clusterIPs ?? [], ipsBefore, at.child('clusterIPs')));
    const { ipFamilies: families = [] } = spec;
    // Absent families stay those of the old object.
    if (families.length > 0) errors.push(...unchanged(families, before.ipFamilies ?? [], at.child('ipFamilies')));
  }
  if (
    spec.type === 'LoadBalancer' &&
    before.type === 'LoadBalancer' &&
    spec.loadBalancerClass !== before.loadBalancerClass
  ) {
    errors.push(fieldError.invalid(at.child('loadBalancerClass'), spec.loadBalancerClass, 'may not change once set'));
  }
  return errors;
}
