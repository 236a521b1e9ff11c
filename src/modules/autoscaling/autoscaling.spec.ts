import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { autoscalersV1, autoscalersV2 } from './autoscaling.resources.js';
import { autoscalerConverters } from './horizontal-pod-autoscaler.v1.js';

const { toHub, fromHub } = autoscalerConverters(namingProfile('kubernetes'));
const { strategy, table } = autoscalersV2;
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const autoscaler = (spec: object, rest: object = {}): KubeObject => ({
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'h' },
  spec: { maxReplicas: 3, scaleTargetRef, ...structuredClone(spec) },
  ...structuredClone(rest),
});
const cpu = (share: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: share } },
});
const everyMetric = [
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1500m' } } },
  {
    type: 'Object',
    object: {
      describedObject: { kind: 'Service', name: 's', apiVersion: 'v1' },
      metric: { name: 'm', selector: { matchLabels: { a: 'b' } } },
      target: { type: 'Value', value: '10' },
    },
  },
  { type: 'External', external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '30' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 70 } },
  },
  cpu(60),
];
const behavior = { scaleDown: { stabilizationWindowSeconds: 60 }, scaleUp: { selectPolicy: 'Min' } };
const status = {
  currentReplicas: 3,
  desiredReplicas: 4,
  currentMetrics: [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 50, averageValue: '1' } } },
    { type: 'Pods', pods: { metric: { name: 'm' }, current: { averageValue: '7' } } },
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'Service', name: 's', apiVersion: 'v1' },
        metric: { name: 'm' },
        current: { value: '5' },
      },
    },
  ],
  conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z', reason: 'R' }],
};

it.each<[string, KubeObject]>([
  ['required fields only', prepared(strategy, autoscaler({}))],
  ['every metric and a behavior', prepared(strategy, autoscaler({ minReplicas: 2, metrics: everyMetric, behavior }))],
  ['a status', { ...prepared(strategy, autoscaler({ metrics: everyMetric })), status }],
  [
    'annotations of the user',
    prepared(strategy, { ...autoscaler({}), metadata: { name: 'h', annotations: { mine: 'x' } } }),
  ],
])('an object with %s is the same after conversion to v1 and back', (_name, stored) =>
  expect(toHub(fromHub(stored))).toEqual(stored),
);

it('v1 has the CPU utilization in fields and all else in annotations', () => {
  const old = fromHub({ ...autoscaler({ minReplicas: 1, metrics: everyMetric, behavior }), status });
  expect(old['spec']).toEqual({ maxReplicas: 3, minReplicas: 1, scaleTargetRef, targetCPUUtilizationPercentage: 60 });
  expect(old['status']).toEqual({ currentReplicas: 3, desiredReplicas: 4, currentCPUUtilizationPercentage: 50 });
  expect(Object.keys(old.metadata.annotations!).sort()).toEqual(
    ['behavior', 'conditions', 'current-metrics', 'metrics'].map((name) => `autoscaling.alpha.kubernetes.io/${name}`),
  );
  expect(JSON.parse(old.metadata.annotations!['autoscaling.alpha.kubernetes.io/metrics']!)).toContainEqual({
    type: 'Object',
    object: {
      target: { kind: 'Service', name: 's', apiVersion: 'v1' },
      metricName: 'm',
      selector: { matchLabels: { a: 'b' } },
      targetValue: '10',
    },
  });
});

it('targetCPUUtilizationPercentage of v1 becomes a CPU metric of v2', () => {
  const old = { ...autoscaler({ targetCPUUtilizationPercentage: 50 }), apiVersion: 'autoscaling/v1' };
  expect((toHub(old)['spec'] as { metrics: unknown }).metrics).toEqual([cpu(50)]);
});

it('an annotation that is not JSON is ignored', () => {
  const key = 'autoscaling.alpha.kubernetes.io/metrics';
  const odd = { ...autoscaler({}), metadata: { name: 'h', annotations: { [key]: '{', mine: 'x' } } };
  expect(toHub(odd).metadata.annotations).toEqual({ mine: 'x' });
});

