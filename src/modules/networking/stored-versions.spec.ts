import type { KubeObject } from '../../machinery/kube-object.js';
import { storedIngresses, storedNetworkPolicies } from './stored-versions.js';

const [extensions, networking] = storedIngresses('networking.k8s.io');
const stored = (spec: object): KubeObject => ({
  kind: 'Ingress',
  apiVersion: 'networking.k8s.io/v1beta1',
  metadata: { name: 'i' },
  spec,
});
const withPaths = (paths: object[] | null) => ({ rules: [{ http: { paths }, host: 'h' }] });
const path = (backend: object) => ({ path: '/', pathType: 'Prefix', backend });

it.each<[string, object, object]>([
  ['nothing', {}, {}],
  [
    'a backend with a port number',
    { ingressClassName: 'c', backend: { serviceName: 's', servicePort: 80 } },
    { ingressClassName: 'c', defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  ],
  [
    'a backend with a port name',
    { backend: { serviceName: 's', servicePort: 'http' } },
    { defaultBackend: { service: { name: 's', port: { name: 'http' } } } },
  ],
  ['port 0', { backend: { serviceName: 's', servicePort: 0 } }, { defaultBackend: { service: { name: 's' } } }],
  ['an empty backend', { backend: { serviceName: '', servicePort: 0 } }, { defaultBackend: {} }],
  [
    'a resource backend',
    { backend: { resource: { apiGroup: null, kind: 'K', name: 'n' }, servicePort: 0 } },
    { defaultBackend: { resource: { apiGroup: null, kind: 'K', name: 'n' } } },
  ],
  [
    'a path',
    withPaths([path({ serviceName: 's', servicePort: 80 })]),
    withPaths([path({ service: { name: 's', port: { number: 80 } } })]),
  ],
  ['a path without pathType', withPaths([{}]), withPaths([{ pathType: 'ImplementationSpecific', backend: {} }])],
  ['a rule without paths', withPaths(null), withPaths(null)],
  ['a rule without http', { rules: [{ host: 'h' }] }, { rules: [{ host: 'h' }] }],
])('an Ingress of v1beta1 with %s is converted to v1', (_case, spec, want) => {
  for (const version of [extensions!, networking!]) {
    expect(JSON.stringify(version.toHub!(stored(spec)))).toBe(JSON.stringify(stored(want)));
  }
});

it('both groups that stored v1beta1 are read', () => {
  expect([extensions, networking]).toMatchObject([
    { group: 'extensions', version: 'v1beta1' },
    { group: 'networking.k8s.io', version: 'v1beta1' },
  ]);
  expect(storedNetworkPolicies).toEqual([{ group: 'extensions', version: 'v1beta1' }]);
});
