import type { KubeObject } from '../../../machinery/kube-object.js';
import { prepared } from '../../../../test/harness/strategies.js';
import { imageTag } from './image-tag.js';
import { defaultPodSpec } from './pod.defaults.js';
import { namingProfile } from '../../../config/naming-profile.js';
import { podRules } from './pod.strategy.js';

const { strategy: podStrategy } = podRules(namingProfile('kubernetes'));

const pod = (spec: object, labels?: Record<string, string>): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'd', ...(labels && { labels }) },
  spec,
});
const podWithContainer = (container: object, spec: object = {}) =>
  pod({ containers: [{ name: 'c', image: 'i', ...container }], ...spec });
const specOf = (object: KubeObject) => prepared(podStrategy, object)['spec'] as Record<string, unknown>;
const containerOf = (object: KubeObject) => (specOf(object)['containers'] as object[])[0];

const usualContainer = {
  name: 'c',
  image: 'i',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'Always',
};
const usualSpec = {
  containers: [usualContainer],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

it('minimal Pod gets all defaults', () => {
  expect(prepared(podStrategy, podWithContainer({}))).toEqual({
    ...pod({ ...usualSpec, enableServiceLinks: true }),
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});

it('template gets no defaults that are for Pods only', () => {
  const spec = { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] };
  defaultPodSpec(spec);
  expect(spec).toEqual({ ...usualSpec, containers: [{ ...usualContainer, resources: { limits: { cpu: '1' } } }] });
});

it.each([
  ['nginx', 'latest'],
  ['a:1', '1'],
  ['a:latest', 'latest'],
  ['r.example.com:5000/a', 'latest'],
  ['r.example.com:5000/a:2', '2'],
  ['a@sha256:00', ''],
  ['a:latest@sha256:00', 'latest'],
  ['Not An Image', ''],
  ['', ''],
])('the tag of %s is %j', (image, tag) => expect(imageTag(image)).toBe(tag));

const times = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
it.each<[string, object, object]>([
  ['imagePullPolicy of a fixed tag', { image: 'a:1' }, { imagePullPolicy: 'IfNotPresent' }],
  ['protocol of a port', { ports: [{ containerPort: 1 }] }, { ports: [{ containerPort: 1, protocol: 'TCP' }] }],
  [
    'times and handler of a probe',
    { livenessProbe: { httpGet: { port: 1 } } },
    { livenessProbe: { ...times, httpGet: { port: 1, path: '/', scheme: 'HTTP' } } },
  ],
  [
    'gRPC service of a probe',
    { startupProbe: { grpc: { port: 1 }, timeoutSeconds: 5 } },
    { startupProbe: { ...times, timeoutSeconds: 5, grpc: { port: 1, service: '' } } },
  ],
  [
    'handler of a lifecycle hook',
    { lifecycle: { preStop: { httpGet: { port: 1 } } } },
    { lifecycle: { preStop: { httpGet: { port: 1, path: '/', scheme: 'HTTP' } } } },
  ],
  [
    'field references of environment variables',
    {
      env: [
        { name: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'b', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
    },
    { env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }, { valueFrom: { resourceFieldRef: { divisor: '0' } } }] },
  ],
  [
    'canonical amounts, and requests equal to limits',
    { resources: { requests: { cpu: '0.0005' }, limits: { cpu: '1.10', memory: '1024Mi' } } },
    { resources: { requests: { cpu: '1m', memory: '1Gi' }, limits: { cpu: '1100m', memory: '1Gi' } } },
  ],
])('defaults %s', (_name, object, want) => expect(containerOf(podWithContainer(object))).toMatchObject(want));

it('hostPort defaults to containerPort with hostNetwork', () => {
  expect(containerOf(podWithContainer({ ports: [{ containerPort: 80 }] }, { hostNetwork: true }))).toMatchObject({
    ports: [{ hostPort: 80 }],
  });
});

it.each<[object, object]>([
  [{}, { emptyDir: {} }],
  [{ secret: { secretName: 's' } }, { secret: { defaultMode: 420 } }],
  [{ configMap: { name: 'c', defaultMode: 256 } }, { configMap: { defaultMode: 256 } }],
  [{ hostPath: { path: '/' } }, { hostPath: { type: '' } }],
  [{ image: { reference: 'a:1' } }, { image: { pullPolicy: 'IfNotPresent' } }],
  [{ rbd: { image: 'i' } }, { rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } }],
  [{ azureDisk: {} }, { azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false } }],
  [
    { ephemeral: { volumeClaimTemplate: {} } },
    { ephemeral: { volumeClaimTemplate: { metadata: {}, spec: { volumeMode: 'Filesystem' } } } },
  ],
  [
    { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } },
  ],
])('defaults the volume source %j', (volume, want) => {
  expect(
    (specOf(podWithContainer({}, { volumes: [{ name: 'v', ...volume }] }))['volumes'] as object[])[0],
  ).toMatchObject(want);
});

