import type { KubeObject } from '../../machinery/kube-object.js';
import { namingProfile } from '../../config/naming-profile.js';
import {
  prepared,
  prepareUpdate,
  refusals,
  testContext,
  texts,
  updateRefusals,
} from '../../../test/harness/strategies.js';
import { ingressStatusSubresource, ingressStrategy } from './ingress.strategy.js';
import { ingressTable } from './ingress.table.js';

const strategy = ingressStrategy(namingProfile('kubernetes'));
const ingress = (spec: object, rest: object = {}): KubeObject => ({
  kind: 'Ingress',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name: 'i' },
  spec,
  ...rest,
});
const service = (port: object) => ({ service: { name: 's', port } });
const backend = service({ number: 80 });
const withPath = (path: object) => ({ rules: [{ http: { paths: [{ backend, ...path }] } }] });
const pathAt = 'spec.rules[0].http.paths[0]';

it.each<[string, object, string[]]>([
  ['a backend', { defaultBackend: backend }, []],
  ['a port by name', { defaultBackend: service({ name: 'http' }) }, []],
  ['a rule for all hosts', withPath({ path: '/', pathType: 'Prefix' }), []],
  ['no path with ImplementationSpecific', withPath({ pathType: 'ImplementationSpecific' }), []],
  ['nothing', {}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
  [
    'no service name',
    { defaultBackend: { service: { port: { number: 1 } } } },
    ['spec.defaultBackend.service.name: Required value'],
  ],
  [
    'no port',
    { defaultBackend: service({}) },
    ['spec.defaultBackend: Required value: port name or number is required'],
  ],
  [
    'two ports',
    { defaultBackend: service({ name: 'x', number: 1 }) },
    ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
  ],
  [
    'a port above 65535',
    { defaultBackend: service({ number: 65536 }) },
    ['spec.defaultBackend.service.port.number: Invalid value: 65536: must be between 1 and 65535, inclusive'],
  ],
  [
    'a service and a resource',
    { defaultBackend: { ...backend, resource: { kind: 'K', name: 'n' } } },
    ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
  ],
  [
    'neither service nor resource',
    { defaultBackend: {} },
    ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
  ],
  [
    'a resource without a name',
    { defaultBackend: { resource: { apiGroup: 'example.com', kind: 'K' } } },
    ['spec.defaultBackend.resource.name: Required value'],
  ],
  ['no path type', withPath({ path: '/' }), [`${pathAt}.pathType: Required value: pathType must be specified`]],
  [
    'an unknown path type',
    withPath({ path: '/', pathType: 'Regex' }),
    [`${pathAt}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`],
  ],
  [
    'a relative path',
    withPath({ path: 'x', pathType: 'Prefix' }),
    [`${pathAt}.path: Invalid value: "x": must be an absolute path`],
  ],
  [
    'a path with ..',
    withPath({ path: '/a/../b/..', pathType: 'Exact' }),
    [
      `${pathAt}.path: Invalid value: "/a/../b/..": must not contain '/../'`,
      `${pathAt}.path: Invalid value: "/a/../b/..": cannot end with '/..'`,
    ],
  ],
  ['no paths', { rules: [{ http: { paths: [] } }] }, ['spec.rules[0].http.paths: Required value']],
])('create of an Ingress with %s is validated', (_case, spec, want) =>
  expect(refusals(strategy, ingress(spec))).toEqual(want),
);

it.each<[string, string]>([
  ['1.2.3.4', 'must be a DNS name, not an IP address'],
  ['A_', 'a lowercase RFC 1123 subdomain must consist of'],
  ['a.*.b', 'a wildcard DNS-1123 subdomain must start with'],
])('create with the invalid host %s is rejected', (host, want) => {
  const [error = ''] = refusals(strategy, ingress({ rules: [{ host }] }));
  expect(error).toContain(`spec.rules[0].host: Invalid value: "${host}": ${want}`);
});

it('hosts and secretName of TLS are validated', () => {
  const tls = [{ hosts: ['a.example.com', 'A_'], secretName: 'B_' }];
  const errors = refusals(strategy, ingress({ defaultBackend: backend, tls }));
  expect(errors.map((error) => error.split(':')[0])).toEqual(['spec.tls[0].hosts[1]', 'spec.tls[0].secretName']);
});

it('create with a class annotation that differs from ingressClassName is rejected', () => {
  const annotated = (spec: object): KubeObject => ({
    ...ingress({ defaultBackend: backend, ...spec }),
    metadata: { name: 'i', annotations: { 'kubernetes.io/ingress.class': 'a' } },
  });
  expect(refusals(strategy, annotated({}))).toEqual([]);
  expect(refusals(strategy, annotated({ ingressClassName: 'a' }))).toEqual([]);
  expect(refusals(strategy, annotated({ ingressClassName: 'b' }))).toEqual([
    'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
  ]);
  expect(updateRefusals(strategy, annotated({ ingressClassName: 'b' }), annotated({}))).toEqual([]);
  expect(strategy.warnings!(annotated({}), undefined)).toEqual([
    `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ]);
  expect(strategy.warnings!(annotated({}), annotated({}))).toEqual([]);
});

it('create and update ignore a submitted status', () => {
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  expect(prepared(strategy, ingress({}, { status }))['status']).toEqual({ loadBalancer: {} });
  const update = ingress({});
  prepareUpdate(strategy, update, ingress({}, { status }));
  expect(update['status']).toEqual(status);
});

it.each<[object, string[]]>([
  [{ ip: '192.0.2.1', hostname: 'a.example.com' }, []],
  [
    { ip: 'x' },
    [
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    { hostname: '192.0.2.1' },
    ['status.loadBalancer.ingress[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address'],
  ],
])('status with the load balancer address %j is validated', (point, want) => {
  const update = ingress({}, { status: { loadBalancer: { ingress: [point] } } });
  expect(texts(ingressStatusSubresource.validate!(update, update, testContext))).toEqual(want);
});

it.each<[string, object, unknown[]]>([
  ['a default backend', ingress({ defaultBackend: backend }), ['i', '<none>', '*', '', '80', '<unknown>']],
  [
    'rules, TLS and a status',
    ingress(
      {
        ingressClassName: 'nginx',
        rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, { host: 'd' }],
        tls: [{ hosts: ['a'] }],
      },
      { status: { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '192.0.2.1' }, { hostname: 'h' }] } } },
    ),
    ['i', 'nginx', 'a,b,c + 2 more...', '192.0.2.1,h', '80, 443', '<unknown>'],
  ],
])('table row of an Ingress with %s', (_case, object, want) =>
  expect(ingressTable.cells(object as KubeObject, { nowMs: 0 })).toEqual(want),
);
