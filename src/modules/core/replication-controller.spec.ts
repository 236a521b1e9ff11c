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

it('is labelled as its pods are, and knows them by that', () => {
  const made = prepared(replicationControllerStrategy, controller({ template }));
  expect(made.metadata.labels).toEqual({ app: 'a' });
  expect(made['spec']).toMatchObject({ replicas: 1, selector: { app: 'a' } });
  expect(made['status']).toEqual({ replicas: 0 });
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
])('%j', (spec, want) => expect(refusals(replicationControllerStrategy, controller(spec))).toEqual(want));

it('has no more that is ready than there is', () => {
  const given = controller({}, { status: { replicas: 1, readyReplicas: 2 } });
  expect(texts(replicationControllerStatusSubresource.validate!(given, given, testContext))).toEqual([
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
  ]);
});

it('both in tables', () => {
  const made = prepared(replicationControllerStrategy, controller({ template }));
  expect(replicationControllerTable.cells(made, { nowMs: 0 })).toEqual([
    'r',
    1,
    0,
    0,
    '<unknown>',
    'c',
    'nginx',
    'app=a',
  ]);
  const alone: KubeObject = { kind: 'PodTemplate', apiVersion: 'v1', metadata: { name: 't' }, template };
  expect(podTemplateTable.cells(alone, { nowMs: 0 })).toEqual(['t', 'c', 'nginx', 'app=a']);
  expect(refusals(podTemplateStrategy, alone)).toEqual([]);
  expect(refusals(podTemplateStrategy, { ...alone, template: {} })).toEqual([
    'template.spec.containers: Required value',
  ]);
});