it.each([['serviceAccount'], ['serviceAccountName']])('%s sets serviceAccount and serviceAccountName', (field) => {
  expect(specOf(podWithContainer({}, { [field]: 'robot' }))).toMatchObject({
    serviceAccount: 'robot',
    serviceAccountName: 'robot',
  });
});

const both = { cpu: '1', memory: '1Gi' };
it.each<[string, object, string]>([
  ['no resources', {}, 'BestEffort'],
  ['a CPU request', { requests: { cpu: '1' } }, 'Burstable'],
  ['a CPU limit', { limits: { cpu: '1' } }, 'Burstable'],
  ['limits of CPU and memory', { limits: both }, 'Guaranteed'],
  [
    'requests equal to limits in other units',
    { limits: both, requests: { cpu: '1000m', memory: '1024Mi' } },
    'Guaranteed',
  ],
  ['a request below its limit', { limits: both, requests: { cpu: '500m' } }, 'Burstable'],
  ['an extended resource', { limits: { 'example.com/gpu': '1' } }, 'BestEffort'],
])('Pod with %s (%j) is %s', (_name, resources, qosClass) => {
  expect(prepared(podStrategy, podWithContainer({ resources }))['status']).toMatchObject({ qosClass });
});

it('Pod-level requests default to the sum of container requests', () => {
  const object = podWithContainer(
    { resources: { limits: both } },
    { resources: { limits: { cpu: '2', memory: '2Gi' } } },
  );
  const result = prepared(podStrategy, object);
  expect((result['spec'] as { resources: object }).resources).toEqual({
    limits: { cpu: '2', memory: '2Gi' },
    requests: both,
  });
  expect(result['status']).toMatchObject({ qosClass: 'Burstable' });
});

it('new Pod with scheduling gates has PodScheduled False, and no submitted status', () => {
  const object = { ...podWithContainer({}, { schedulingGates: [{ name: 'g' }] }), status: { phase: 'Running' } };
  expect(prepared(podStrategy, object)['status']).toEqual({
    phase: 'Pending',
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-02T03:04:05Z',
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ],
    qosClass: 'BestEffort',
  });
});

it('matchLabelKeys add the labels of the Pod to the selector of a spread constraint', () => {
  const constraint = { topologyKey: 'z', labelSelector: { matchLabels: { a: 'b' } }, matchLabelKeys: ['ver', 'none'] };
  const object = pod(
    { containers: [{ name: 'c', image: 'i' }], topologySpreadConstraints: [constraint] },
    { ver: '2' },
  );
  expect(specOf(object)['topologySpreadConstraints']).toEqual([
    {
      ...constraint,
      labelSelector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'ver', operator: 'In', values: ['2'] }] },
    },
  ]);
});

it.each<[string, object, object | undefined, number | undefined, number]>([
  ['unscheduled Pod', {}, undefined, 100, 0],
  ['scheduled Pod', { nodeName: 'n' }, undefined, undefined, 30],
  [
    'scheduled Pod with terminationGracePeriodSeconds',
    { nodeName: 'n', terminationGracePeriodSeconds: 5 },
    undefined,
    undefined,
    5,
  ],
  ['scheduled Pod with requested seconds', { nodeName: 'n' }, undefined, 7, 7],
  ['scheduled Pod with 0 requested seconds', { nodeName: 'n' }, undefined, 0, 0],
  [
    'scheduled Pod with negative terminationGracePeriodSeconds',
    { nodeName: 'n', terminationGracePeriodSeconds: -5 },
    undefined,
    undefined,
    1,
  ],
  ['succeeded Pod', { nodeName: 'n' }, { phase: 'Succeeded' }, undefined, 0],
])('grace period of a %s', (_name, spec, status, requested, want) => {
  const object = prepared(podStrategy, podWithContainer({}, spec));
  if (status) object['status'] = status;
  expect(podStrategy.deletion!.graceSeconds!(object, requested)).toBe(want);
});
