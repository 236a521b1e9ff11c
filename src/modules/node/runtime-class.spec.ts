import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { runtimeClassStrategy } from './runtime-class.strategy.js';
import { runtimeClassTable } from './runtime-class.table.js';

const strategy = runtimeClassStrategy(namingProfile('kubernetes'));
const runtimeClass = (fields: object): KubeObject => ({
  kind: 'RuntimeClass',
  apiVersion: 'node.k8s.io/v1',
  metadata: { name: 'r' },
  handler: 'h',
  ...fields,
});
const toleration = { key: 'k', operator: 'Exists' };

it.each<[string, object, string[]]>([
  ['a handler', {}, []],
  [
    'all of it',
    { overhead: { podFixed: { cpu: '100m' } }, scheduling: { nodeSelector: { a: 'b' }, tolerations: [toleration] } },
    [],
  ],
  ['no handler', { handler: '' }, ['handler: Required value']],
  [
    'a negative overhead',
    { overhead: { podFixed: { cpu: '-1' } } },
    ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    'a toleration twice',
    { scheduling: { tolerations: [toleration, toleration] } },
    ['scheduling.tolerations[1]: Duplicate value: {"key":"k","operator":"Exists"}'],
  ],
])('a RuntimeClass with %s is validated', (_name, fields, want) =>
  expect(refusals(strategy, runtimeClass(fields))).toEqual(want),
);

it.each(['A_', 'a.b'])('the handler %s is rejected', (handler) =>
  expect(refusals(strategy, runtimeClass({ handler }))).toHaveLength(1),
);

it('handler is immutable', () =>
  expect(updateRefusals(strategy, runtimeClass({ handler: 'x' }), runtimeClass({}))).toEqual([
    'handler: Invalid value: "x": field is immutable',
  ]));

it('the table row of a RuntimeClass', () =>
  expect(runtimeClassTable.cells(runtimeClass({}), { nowMs: 0 })).toEqual(['r', 'h', '<unknown>']));

it('deprecated node labels are warned of', () => {
  const nodeSelector = { 'beta.kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
  expect(strategy.warnings!(runtimeClass({ scheduling: { nodeSelector } }), undefined)).toEqual([
    'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
});
