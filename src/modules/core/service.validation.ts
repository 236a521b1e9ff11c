import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { between, checked, duplicates, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { validateCidr, validateIp, validateReachableIp } from '../../machinery/ip-addresses.js';
import { protocols } from './pod/container.validation.js';
import { validatePort } from './pod/probe.validation.js';
import { validateLabelMap } from './selector.validation.js';
import { validateClusterIpFields } from '../../service-allocation/cluster-ip-fields.validation.js';
import {
  allocatesNodePorts,
  hasClusterIp,
  isExternallyAccessible,
  serviceTypes,
} from '../../service-allocation/service.types.js';

const at = path('spec');

export function validateService(service: KubeObject): FieldError[] {
  const spec = asFields(service['spec']);
  return [
    ...validatePorts(spec),
    ...validateLabelMap(spec['selector'], at.child('selector')),
    ...oneOf(asText(spec['type']), at.child('type'), serviceTypes),
    ...validateAffinity(spec),
    ...validateClusterIpFields(spec),
    ...validateTrafficPolicies(spec),
    ...validateExternal(spec),
    ...validateLoadBalancer(spec),
  ];
}

function validatePorts(spec: Fields): FieldError[] {
  const ports = asItems(spec['ports']);
  const portsAt = at.child('ports');
  const isHeadless = asTexts(spec['clusterIPs'])[0] === 'None' || spec['clusterIP'] === 'None';
  const mayHaveNone = isHeadless || spec['type'] === 'ExternalName';
  return [
    ...(ports.length === 0 && !mayHaveNone ? [fieldError.required(String(portsAt))] : []),
    ...each(ports, portsAt, (port, portAt) => validatePortOf(spec, port, portAt, ports.length > 1)),
    ...duplicates(
      ports,
      (port) => asText(port['name']),
      (index) => portsAt.index(index).child('name'),
    ),
    ...validateDistinct(ports, portsAt),
  ];
}

function validatePortOf(spec: Fields, port: Fields, portAt: FieldPath, needsName: boolean): FieldError[] {
  const name = asText(port['name']);
  const errors = [
    ...(name === '' && !needsName ? [] : requiredName(name, portAt.child('name'), validateDnsLabel)),
    ...between(asNumber(port['port']), portAt.child('port'), 1, 65535),
    ...oneOf(asText(port['protocol']), portAt.child('protocol'), protocols),
    ...(spec['type'] === 'ExternalName' ? [] : validatePort(port['targetPort'], portAt.child('targetPort'))),
    ...(isSet(port['appProtocol'])
      ? checked(asText(port['appProtocol']), portAt.child('appProtocol'), validateQualifiedName)
      : []),
  ];
  if (port['nodePort'] && !allocatesNodePorts(spec)) {
    const message = `may not be used when \`type\` is '${asText(spec['type'])}'`;
    errors.push(fieldError.forbidden(String(portAt.child('nodePort')), message));
  }
  return errors;
}

/** No two ports of a service are the same port, nor do they share one of the node. */
function validateDistinct(ports: Fields[], portsAt: FieldPath): FieldError[] {
  const seen = new Set<string>();
  const onNodes = new Set<string>();
  return ports.flatMap((port, index) => {
    const errors: FieldError[] = [];
    const shown = {
      Name: '',
      Protocol: asText(port['protocol']),
      AppProtocol: null,
      Port: asNumber(port['port']),
      TargetPort: 0,
      NodePort: 0,
    };
    const key = `${shown.Protocol}/${shown.Port}`;
    if (seen.has(key)) errors.push(fieldError.duplicate(String(portsAt.index(index)), shown));
    seen.add(key);
    const nodePort = asNumber(port['nodePort']);
    const nodeKey = `${shown.Protocol}/${nodePort}`;
    if (nodePort !== 0 && onNodes.has(nodeKey)) {
      const where = String(portsAt.index(index).child('nodePort'));
      errors.push(fieldError.invalid(where, nodePort, 'provided port is already allocated'));
    }
    onNodes.add(nodeKey);
    return errors;
  });
}

const secondsPerDay = 86400;

function validateAffinity(spec: Fields): FieldError[] {
  const errors = oneOf(asText(spec['sessionAffinity']), at.child('sessionAffinity'), ['ClientIP', 'None']);
  if (spec['sessionAffinity'] !== 'ClientIP') return errors;
  const seconds = asNumber(asFields(asFields(spec['sessionAffinityConfig'])['clientIP'])['timeoutSeconds']);
  if (seconds > 0 && seconds <= secondsPerDay) return errors;
  const where = String(at.child('sessionAffinityConfig', 'clientIP', 'timeoutSeconds'));
  return [...errors, fieldError.invalid(where, seconds, `must be greater than 0 and less than ${secondsPerDay}`)];
}

function validateTrafficPolicies(spec: Fields): FieldError[] {
  const policies = ['Cluster', 'Local'];
  const external = spec['externalTrafficPolicy'];
  const errors: FieldError[] = [];
  if (isExternallyAccessible(spec)) {
    const where = at.child('externalTrafficPolicy');
    errors.push(...(asText(external) === '' ? required(external, where) : oneOf(external, where, policies)));
  } else if (isSet(external) && external !== '') {
    const message = 'may only be set for externally-accessible services';
    errors.push(fieldError.invalid(String(at.child('externalTrafficPolicy')), external, message));
  }
  if (spec['type'] !== 'ExternalName') {
    const where = at.child('internalTrafficPolicy');
    const internal = spec['internalTrafficPolicy'];
    errors.push(...(isSet(internal) ? oneOf(internal, where, policies) : required(internal, where)));
  }
  const isLocal = spec['type'] === 'LoadBalancer' && external === 'Local';
  if (spec['healthCheckNodePort'] && !isLocal) {
    const message = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(fieldError.invalid(String(at.child('healthCheckNodePort')), spec['healthCheckNodePort'], message));
  }
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  return [...errors, ...oneOf(spec['trafficDistribution'], at.child('trafficDistribution'), distributions)];
}

function validateExternal(spec: Fields): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, ip] of asTexts(spec['externalIPs']).entries()) {
    const where = at.child('externalIPs').index(index);
    const problems = checked(ip, where, validateIp);
    errors.push(...(problems.length > 0 ? problems : validateReachableIp(ip, where)));
  }
  if (spec['type'] !== 'ExternalName') return errors;
  const name = asText(spec['externalName']);
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  return [...errors, ...requiredName(host, at.child('externalName'), validateDnsSubdomain)];
}

