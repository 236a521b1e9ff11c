import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError } from '../../machinery/field-error.js';
import {
  asFields,
  asItems,
  asNumber,
  asText,
  asTexts,
  fillIn,
  fillInZero,
  isSet,
  makeFields,
  type Fields,
} from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsLabel } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateService, validateServiceUpdate } from './service.validation.js';
import { allocatesNodePorts, hasClusterIp, isExternallyAccessible } from '../../service-allocation/service.types.js';

/** Addresses and node ports are given out in allocation/; this is what follows from the service alone. */
export const serviceStrategy: Strategy = {
  validateName: nameIsDnsLabel,
  default: defaultService,
  prepareForCreate(service) {
    mirrorClusterIp(asFields(service['spec']));
    service['status'] = { loadBalancer: {} };
  },
  prepareForUpdate(service, old) {
    service['status'] = old['status'];
    const spec = asFields(service['spec']);
    const before = asFields(old['spec']);
    keepAllocated(spec, before);
    dropWhatTheTypeHasNot(spec, before);
  },
  validateCreate: validateService,
  validateUpdate: validateServiceUpdate,
  warnings(service) {
    const spec = asFields(service['spec']);
    const texts: string[] = [];
    if (asTexts(spec['externalIPs']).length > 0) {
      texts.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
    }
    if (spec['trafficDistribution'] === 'PreferClose') {
      texts.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
    }
    return texts;
  },
};

/** Three hours. */
const stickinessSeconds = 10800;

function defaultService(service: Fields): void {
  const spec = makeFields(service, 'spec');
  fillInZero(spec, 'type', 'ClusterIP');
  fillInZero(spec, 'sessionAffinity', 'None');
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] === 'ClientIP') {
    fillIn(makeFields(makeFields(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds', stickinessSeconds);
  }
  for (const port of asItems(spec['ports'])) {
    fillInZero(port, 'protocol', 'TCP');
    if (isSet(port['port'])) fillInZero(port, 'targetPort', port['port'] as number);
  }
  if (isExternallyAccessible(spec)) fillInZero(spec, 'externalTrafficPolicy', 'Cluster');
  if (spec['type'] !== 'ExternalName') fillIn(spec, 'internalTrafficPolicy', 'Cluster');
  if (spec['type'] === 'LoadBalancer') fillIn(spec, 'allocateLoadBalancerNodePorts', true);
  const loadBalancer = makeFields(makeFields(service, 'status'), 'loadBalancer');
  for (const ingress of asItems(loadBalancer['ingress']))
    if (asText(ingress['ip']) !== '') fillIn(ingress, 'ipMode', 'VIP');
}

/** The first address and the list of all addresses are one thing said twice. Who says it once owns but that field. */
function mirrorClusterIp(spec: Fields): void {
  const ip = asText(spec['clusterIP']);
  if (ip !== '' && asTexts(spec['clusterIPs']).length === 0) spec['clusterIPs'] = [ip];
}

/** A client that read a service before it was given its addresses may write it back without losing them. */
function keepAllocated(spec: Fields, before: Fields): void {
  if (hasClusterIp(spec) && hasClusterIp(before)) {
    const hadList = asTexts(spec['clusterIPs']).length > 0;
    if (asText(spec['clusterIP']) === '' && (!hadList || deepEqual(spec['clusterIPs'], before['clusterIPs']))) {
      if (before['clusterIP'] !== undefined) spec['clusterIP'] = before['clusterIP'];
    }
    if (
      asTexts(spec['clusterIPs']).length === 0 &&
      spec['clusterIP'] === before['clusterIP'] &&
      before['clusterIPs'] !== undefined
    ) {
      spec['clusterIPs'] = before['clusterIPs'];
    }
    // A patch of the first address alone means the list as well.
    const [first, ...others] = asTexts(spec['clusterIPs']);
    if (asText(spec['clusterIP']) !== first && deepEqual(spec['clusterIPs'], before['clusterIPs'])) {
      spec['clusterIPs'] = [asText(spec['clusterIP']), ...others];
    }
    mirrorClusterIp(spec);
  }
  if (allocatesNodePorts(spec) && allocatesNodePorts(before)) {
    // By name: whatever else of the port is changed, it stays the same port.
    const taken = new Set(asItems(spec['ports']).map((port) => asNumber(port['nodePort'])));
    const given = new Map(asItems(before['ports']).map((port) => [asText(port['name']), asNumber(port['nodePort'])]));
    for (const port of asItems(spec['ports'])) {
      const nodePort = given.get(asText(port['name'])) ?? 0;
      if (port['nodePort'] || nodePort === 0 || taken.has(nodePort)) continue;
      port['nodePort'] = nodePort;
      taken.add(nodePort);
    }
  }
  if (hasHealthCheck(spec) && hasHealthCheck(before) && before['healthCheckNodePort']) {
    fillInZero(spec, 'healthCheckNodePort', before['healthCheckNodePort'] as number);
  }
}

const hasHealthCheck = (spec: Fields): boolean =>
  spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';

/**
 * A service that changes its type loses what only the old type had, unless the client has just set it, so that
 * `kubectl patch` of the type alone is enough.
 */
function dropWhatTheTypeHasNot(spec: Fields, before: Fields): void {
  const drop = (had: (it: Fields) => boolean, fields: readonly string[]) => {
    if (!had(before) || had(spec)) return;
    for (const field of fields) if (deepEqual(spec[field], before[field])) delete spec[field];
  };
  drop(hasClusterIp, ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']);
  drop(isExternallyAccessible, ['externalTrafficPolicy']);
  drop(hasHealthCheck, ['healthCheckNodePort']);
  drop((it) => it['type'] === 'LoadBalancer', ['allocateLoadBalancerNodePorts', 'loadBalancerClass']);
  if (!allocatesNodePorts(before) || allocatesNodePorts(spec)) return;
  const had = new Set(asItems(before['ports']).map((port) => port['nodePort']));
  for (const port of asItems(spec['ports'])) if (had.has(port['nodePort'])) delete port['nodePort'];
}

export const serviceStatusSubresource = statusSubresource({
  validate(service: KubeObject) {
    const ingress = asItems(asFields(asFields(service['status'])['loadBalancer'])['ingress']);
    if (ingress.length === 0 || asFields(service['spec'])['type'] === 'LoadBalancer') return [];
    const message = "may only be used when `spec.type` is 'LoadBalancer'";
    return [fieldError.forbidden('status.loadBalancer.ingress', message)];
  },
});
