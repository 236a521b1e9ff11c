import type { FlowSchema } from '../../catalog/types/flowcontrol.v1.js';
import { conditionsAfter } from './dangling.js';

const schema = (...conditions: object[]): FlowSchema => ({
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
  ['is new, with an existing level', [], true, [dangling(found, 'now')]],
  ['is new, with a missing level', [], false, [dangling(missing, 'now')]],
  ['is unchanged', [dangling(found, 'then')], true, [dangling(found, 'then')]],
  ['loses its level', [dangling(found, 'then')], false, [dangling(missing, 'now')]],
  ['has other conditions', [{ type: 'X' }, dangling(missing, 'then')], true, [{ type: 'X' }, dangling(found, 'now')]],
])('the condition Dangling of a FlowSchema that %s', (_what, before, exists, want) =>
  expect(conditionsAfter(schema(...before), exists, 'now')).toEqual(want),
);
