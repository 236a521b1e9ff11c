import type { ServiceSpec } from '../catalog/types/core.v1.js';

/** The types of Services. Each of ClusterIP, NodePort and LoadBalancer includes what the one before it offers. */
export const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const;

export const hasClusterIp = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';

export const allocatesNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** True if the Service accepts traffic from outside the cluster: on node ports, a load balancer or external IPs. */
export const isExternallyAccessible = (spec: ServiceSpec): boolean =>
  allocatesNodePorts(spec) ||
  (spec.type === 'ClusterIP' && spec.externalIPs !== undefined && spec.externalIPs.length > 0);