it.each([
  ['metrics', [{ type: 'Resource', resource: { name: 5 } }]],
  ['metrics', ['text']],
  ['behavior', { ScaleUp: { Policies: 'none' } }],
  ['conditions', [{ status: {} }]],
  ['current-metrics', [{ type: [] }]],
])('an annotation %s with values of other types (%j) is ignored', (name, value) => {
  const annotations = { [`autoscaling.alpha.kubernetes.io/${name}`]: JSON.stringify(value) };
  const { spec, status } = toHub({ ...autoscaler({}), metadata: { name: 'h', annotations } });
  expect(spec).toEqual({ maxReplicas: 3, scaleTargetRef });
  expect(status).toEqual({ desiredReplicas: 0, currentMetrics: null });
});

it('defaults: a CPU metric of 80 %, and all fields of scaleUp and scaleDown', () => {
  const { spec, status: made } = prepared(strategy, autoscaler({ behavior }));
  expect(made).toEqual({ desiredReplicas: 0, currentMetrics: null });
  expect(spec).toMatchObject({
    minReplicas: 1,
    metrics: [cpu(80)],
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Min',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: 'Max' },
    },
  });
});

const metrics = (...list: object[]) => ({ metrics: list });
const unsupported =
  'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"';
it.each<[object, string[]]>([
  [{ metrics: everyMetric, behavior }, []],
  [
    { maxReplicas: 0 },
    [
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
  ],
  [
    { minReplicas: 0 },
    [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  ],
  [
    { scaleTargetRef: {} },
    [
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Required value',
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [{ scaleTargetRef: { kind: 'ReplicationController', name: 'r', apiVersion: 'v1' } }, []],
  [metrics({}), ['spec.metrics[0].type: Required value: must specify a metric source type', unsupported, unsupported]],
  [
    metrics({ type: 'Resource', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } }),
    ['spec.metrics[0].resource: Required value: must populate information for the given metric source'],
  ],
  [metrics(cpu(0)), ['spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0']],
  [
    { behavior: { scaleUp: { policies: [] } } },
    ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
  ],
  [
    { behavior: { scaleUp: { stabilizationWindowSeconds: 3601, policies: [{ type: 'Odd', value: 1 }] } } },
    [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Odd": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero',
    ],
  ],
])('spec %j is validated', (spec, want) => expect(refusals(strategy, autoscaler(spec))).toEqual(want));

it('minReplicas 0 stays allowed if the old object has it', () => {
  const external = metrics(everyMetric[3]!);
  const before = autoscaler({ minReplicas: 0, ...external });
  expect(updateRefusals(strategy, autoscaler({ minReplicas: 0, maxReplicas: 5, ...external }), before)).toEqual([]);
});

it.each<[object, object, string]>([
  [{ metrics: [cpu(80)] }, {}, 'cpu: <unknown>/80%'],
  [{ metrics: [cpu(80)] }, { currentMetrics: status.currentMetrics }, 'cpu: 50%/80%'],
  [{ metrics: everyMetric }, {}, 'memory: <unknown>/1Gi, <unknown>/1500m + 4 more...'],
  [{ metrics: everyMetric.slice(2, 4) }, {}, '<unknown>/10, <unknown>/30 (avg)'],
  [{ metrics: [] }, {}, '<none>'],
])('the table row of spec %j with status %j', (spec, given, want) => {
  const object = { ...autoscaler({ minReplicas: 1, ...spec }), status: given };
  expect(table.cells(object, { nowMs: 0 })).toEqual(['h', 'Deployment/d', want, '1', 3, 0, '<unknown>']);
  const v1 = autoscalersV1(namingProfile('kubernetes'));
  expect(v1.table.cells(fromHub(object), { nowMs: 0 }).slice(0, 2)).toEqual(['h', 'Deployment/d']);
});
