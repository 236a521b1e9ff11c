import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

const extensions = { group: 'extensions', version: 'v1beta1' } as const;

export const storedNetworkPolicies: readonly StoredVersion[] = [extensions];

/** Ingresses of v1beta1 name a service and its port in two fields, and the default backend otherwise. */
export const storedIngresses = (group: string): readonly StoredVersion[] => [
  { ...extensions, toHub: ingressToHub },
  { group, version: 'v1beta1', toHub: ingressToHub },
];

function ingressToHub(stored: KubeObject): KubeObject {
  const { backend, rules, ...spec } = asFields(stored['spec']);
  return {
    ...stored,
    spec: {
      ...spec,
      ...(isSet(backend) && { defaultBackend: backendToHub(asFields(backend)) }),
      ...(isSet(rules) && { rules: asItems(rules).map(ruleToHub) }),
    },
  };
}

function ruleToHub(rule: Fields): Fields {
  const http = asFields(rule['http']);
  if (!isSet(http['paths'])) return rule;
  const paths = asItems(http['paths']).map((path) => ({
    ...path,
    // Older objects may have none.
    pathType: asText(path['pathType']) || 'ImplementationSpecific',
    backend: backendToHub(asFields(path['backend'])),
  }));
  return { ...rule, http: { ...http, paths } };
}

function backendToHub({ serviceName, servicePort, ...rest }: Fields): Fields {
  if (asText(serviceName) === '' && !isSet(servicePort)) return rest;
  const port = typeof servicePort === 'string' ? { name: servicePort } : { number: servicePort ?? 0 };
  // A port of zero is none: the field cannot be left out in v1beta1.
  const isNone = !isSet(servicePort) || servicePort === 0 || servicePort === '';
  if (asText(serviceName) === '' && isNone) return rest;
  return { ...rest, service: { name: asText(serviceName), ...(!isNone && { port }) } };
}
