import type * as v1 from '../../catalog/types/networking.v1.js';
import type * as v1beta1 from '../../catalog/types/networking.v1beta1.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

const extensions = { group: 'extensions', version: 'v1beta1' } as const;

export const storedNetworkPolicies: readonly StoredVersion[] = [extensions];

/** In v1beta1 an Ingress has `backend` instead of `defaultBackend`, and serviceName and servicePort instead of service. */
export const storedIngresses = (group: string): readonly StoredVersion[] => [
  { ...extensions, toHub: ingressToHub },
  { group, version: 'v1beta1', toHub: ingressToHub },
];

/** Converts an Ingress of networking.k8s.io/v1beta1 or extensions/v1beta1, which have the same fields. */
function ingressToHub(stored: v1beta1.Ingress): v1.Ingress {
  const { backend, rules, ...spec } = stored.spec ?? {};
  return {
    ...stored,
    spec: {
      ...spec,
      ...(backend && { defaultBackend: backendToHub(backend) }),
      ...(rules && { rules: rules.map(ruleToHub) }),
    },
  };
}

function ruleToHub(rule: v1beta1.IngressRule): v1.IngressRule {
  const { paths } = rule.http ?? {};
  if (!paths) return rule;
  return {
    ...rule,
    http: {
      ...rule.http,
      paths: paths.map((path) => ({
        ...path,
        // Objects of older releases have no pathType.
        pathType: path.pathType || 'ImplementationSpecific',
        backend: backendToHub(path.backend ?? {}),
      })),
    },
  };
}

/** Converts a backend. Port 0 is an absent port: v1beta1 always writes the field. */
function backendToHub({ serviceName = '', servicePort, ...rest }: v1beta1.IngressBackend): v1.IngressBackend {
  if (serviceName === '' && !servicePort) return rest;
  const port = typeof servicePort === 'string' ? { name: servicePort } : { number: servicePort };
  return { ...rest, service: { name: serviceName, ...(servicePort && { port }) } };
}
