import { asTexts, type Fields } from '../machinery/fields.js';

/** What the type of a service implies, each type offering what the one before it does: ClusterIP < NodePort < LoadBalancer. */
export const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const;

export const hasClusterIp = (spec: Fields): boolean => spec['type'] !== 'ExternalName';

export const allocatesNodePorts = (spec: Fields): boolean =>
  spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer';

/** Traffic from outside can come to it as it is. */
export const isExternallyAccessible = (spec: Fields): boolean =>
  allocatesNodePorts(spec) || (spec['type'] === 'ClusterIP' && asTexts(spec['externalIPs']).length > 0);
