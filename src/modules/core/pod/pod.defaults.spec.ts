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
const one = (container: object, spec: object = {}) =>
  pod({ containers: [{ name: 'c', image: 'i', ...container }], ...spec });
const specOf = (given: KubeObject) => prepared(podStrategy, given)['spec'] as Record<string, unknown>;
const containerOf = (given: KubeObject) => (specOf(given)['containers'] as object[])[0];

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

it('completes the least a pod can say', () => {
  expect(prepared(podStrategy, one({}))).toEqual({
    ...pod({ ...usualSpec, enableServiceLinks: true }),
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});

it('completes templates, but for what only a pod gets', () => {
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
  ['an image that stays', { image: 'a:1' }, { imagePullPolicy: 'IfNotPresent' }],
  ['a port', { ports: [{ containerPort: 1 }] }, { ports: [{ containerPort: 1, protocol: 'TCP' }] }],
  [
    'a probe',
    { livenessProbe: { httpGet: { port: 1 } } },
    { livenessProbe: { ...times, httpGet: { port: 1, path: '/', scheme: 'HTTP' } } },
  ],
  [
    'a slow probe',
    { startupProbe: { grpc: { port: 1 }, timeoutSeconds: 5 } },
    { startupProbe: { ...times, timeoutSeconds: 5, grpc: { port: 1, service: '' } } },
  ],
  [
    'a hook',
    { lifecycle: { preStop: { httpGet: { port: 1 } } } },
    { lifecycle: { preStop: { httpGet: { port: 1, path: '/', scheme: 'HTTP' } } } },
  ],
  [
    'variables from the pod',
    {
      env: [
        { name: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'b', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
    },
    { env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }, { valueFrom: { resourceFieldRef: { divisor: '0' } } }] },
  ],
  [
    'amounts, in one way each, asked for where limited',
    { resources: { requests: { cpu: '0.0005' }, limits: { cpu: '1.10', memory: '1024Mi' } } },
    { resources: { requests: { cpu: '1m', memory: '1Gi' }, limits: { cpu: '1100m', memory: '1Gi' } } },
  ],
])('completes %s', (_what, given, want) => expect(containerOf(one(given))).toMatchObject(want));

it('gives ports of the host to a pod that uses its network', () => {
  expect(containerOf(one({ ports: [{ containerPort: 80 }] }, { hostNetwork: true }))).toMatchObject({
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
])('completes the volume %j', (volume, want) => {
  expect((specOf(one({}, { volumes: [{ name: 'v', ...volume }] }))['volumes'] as object[])[0]).toMatchObject(want);
});

it.each([['serviceAccount'], ['serviceAccountName']])('says the account of %s twice', (field) => {
  expect(specOf(one({}, { [field]: 'robot' }))).toMatchObject({ serviceAccount: 'robot', serviceAccountName: 'robot' });
});

const both = { cpu: '1', memory: '1Gi' };
it.each<[string, object, string]>([
  ['nothing', {}, 'BestEffort'],
  ['some CPU', { requests: { cpu: '1' } }, 'Burstable'],
  ['a limit of CPU alone', { limits: { cpu: '1' } }, 'Burstable'],
  ['limits of both', { limits: both }, 'Guaranteed'],
  ['the same, said otherwise', { limits: both, requests: { cpu: '1000m', memory: '1024Mi' } }, 'Guaranteed'],
  ['less than its limits', { limits: both, requests: { cpu: '500m' } }, 'Burstable'],
  ['what does not count', { limits: { 'example.com/gpu': '1' } }, 'BestEffort'],
])('a pod that asks for %s is of its class', (_what, resources, qosClass) => {
  expect(prepared(podStrategy, one({ resources }))['status']).toMatchObject({ qosClass });
});

it('asks as a pod for what its containers ask for', () => {
  const given = one({ resources: { limits: both } }, { resources: { limits: { cpu: '2', memory: '2Gi' } } });
  const made = prepared(podStrategy, given);
  expect((made['spec'] as { resources: object }).resources).toEqual({
    limits: { cpu: '2', memory: '2Gi' },
    requests: both,
  });
  expect(made['status']).toMatchObject({ qosClass: 'Burstable' });
});

it('tells of gates, and starts over whatever status is submitted', () => {
  const given = { ...one({}, { schedulingGates: [{ name: 'g' }] }), status: { phase: 'Running' } };
  expect(prepared(podStrategy, given)['status']).toEqual({
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

it('spreads pods by the labels that they have themselves', () => {
  const constraint = { topologyKey: 'z', labelSelector: { matchLabels: { a: 'b' } }, matchLabelKeys: ['ver', 'none'] };
  const given = pod({ containers: [{ name: 'c', image: 'i' }], topologySpreadConstraints: [constraint] }, { ver: '2' });
  expect(specOf(given)['topologySpreadConstraints']).toEqual([
    {
      ...constraint,
      labelSelector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'ver', operator: 'In', values: ['2'] }] },
    },
  ]);
});

it.each<[string, object, object | undefined, number | undefined, number]>([
  ['runs on no node', {}, undefined, 100, 0],
  ['runs', { nodeName: 'n' }, undefined, undefined, 30],
  ['runs, with a time of its own', { nodeName: 'n', terminationGracePeriodSeconds: 5 }, undefined, undefined, 5],
  ['runs, with a time asked for', { nodeName: 'n' }, undefined, 7, 7],
  ['must go', { nodeName: 'n' }, undefined, 0, 0],
  ['has a nonsense time', { nodeName: 'n', terminationGracePeriodSeconds: -5 }, undefined, undefined, 1],
  ['has ended', { nodeName: 'n' }, { phase: 'Succeeded' }, undefined, 0],
])('a pod that %s', (_what, spec, status, requested, want) => {
  const given = prepared(podStrategy, one({}, spec));
  if (status) given['status'] = status;
  expect(podStrategy.deletion!.graceSeconds!(given, requested)).toBe(want);
});
