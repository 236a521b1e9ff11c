import type { KubeObject } from '../../machinery/kube-object.js';
import { refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { runtimeClassStrategy } from './runtime-class.strategy.js';
import { runtimeClassTable } from './runtime-class.table.js';

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
])('%s', (_name, fields, want) => expect(refusals(runtimeClassStrategy, runtimeClass(fields))).toEqual(want));

it.each(['A_', 'a.b'])('%s is no handler', (handler) =>
  expect(refusals(runtimeClassStrategy, runtimeClass({ handler }))).toHaveLength(1),
);

it('keeps its handler', () =>
  expect(updateRefusals(runtimeClassStrategy, runtimeClass({ handler: 'x' }), runtimeClass({}))).toEqual([
    'handler: Invalid value: "x": field is immutable',
  ]));

it('in a table', () =>
  expect(runtimeClassTable.cells(runtimeClass({}), { nowMs: 0 })).toEqual(['r', 'h', '<unknown>']));