const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'";

function validateLoadBalancer(spec: Fields): FieldError[] {
  const isLoadBalancer = spec['type'] === 'LoadBalancer';
  // Clients know this field by its other spelling.
  const rangesAt = at.child('LoadBalancerSourceRanges');
  const ranges = asTexts(spec['loadBalancerSourceRanges']);
  const errors: FieldError[] = [];
  if (ranges.length > 0 && !isLoadBalancer) errors.push(fieldError.forbidden(String(rangesAt), onlyForLoadBalancers));
  else errors.push(...ranges.flatMap((range, index) => checked(range.trim(), rangesAt.index(index), validateCidr)));
  if (isLoadBalancer) {
    if (!isSet(spec['allocateLoadBalancerNodePorts'])) {
      errors.push(
        fieldError.required(
          String(at.child('allocateLoadBalancerNodePorts')),
          "must be specified when `type` is 'LoadBalancer'",
        ),
      );
    }
    if (!isSet(spec['loadBalancerClass'])) return errors;
    return [
      ...errors,
      ...checked(asText(spec['loadBalancerClass']), at.child('loadBalancerClass'), validateQualifiedName),
    ];
  }
  for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) {
    if (isSet(spec[field])) errors.push(fieldError.forbidden(String(at.child(field)), onlyForLoadBalancers));
  }
  return errors;
}

export function validateServiceUpdate(service: KubeObject, old: KubeObject): FieldError[] {
  const spec = asFields(service['spec']);
  const before = asFields(old['spec']);
  return [...validateFixed(spec, before), ...validateService(service)];
}

/** The second of two may be given back, or asked for; the first stays. */
function unchanged(values: readonly string[], before: readonly string[], where: FieldPath): FieldError[] {
  return before.flatMap((value, index) => {
    const next = values[index];
    if (next === value || (next === undefined && index > 0)) return [];
    const place = String(where.index(index));
    return next === undefined
      ? [fieldError.required(place)]
      : [fieldError.invalid(place, values, 'may not change once set')];
  });
}

/** Addresses are for life, as long as the service has any. */
function validateFixed(spec: Fields, before: Fields): FieldError[] {
  const errors: FieldError[] = [];
  const ips = asTexts(spec['clusterIPs']);
  const given = asTexts(before['clusterIPs']);
  if (hasClusterIp(spec) && hasClusterIp(before) && given.length > 0) {
    errors.push(...unchanged(ips, given, at.child('clusterIPs')));
    const families = asTexts(spec['ipFamilies']);
    // None said are those that it had.
    if (families.length > 0) errors.push(...unchanged(families, asTexts(before['ipFamilies']), at.child('ipFamilies')));
  }
  if (
    spec['type'] === 'LoadBalancer' &&
    before['type'] === 'LoadBalancer' &&
    spec['loadBalancerClass'] !== before['loadBalancerClass']
  ) {
    errors.push(
      fieldError.invalid(String(at.child('loadBalancerClass')), spec['loadBalancerClass'], 'may not change once set'),
    );
  }
  return errors;
}
