import type { ServiceSpec } from '../../catalog/types/core.v1.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  prepared,
  prepareUpdate,
  refusals,
  testContext,
  texts,
  updateRefusals,
} from '../../../test/harness/strategies.js';
import { endpointsStrategy } from './endpoints.strategy.js';
import { endpointsTable } from './endpoints.table.js';
import { serviceStatusSubresource, serviceStrategy } from './service.strategy.js';
import { serviceTable } from './service.table.js';

const service = (spec: object, rest: object = {}): KubeObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 's', namespace: 'd' },
  spec,
  ...rest,
});
const ports = [{ port: 80 }];

describe('Service', () => {
  it.each<[string, object, object]>([
    [
      'of type ClusterIP',
      { ports },
      {
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'with session affinity',
      { ports, sessionAffinity: 'ClientIP' },
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
    ],
    ['of type NodePort', { ports, type: 'NodePort' }, { externalTrafficPolicy: 'Cluster' }],
    [
      'of type LoadBalancer',
      { ports, type: 'LoadBalancer' },
      { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true },
    ],
    ['without a cluster IP', { clusterIP: 'None' }, { clusterIPs: ['None'] }],
    ['with external IPs', { ports, externalIPs: ['203.0.113.7'] }, { externalTrafficPolicy: 'Cluster' }],
  ])('%s gets its defaults', (_case, spec, want) =>
    expect(prepared(serviceStrategy, service(spec))['spec']).toMatchObject(want),
  );

  it('of type ExternalName gets neither addresses nor traffic policies', () => {
    expect(prepared(serviceStrategy, service({ type: 'ExternalName', externalName: 'a.b' }))).toEqual(
      service({ type: 'ExternalName', externalName: 'a.b', sessionAffinity: 'None' }, { status: { loadBalancer: {} } }),
    );
  });

  const range = 'must be between 1 and 65535, inclusive';
  it.each<[object, string[]]>([
    [{ ports: [] }, ['spec.ports: Required value']],
    [
      { ports: [{ port: 80, appProtocol: '' }] },
      [
        'spec.ports[0].appProtocol: Invalid value: "": name part must be non-empty',
        expect.stringContaining('spec.ports[0].appProtocol: Invalid value: "": name part must consist of') as string,
      ],
    ],
    [
      { ports: [{ port: 65536 }] },
      [
        `spec.ports[0].port: Invalid value: 65536: ${range}`,
        `spec.ports[0].targetPort: Invalid value: 65536: ${range}`,
      ],
    ],
    [
      { ports: [{ port: 1 }, { port: 2 }] },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [
      {
        ports: [
          { port: 1, name: 'a' },
          { port: 2, name: 'a' },
        ],
      },
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      {
        ports: [
          { port: 1, name: 'a' },
          { port: 1, name: 'b' },
        ],
      },
      [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
      ],
    ],
    [
      { ports: [{ port: 1, nodePort: 30100 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      { ports, type: 'X' },
      ['spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
    ],
    [
      { ports, clusterIP: 'x' },
      ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      { ports, clusterIP: '10.0.0.50', clusterIPs: ['10.0.0.51'] },
      ['spec.clusterIPs: Invalid value: ["10.0.0.51"]: first value must match `clusterIP`'],
    ],
    [
      { ports, type: 'NodePort', clusterIP: 'None' },
      ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    [{ ports, type: 'ExternalName' }, ['spec.externalName: Required value']],
    [
      { ports, externalIPs: ['127.0.0.1'] },
      ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    [
      { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400',
      ],
    ],
    [
      { ports, externalTrafficPolicy: 'Local' },
      ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ],
    [
      { ports, loadBalancerSourceRanges: ['10.0.0.0/8'] },
      ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [
      { ports, loadBalancerClass: 'a/b' },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [{ ports, ipFamilies: ['IPv4', 'IPv4'] }, ['spec.ipFamilies[1]: Duplicate value: "IPv4"']],
  ])('create with spec %j is rejected', (spec, want) => expect(refusals(serviceStrategy, service(spec))).toEqual(want));

  it('an update cannot change the cluster IP, and keeps it if absent', () => {
    const old = service({ ports, clusterIP: '10.0.0.9' });
    expect(
      updateRefusals(serviceStrategy, service({ ports, clusterIP: '10.0.0.66', clusterIPs: ['10.0.0.66'] }), old),
    ).toEqual(['spec.clusterIPs[0]: Invalid value: ["10.0.0.66"]: may not change once set']);
    expect(updateRefusals(serviceStrategy, service({ ports, clusterIP: '10.0.0.66' }), old)).toEqual([
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.66"]: may not change once set',
    ]);
    expect(updateRefusals(serviceStrategy, service({ ports }), old)).toEqual([]);
  });

  it.each<[string, object, object, object]>([
    [
      'keeps both if neither is set',
      { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] },
      {},
      { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] },
    ],
    ['leaves both unset if the old object has none', {}, {}, {}],
    ['leaves both empty if the old object has none', {}, { clusterIP: '', clusterIPs: [] }, {}],
    ['fills in clusterIPs of an object of an old release', { clusterIP: '10.0.0.9' }, {}, { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] }], // prettier-ignore
    ['keeps a changed list', { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] }, { clusterIPs: ['10.0.0.3'] }, { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.3'] }], // prettier-ignore
    ['follows a changed clusterIP', { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9', 'fd00::9'] }, { clusterIP: '10.0.0.3' }, { clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] }], // prettier-ignore
    ['of type ExternalName drops both', { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] }, { type: 'ExternalName' }, {}], // prettier-ignore
    ['from type ExternalName takes the clusterIP', { type: 'ExternalName' }, { type: 'ClusterIP', clusterIP: '10.0.0.3' }, { clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] }], // prettier-ignore
  ])('an update of clusterIP and clusterIPs %s', (_what, before, after, want) => {
    const update = service({ ports, ...after });
    serviceStrategy.prepareForUpdate!(update, service({ ports, ...before }), testContext);
    const { clusterIP, clusterIPs }: ServiceSpec = update['spec']!;
    expect({ ...(clusterIP && { clusterIP }), ...(clusterIPs?.length && { clusterIPs }) }).toEqual(want);
  });

  const defaults = { sessionAffinity: 'None', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] };
  const clusterIpSpec = {
    ...defaults,
    clusterIP: '10.0.0.9',
    clusterIPs: ['10.0.0.9'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
  };
  const noFamilies = { ipFamilies: undefined, ipFamilyPolicy: undefined };
  const nodePortSpec = {
    ...clusterIpSpec,
    type: 'NodePort',
    externalTrafficPolicy: 'Cluster',
    ports: [{ ...defaults.ports[0], nodePort: 30080 }],
  };
  it.each<[string, object, object]>([
    ['an update without allocated values keeps them', { type: 'NodePort', ports }, { ...nodePortSpec, ...noFamilies }],
    [
      'a change to ClusterIP drops the node ports',
      { ...nodePortSpec, type: 'ClusterIP' },
      { ...clusterIpSpec, type: 'ClusterIP' },
    ],
    [
      'a change to ExternalName drops all addresses',
      { ...nodePortSpec, type: 'ExternalName', externalName: 'a.b' },
      { ...defaults, type: 'ExternalName', externalName: 'a.b' },
    ],
  ])('of type NodePort: %s', (_case, spec, want) => {
    const old = prepared(serviceStrategy, service(nodePortSpec));
    const update = service(structuredClone(spec));
    serviceStrategy.default!(update);
    prepareUpdate(serviceStrategy, update, old);
    expect(update['spec']).toEqual(want);
    expect(texts(serviceStrategy.validateUpdate!(update, old, testContext))).toEqual([]);
  });

  it('status.loadBalancer.ingress is rejected unless the type is LoadBalancer', () => {
    const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };
    const validate = (type: string) =>
      texts(serviceStatusSubresource.validate!(service({ type }, { status }), service({}), testContext));
    expect(validate('ClusterIP')).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ]);
    expect(validate('LoadBalancer')).toEqual([]);
  });

  it.each<[object, object, string[]]>([
    [
      {
        type: 'ClusterIP',
        clusterIPs: ['10.0.0.1'],
        ports: [{ port: 80, protocol: 'TCP' }],
        selector: { b: 'c', a: 'b' },
      },
      {},
      ['10.0.0.1', '<none>', '80/TCP', 'a=b,b=c'],
    ],
    [{ type: 'ClusterIP', clusterIPs: ['None'] }, {}, ['None', '<none>', '<none>', '<none>']],
    [
      { type: 'NodePort', ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }] },
      {},
      ['<none>', '<none>', '80:30080/TCP', '<none>'],
    ],
    [{ type: 'LoadBalancer' }, {}, ['<none>', '<pending>', '<none>', '<none>']],
    [
      { type: 'LoadBalancer' },
      { loadBalancer: { ingress: [{ ip: '203.0.113.9' }, { hostname: 'h' }] } },
      ['<none>', '203.0.113.9,h', '<none>', '<none>'],
    ],
    [{ type: 'ExternalName', externalName: 'a.b' }, {}, ['<none>', 'a.b', '<none>', '<none>']],
  ])('table row of spec %j and status %j', (spec, status, want) => {
    const [, , ip, external, portsCell, , selector] = serviceTable.cells(service(spec, { status }), { nowMs: 0 });
    expect([ip, external, portsCell, selector]).toEqual(want);
  });
});

describe('Endpoints', () => {
  const endpoints = (subsets: object[]): KubeObject => ({
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: 'e' },
    subsets,
  });
  const ip = '192.0.2.1';
  it.each<[object, string[]]>([
    [{}, ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
    [
      { addresses: [{ ip: '127.0.0.1' }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      { addresses: [{ ip }], ports: [{ port: 0 }] },
      ['subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
    [
      { notReadyAddresses: [{ ip }], ports: [{ port: 1 }, { port: 2 }] },
      ['subsets[0].ports[0].name: Required value', 'subsets[0].ports[1].name: Required value'],
    ],
  ])('create with subset %j is rejected', (subset, want) =>
    expect(refusals(endpointsStrategy, endpoints([subset]))).toEqual(want),
  );

  it.each<[object[], string]>([
    [[], '<none>'],
    [[{ addresses: [{ ip }] }], '192.0.2.1'],
    [
      [{ addresses: [{ ip: '192.0.2.2' }, { ip }], ports: [{ port: 80 }, { port: 53 }] }],
      '192.0.2.2:80,192.0.2.1:80,192.0.2.2:53 + 1 more...',
    ],
    [[{ addresses: [{ ip: '2001:db8::1' }], ports: [{ port: 80 }] }], '[2001:db8::1]:80'],
  ])('table row of subsets %j', (subsets, want) =>
    expect(endpointsTable.cells(endpoints(subsets), { nowMs: 0 })[1]).toBe(want),
  );
});
