import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals } from '../../../test/harness/strategies.js';
import { networkPolicyStrategy } from './network-policy.strategy.js';
import { networkPolicyTable } from './network-policy.table.js';

const policy = (spec: object): KubeObject => ({
  kind: 'NetworkPolicy',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name: 'p' },
  spec,
});
const port = (value: object) => ({ ingress: [{ ports: [value] }] });
const peer = (value: object) => ({ egress: [{ to: [value] }] });
const portAt = 'spec.ingress[0].ports[0]';
const peerAt = 'spec.egress[0].to[0]';

it.each<[string, object, string[]]>([
  ['nothing', {}, []],
  ['a port', port({ port: 80 }), []],
  ['a named port', port({ port: 'http', protocol: 'UDP' }), []],
  ['a port range', port({ port: 1000, endPort: 2000 }), []],
  ['two selectors', peer({ podSelector: {}, namespaceSelector: {} }), []],
  ['an ipBlock with an exception', peer({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }), []],
  [
    'an unknown protocol',
    port({ protocol: 'X' }),
    [`${portAt}.protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`],
  ],
  ['port 0', port({ port: 0 }), [`${portAt}.port: Invalid value: 0: must be between 1 and 65535, inclusive`]],
  [
    'endPort below port',
    port({ port: 10, endPort: 5 }),
    [`${portAt}.endPort: Invalid value: 10: must be greater than or equal to \`port\``],
  ],
  [
    'endPort with a named port',
    port({ port: 'http', endPort: 5 }),
    [`${portAt}.endPort: Invalid value: 5: may not be specified when \`port\` is non-numeric`],
  ],
  [
    'endPort without port',
    port({ endPort: 5 }),
    [`${portAt}.endPort: Invalid value: 5: may not be specified when \`port\` is not specified`],
  ],
  ['an empty peer', peer({}), [`${peerAt}: Required value: must specify a peer`]],
  [
    'an ipBlock and a selector',
    peer({ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }),
    [`${peerAt}: Forbidden: may not specify both ipBlock and another peer`],
  ],
  ['an ipBlock without cidr', peer({ ipBlock: {} }), [`${peerAt}.ipBlock.cidr: Required value`]],
  [
    'an exception outside of cidr',
    peer({ ipBlock: { cidr: '10.0.0.0/8', except: ['192.168.0.0/16'] } }),
    [`${peerAt}.ipBlock.except[0]: Invalid value: "192.168.0.0/16": must be a strict subset of \`cidr\``],
  ],
  [
    'an unknown policy type',
    { policyTypes: ['X'] },
    ['spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"'],
  ],
  [
    'three policy types',
    { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
    ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes'],
  ],
])('create of a NetworkPolicy with %s is validated', (_case, spec, want) =>
  expect(refusals(networkPolicyStrategy, policy(spec))).toEqual(want),
);

it.each<[object, object]>([
  [{}, { podSelector: {}, policyTypes: ['Ingress'] }],
  [{ egress: [{}] }, { podSelector: {}, egress: [{}], policyTypes: ['Ingress', 'Egress'] }],
  [{ policyTypes: ['Egress'] }, { podSelector: {}, policyTypes: ['Egress'] }],
  [
    { ingress: [{ ports: [{ port: 1 }, { protocol: 'UDP' }] }] },
    {
      podSelector: {},
      ingress: [{ ports: [{ port: 1, protocol: 'TCP' }, { protocol: 'UDP' }] }],
      policyTypes: ['Ingress'],
    },
  ],
])('defaults of spec %j', (spec, want) => expect(prepared(networkPolicyStrategy, policy(spec))['spec']).toEqual(want));

it.each([
  [{}, '<none>'],
  [{ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] }, 'a=b,c'],
])('table row with podSelector %j', (podSelector, want) =>
  expect(networkPolicyTable.cells(policy({ podSelector }), { nowMs: 0 })).toEqual(['p', want, '<unknown>']),
);

it('an ambiguous CIDR is warned of', () => {
  const spec = peer({ ipBlock: { cidr: '10.0.0.1/8', except: ['10.1.0.0/16'] } });
  expect(networkPolicyStrategy.warnings!(policy(spec), undefined)).toEqual([
    `${peerAt}.ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)`,
  ]);
});
