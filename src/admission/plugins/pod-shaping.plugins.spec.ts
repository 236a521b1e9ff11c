import { admitted, pluginParts, podOf } from '../../../test/harness/admission.js';
import { alwaysPullImages } from './always-pull-images.plugin.js';
import { defaultTolerationSeconds } from './default-toleration-seconds.plugin.js';
import { extendedResourceToleration } from './extended-resource-toleration.plugin.js';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.plugin.js';
import { podTopologyLabels } from './pod-topology-labels.plugin.js';

describe('DefaultTolerationSeconds', () => {
  const lasting = (key: string, tolerationSeconds: number) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  });
  const notReady = 'node.kubernetes.io/not-ready';
  const unreachable = 'node.kubernetes.io/unreachable';
  const parts = pluginParts({ notReadyTolerationSeconds: 30, unreachableTolerationSeconds: 60 });

  it.each([
    { name: 'adds both', given: [], want: [lasting(notReady, 30), lasting(unreachable, 60)] },
    {
      name: 'keeps what is said',
      given: [lasting(notReady, 1)],
      want: [lasting(notReady, 1), lasting(unreachable, 60)],
    },
    { name: 'adds nothing to who tolerates all', given: [{ operator: 'Exists' }], want: [{ operator: 'Exists' }] },
    {
      name: 'sees no other effect',
      given: [{ key: notReady, operator: 'Exists', effect: 'NoSchedule' }],
      want: [
        { key: notReady, operator: 'Exists', effect: 'NoSchedule' },
        lasting(notReady, 30),
        lasting(unreachable, 60),
      ],
    },
  ])('$name', async ({ given: tolerations, want }) => {
    const { object } = await admitted(defaultTolerationSeconds(parts), { object: podOf({ tolerations }) });
    expect(object).toMatchObject({ spec: { tolerations: want } });
  });
});

describe('ExtendedResourceToleration', () => {
  const asking = (...names: string[]) => [
    { name: 'c', resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) } },
  ];
  it.each([
    {
      name: 'a device',
      containers: asking('example.com/gpu', 'cpu'),
      want: [{ key: 'example.com/gpu', operator: 'Exists' }],
    },
    { name: 'built-in resources', containers: asking('cpu', 'kubernetes.io/x'), want: undefined },
  ])('$name', async ({ containers, want }) => {
    const { object } = await admitted(extendedResourceToleration(pluginParts()), { object: podOf({ containers }) });
    expect((object!['spec'] as { tolerations?: unknown }).tolerations).toEqual(want);
  });
});

describe('AlwaysPullImages', () => {
  const image = (name: string, imagePullPolicy?: string) => ({
    containers: [{ name: 'c', image: name, ...(imagePullPolicy && { imagePullPolicy }) }],
  });
  it.each([
    { name: 'a new Pod', object: podOf(image('a', 'Never')), old: undefined, want: 'Always' },
    { name: 'another image', object: podOf(image('b', 'Never')), old: podOf(image('a')), want: 'Always' },
    { name: 'the same image', object: podOf(image('a', 'Never')), old: podOf(image('a', 'Never')), want: 'Never' },
  ])('$name', async ({ object, old, want }) => {
    const outcome = await admitted(alwaysPullImages, { object, ...(old && { old }) });
    expect(outcome.object).toMatchObject({ spec: { containers: [{ imagePullPolicy: want }] } });
    expect(outcome.refused).toBeUndefined();
  });
});

describe('PodTopologyLabels', () => {
  const zone = 'topology.kubernetes.io/zone';
  const known = { '/nodes': [{ metadata: { name: 'n', labels: { [zone]: 'z', other: 'o' } } }] };
  it.each([
    { name: 'with its node', spec: { nodeName: 'n' }, want: { [zone]: 'z' } },
    { name: 'with a node that is not there', spec: { nodeName: 'm' }, want: undefined },
    { name: 'without a node', spec: {}, want: undefined },
  ])('a Pod $name', async ({ spec, want }) => {
    const { object } = await admitted(podTopologyLabels(pluginParts({ known })), { object: podOf(spec) });
    expect(object!.metadata.labels).toEqual(want);
  });

  it.each([
    { of: '/pods/binding', target: { kind: 'Node', name: 'n' }, want: { [zone]: 'z' } },
    { of: '/bindings', target: { name: 'n' }, want: { [zone]: 'z' } },
    { of: '/pods/binding', target: { kind: 'Other', name: 'n' }, want: undefined },
    { of: '/pods/eviction', target: { name: 'n' }, want: undefined },
  ])('$of to $target', async ({ of, target, want }) => {
    const outcome = await admitted(podTopologyLabels(pluginParts({ known })), { of, object: { metadata: {}, target } });
    expect(outcome.object!.metadata.labels).toEqual(want);
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const apart = (topologyKey: string) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
  });
  it.each([
    ['kubernetes.io/hostname', undefined],
    [
      'zone',
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    ],
  ])('%s', async (key, want) => {
    const plugin = limitPodHardAntiAffinityTopology(pluginParts());
    expect((await admitted(plugin, { object: podOf(apart(key)) })).refused).toBe(want);
  });
});
