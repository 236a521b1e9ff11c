import { admitted, hooksOf, podOf } from '../../../test/harness/admission.js';
import { alwaysPullImages } from './always-pull-images.plugin.js';
import { defaultTolerationSeconds } from './default-toleration-seconds.plugin.js';
import { extendedResourceToleration } from './extended-resource-toleration.plugin.js';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.plugin.js';
import { podTopologyLabels } from './pod-topology-labels.plugin.js';

describe('DefaultTolerationSeconds', () => {
  const tolerating = (key: string, tolerationSeconds: number) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  });
  const notReady = 'node.kubernetes.io/not-ready';
  const unreachable = 'node.kubernetes.io/unreachable';
  const hooks = hooksOf(defaultTolerationSeconds, { notReadyTolerationSeconds: 30, unreachableTolerationSeconds: 60 });

  it.each([
    {
      name: 'adds both tolerations to a Pod without any',
      given: [],
      want: [tolerating(notReady, 30), tolerating(unreachable, 60)],
    },
    {
      name: 'keeps a toleration that the Pod has',
      given: [tolerating(notReady, 1)],
      want: [tolerating(notReady, 1), tolerating(unreachable, 60)],
    },
    {
      name: 'adds nothing to a Pod that tolerates all taints',
      given: [{ operator: 'Exists' }],
      want: [{ operator: 'Exists' }],
    },
    {
      name: 'ignores tolerations with another effect than NoExecute',
      given: [{ key: notReady, operator: 'Exists', effect: 'NoSchedule' }],
      want: [
        { key: notReady, operator: 'Exists', effect: 'NoSchedule' },
        tolerating(notReady, 30),
        tolerating(unreachable, 60),
      ],
    },
  ])('$name', async ({ given: tolerations, want }) => {
    const { object } = await admitted(hooks, { object: podOf({ tolerations }) });
    expect(object).toMatchObject({ spec: { tolerations: want } });
  });
});

describe('ExtendedResourceToleration', () => {
  const requesting = (...names: string[]) => [
    { name: 'c', resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) } },
  ];
  it.each([
    {
      name: 'adds a toleration for an extended resource',
      containers: requesting('example.com/gpu', 'cpu'),
      want: [{ key: 'example.com/gpu', operator: 'Exists' }],
    },
    {
      name: 'adds no toleration for native resources',
      containers: requesting('cpu', 'kubernetes.io/x'),
      want: undefined,
    },
  ])('$name', async ({ containers, want }) => {
    const { object } = await admitted(hooksOf(extendedResourceToleration), { object: podOf({ containers }) });
    expect((object!['spec'] as { tolerations?: unknown }).tolerations).toEqual(want);
  });
});

describe('AlwaysPullImages', () => {
  const image = (name: string, imagePullPolicy?: string) => ({
    containers: [{ name: 'c', image: name, ...(imagePullPolicy && { imagePullPolicy }) }],
  });
  it.each([
    {
      name: 'sets Always on containers of a new Pod',
      object: podOf(image('a', 'Never')),
      old: undefined,
      want: 'Always',
    },
    {
      name: 'sets Always if an update changes the image',
      object: podOf(image('b', 'Never')),
      old: podOf(image('a')),
      want: 'Always',
    },
    {
      name: 'keeps the policy if an update keeps the image',
      object: podOf(image('a', 'Never')),
      old: podOf(image('a', 'Never')),
      want: 'Never',
    },
  ])('$name', async ({ object, old, want }) => {
    const outcome = await admitted(hooksOf(alwaysPullImages), { object, ...(old && { old }) });
    expect(outcome.object).toMatchObject({ spec: { containers: [{ imagePullPolicy: want }] } });
    expect(outcome.refused).toBeUndefined();
  });
});

describe('PodTopologyLabels', () => {
  const zone = 'topology.kubernetes.io/zone';
  const known = { '/nodes': [{ metadata: { name: 'n', labels: { [zone]: 'z', other: 'o' } } }] };
  it.each([
    { name: 'with nodeName gets the zone label of the node', spec: { nodeName: 'n' }, want: { [zone]: 'z' } },
    { name: 'with an unknown node gets no labels', spec: { nodeName: 'm' }, want: undefined },
    { name: 'without nodeName gets no labels', spec: {}, want: undefined },
  ])('a Pod $name', async ({ spec, want }) => {
    const { object } = await admitted(hooksOf(podTopologyLabels, { known }), { object: podOf(spec) });
    expect(object!.metadata.labels).toEqual(want);
  });

  it.each([
    { of: '/pods/binding', target: { kind: 'Node', name: 'n' }, want: { [zone]: 'z' } },
    { of: '/bindings', target: { name: 'n' }, want: { [zone]: 'z' } },
    { of: '/pods/binding', target: { kind: 'Other', name: 'n' }, want: undefined },
    { of: '/pods/eviction', target: { name: 'n' }, want: undefined },
  ])('a write of $of with target $target adds $want', async ({ of, target, want }) => {
    const outcome = await admitted(hooksOf(podTopologyLabels, { known }), { of, object: { metadata: {}, target } });
    expect(outcome.object!.metadata.labels).toEqual(want);
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const antiAffinity = (topologyKey: string) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
  });
  it.each([
    ['kubernetes.io/hostname', undefined],
    [
      'zone',
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    ],
  ])('required anti-affinity with topologyKey %s: %s', async (key, want) => {
    const plugin = hooksOf(limitPodHardAntiAffinityTopology);
    expect((await admitted(plugin, { object: podOf(antiAffinity(key)) })).refused).toBe(want);
  });
});
