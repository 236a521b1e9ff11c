import type { KubeObject } from '../../machinery/kube-object.js';
import { conditionsAfter } from './dangling.js';

const schema = (...conditions: object[]): KubeObject => ({
  kind: 'FlowSchema',
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  metadata: { name: 's' },
  spec: { priorityLevelConfiguration: { name: 'l' } },
  status: { conditions },
});
const references = 'This FlowSchema references the PriorityLevelConfiguration object named "l"';
const found = { status: 'False', reason: 'Found', message: `${references} and it exists` };
const missing = { status: 'True', reason: 'NotFound', message: `${references} but there is no such object` };
const dangling = (rest: object, lastTransitionTime: string) => ({ type: 'Dangling', lastTransitionTime, ...rest });

it.each<[string, object[], boolean, object[]]>([
  ['is new, and has its level', [], true, [dangling(found, 'now')]],
  ['is new, and has none', [], false, [dangling(missing, 'now')]],
  ['stays as it was', [dangling(found, 'then')], true, [dangling(found, 'then')]],
  ['loses its level', [dangling(found, 'then')], false, [dangling(missing, 'now')]],
  ['has other conditions', [{ type: 'X' }, dangling(missing, 'then')], true, [{ type: 'X' }, dangling(found, 'now')]],
])('a schema that %s', (_what, before, exists, want) =>
  expect(conditionsAfter(schema(...before), exists, 'now')).toEqual(want),
);
