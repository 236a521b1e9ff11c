import type { Service, ServicePort, ServiceSpec } from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError } from '../../machinery/field-error.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsLabel } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateService, validateServiceUpdate } from './service.validation.js';
import { needsHealthCheck } from '../../service-allocation/holdings.js';
import { allocatesNodePorts, hasClusterIp, isExternallyAccessible } from '../../service-allocation/service.types.js';

/** Everything but the allocation of cluster IPs and node ports, which is in src/service-allocation. */
export const serviceStrategy: Strategy<Service> = {
  validateName: nameIsDnsLabel,
  default: defaultService,
  initialStatus: () => ({ loadBalancer: {} }),
  prepareForCreate: ({ spec = {} }) => mirrorClusterIp(spec),
  prepareForUpdate({ spec = {} }, { spec: before = {} }) {
    keepAllocated(spec, before);
    followClusterIp(spec, before);
    dropFieldsOfOldType(spec, before);
  },
  validateCreate: validateService,
  validateUpdate: validateServiceUpdate,
  warnings({ spec = {} }) {
    const texts: string[] = [];
    if (spec.externalIPs && spec.externalIPs.length > 0) {
      texts.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
    }
    if (spec.trafficDistribution === 'PreferClose') {
      texts.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
    }
    return texts;
  },
};

/** The default timeout of the session affinity: 3 hours. */
const affinitySeconds = 10800;

function defaultService(service: Mutable<Service>): void {
  const spec: Mutable<ServiceSpec> = (service.spec ??= {});
  spec.type ||= 'ClusterIP';
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const affinity = (spec.sessionAffinityConfig ??= {});
    const clientIp = (affinity.clientIP ??= {});
    clientIp.timeoutSeconds ??= affinitySeconds;
  }
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (port.port !== undefined) port.targetPort ||= port.port;
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  const status = (service.status ??= {});
  const loadBalancer = (status.loadBalancer ??= {});
  for (const ingress of loadBalancer.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
}

/** Copies clusterIP to clusterIPs, which is not done by default() so that an apply of clusterIP owns only that field. */
function mirrorClusterIp(spec: Mutable<ServiceSpec>): void {
  const { clusterIP: ip = '', clusterIPs: ips = [] } = spec;
  if (ip !== '' && ips.length === 0) spec.clusterIPs = [ip];
}

/** Keeps allocated values that the new object lacks: the client may have read the Service before the allocation. */
function keepAllocated(spec: Mutable<ServiceSpec>, before: Mutable<ServiceSpec>): void {
  if (hasClusterIp(spec) && hasClusterIp(before)) {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
    if (!spec.clusterIPs?.length && before.clusterIPs?.length) spec.clusterIPs = before.clusterIPs;
  }
  if (allocatesNodePorts(spec) && allocatesNodePorts(before)) keepNodePorts(spec.ports ?? [], before.ports ?? []);
  if (needsHealthCheck(spec) && needsHealthCheck(before) && before.healthCheckNodePort) {
    spec.healthCheckNodePort ||= before.healthCheckNodePort;
  }
}

/** Makes clusterIPs follow clusterIP, for clients that know only the latter. Validation refuses other differences. */
function followClusterIp(spec: Mutable<ServiceSpec>, before: ServiceSpec): void {
  const { clusterIP: ip = '', clusterIPs: ips = [] } = spec;
  const { clusterIP: ipBefore = '', clusterIPs: ipsBefore = [] } = before;
  if (ip !== ipBefore && deepEqual(ips, ipsBefore)) {
    if (ip === '') delete spec.clusterIPs;
    else spec.clusterIPs = [ip];
  }
  // Services of old releases have no clusterIPs.
  if (hasClusterIp(spec)) mirrorClusterIp(spec);
}

/** Keeps the node ports of ports with the same name. */
function keepNodePorts(ports: Mutable<ServicePort>[], before: readonly ServicePort[]): void {
  const taken = new Set(ports.map(({ nodePort = 0 }) => nodePort));
  const allocated = new Map(before.map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  for (const port of ports) {
    const nodePort = allocated.get(port.name ?? '') ?? 0;
    if (port.nodePort || nodePort === 0 || taken.has(nodePort)) continue;
    port.nodePort = nodePort;
    taken.add(nodePort);
  }
}

/**
 * Deletes unchanged fields that only the old type of the Service has, so that a client can change the type by patching
 * spec.type alone.
 */
function dropFieldsOfOldType(spec: Mutable<ServiceSpec>, before: ServiceSpec): void {
  const drop = (hasFields: (it: ServiceSpec) => boolean, fields: readonly (keyof ServiceSpec)[]) => {
    if (!hasFields(before) || hasFields(spec)) return;
    for (const field of fields) if (deepEqual(spec[field], before[field])) delete spec[field];
  };
  drop(hasClusterIp, ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']);
  drop(isExternallyAccessible, ['externalTrafficPolicy']);
  drop(needsHealthCheck, ['healthCheckNodePort']);
  drop(({ type }) => type === 'LoadBalancer', ['allocateLoadBalancerNodePorts', 'loadBalancerClass']);
  if (!allocatesNodePorts(before) || allocatesNodePorts(spec)) return;
  const allocated = new Set((before.ports ?? []).map(({ nodePort }) => nodePort));
  for (const port of spec.ports ?? []) if (allocated.has(port.nodePort)) delete port.nodePort;
}

export const serviceStatusSubresource = statusSubresource<Service>({
  validate({ spec, status }) {
    const { ingress = [] } = status?.loadBalancer ?? {};
    if (ingress.length === 0 || spec?.type === 'LoadBalancer') return [];
    const message = "may only be used when `spec.type` is 'LoadBalancer'";
    return [fieldError.forbidden('status.loadBalancer.ingress', message)];
  },
});
