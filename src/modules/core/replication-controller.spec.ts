import { prepared, refusals, testContext, texts } from '../../../test/harness/strategies.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { podTemplateStrategy } from './pod-template.strategy.js';
import { podTemplateTable } from './pod-template.table.js';
import {
  replicationControllerStatusSubresource,
  replicationControllerStrategy,
} from './replication-controller.strategy.js';
import { replicationControllerTable } from './replication-controller.table.js';

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const controller = (spec: object, rest: object = {}): KubeObject => ({
  kind: 'ReplicationController',
  apiVersion: 'v1',
  metadata: { name: 'r' },
  spec: structuredClone(spec),
  ...rest,
});

it('selector, labels and replicas default from the Pod template', () => {
  const object = prepared(replicationControllerStrategy, controller({ template }));
  expect(object.metadata.labels).toEqual({ app: 'a' });
  expect(object['spec']).toMatchObject({ replicas: 1, selector: { app: 'a' } });
  expect(object['status']).toEqual({ replicas: 0 });
});

it.each<[object, string[]]>([
  [{ template }, []],
  [{ selector: { a: 'b' } }, ['spec.template: Required value']],
  [{ template: { spec: template.spec } }, ['spec.selector: Required value']],
  [
    { template, selector: { x: 'y' } },
    ['spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`'],
  ],
  [{ template, replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
])('ReplicationController with spec %j has the expected errors', (spec, want) =>
  expect(refusals(replicationControllerStrategy, controller(spec))).toEqual(want),
);

it('status with more ready replicas than replicas is rejected', () => {
  const object = controller({}, { status: { replicas: 1, readyReplicas: 2 } });
  expect(texts(replicationControllerStatusSubresource.validate!(object, object, testContext))).toEqual([
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
  ]);
});

it('ReplicationController and PodTemplate have one table cell for each column, and PodTemplate is validated', () => {
  const object = prepared(replicationControllerStrategy, controller({ template }));
  expect(replicationControllerTable.cells(object, { nowMs: 0 })).toEqual([
    'r',
    1,
    0,
    0,
    '<unknown>',
    'c',
    'nginx',
    'app=a',
  ]);
  const podTemplate: KubeObject = { kind: 'PodTemplate', apiVersion: 'v1', metadata: { name: 't' }, template };
  expect(podTemplateTable.cells(podTemplate, { nowMs: 0 })).toEqual(['t', 'c', 'nginx', 'app=a']);
  expect(refusals(podTemplateStrategy, podTemplate)).toEqual([]);
  expect(refusals(podTemplateStrategy, { ...podTemplate, template: {} })).toEqual([
    'template.spec.containers: Required value',
  ]);
});
