import type { KubeObject } from '../../../machinery/kube-object.js';
import type { ViewSubresource } from '../../../registry/definition/resource-definition.js';
import { prepared, testContext, texts } from '../../../../test/harness/strategies.js';
import { namingProfile } from '../../../config/naming-profile.js';
import { podRules } from './pod.strategy.js';

const {
  strategy: podStrategy,
  statusSubresource: podStatusSubresource,
  ephemeralContainersSubresource,
  resizeSubresource,
} = podRules(namingProfile('kubernetes'));

const container = { name: 'c', image: 'i' };
const pod = (spec: object = {}, status?: object): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'd' },
  spec: { containers: [container], ...spec },
  ...(status && { status }),
});

function update(oldSpec: object, spec: object): string[] {
  const old = prepared(podStrategy, pod(oldSpec));
  const change = prepared(podStrategy, pod({ ...oldSpec, ...spec }));
  podStrategy.prepareForUpdate!(change, old, testContext);
  return texts(podStrategy.validateUpdate!(change, old, testContext));
}

/** The refusal, with the lines that the change has brought. */
const fixed = (...added: string[]) => {
  const message =
    'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  return {
    asymmetricMatch: (text: string) => {
      const [head, hunk, ...lines] = text.split('\n');
      const found = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1).trim());
      return head === `spec: Forbidden: ${message}` && hunk!.startsWith('@@ ') && found.join() === added.join();
    },
  } as unknown as string;
};
const toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 };
const term = (...keys: string[]) => ({ matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })) });
const nodes = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const narrower = (_selector: object) =>
  expect.stringMatching(
    /^spec\.nodeSelector: Invalid value: .*: only additions to spec.nodeSelector are allowed \(no mutations or deletions\)$/,
  ) as string;
const termsPath = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
const told = (where: string, why: string) =>
  ({
    asymmetricMatch: (text: string) => text.startsWith(`${where}: Invalid value: `) && text.endsWith(why),
  }) as unknown as string;
const fixedTerms = told(termsPath, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
const fixedTerm = told(`${termsPath}[0]`, 'only additions are allowed (no mutations or deletions)');
const anyFixed = expect.stringContaining('spec: Forbidden: pod updates may not change fields other than') as string;
const gates = { schedulingGates: [{ name: 'g' }] };

it.each<[string, object, object, string[]]>([
  ['nothing', {}, {}, []],
  ['the image', {}, { containers: [{ ...container, image: 'j:1', imagePullPolicy: 'Always' }] }, []],
  ['a container’s name', {}, { containers: [{ ...container, name: 'x' }] }, [fixed('"Name": "x",')]],
  ['its command', {}, { containers: [{ ...container, command: ['x'] }] }, [fixed('"Command": [', '"x"', '],')]],
  [
    'how many there are',
    {},
    { containers: [container, { name: 'd', image: 'i' }] },
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
  ['its node', {}, { nodeName: 'n' }, [fixed('"NodeName": "n",')]],
  ['its account', {}, { serviceAccountName: 'x' }, [fixed('"ServiceAccountName": "x",')]],
  ['an empty list for none', {}, { hostAliases: [] }, []],
  ['a deadline', {}, { activeDeadlineSeconds: 5 }, []],
  [
    'a later deadline',
    { activeDeadlineSeconds: 5 },
    { activeDeadlineSeconds: 6 },
    ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  ],
  [
    'no deadline any more',
    { activeDeadlineSeconds: 5 },
    { activeDeadlineSeconds: undefined },
    ['spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value'],
  ],
  [
    'another toleration',
    { tolerations: [toleration] },
    { tolerations: [{ ...toleration, tolerationSeconds: 9 }, { operator: 'Exists' }] },
    [],
  ],
  [
    'no toleration any more',
    { tolerations: [toleration] },
    { tolerations: [] },
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ],
  ['its grace period', {}, { terminationGracePeriodSeconds: 5 }, [fixed('"TerminationGracePeriodSeconds": 5,')]],
  ['a nonsense grace period', { terminationGracePeriodSeconds: -1 }, { terminationGracePeriodSeconds: 1 }, []],
  [
    'a gate',
    {},
    gates,
    ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"],
  ],
  ['no gate any more', gates, { schedulingGates: undefined }, []],
  ['where it may run, while gated', gates, { nodeSelector: { a: 'b' } }, []],
  ['its selector, while gated', { ...gates, nodeSelector: { a: 'b' } }, { nodeSelector: { a: 'b', c: 'd' } }, []],
  [
    'another value of its selector, while gated',
    { ...gates, nodeSelector: { a: 'b' } },
    { nodeSelector: { a: 'c' } },
    [narrower({ a: 'c' })],
  ],
  [
    'no selector any more, while gated',
    { ...gates, nodeSelector: { a: 'b' } },
    { nodeSelector: undefined },
    [narrower({})],
  ],
  [
    'no selector with the last gate',
    { ...gates, nodeSelector: { a: 'b' } },
    { schedulingGates: undefined, nodeSelector: undefined },
    [narrower({})],
  ],
  ['a first affinity, while gated', gates, nodes(term('a')), []],
  ['its only affinity, while gated', { ...gates, ...nodes(term('a')) }, nodes(term('a', 'b')), []],
  ['no affinity any more, while gated', { ...gates, ...nodes(term('a')) }, { affinity: undefined }, [fixedTerms]],
  ['a second term, while gated', { ...gates, ...nodes(term('a')) }, nodes(term('a'), term('b')), [fixedTerms]],
  ['another term, while gated', { ...gates, ...nodes(term('a')) }, nodes(term('b')), [fixedTerm]],
  ['a shorter term, while gated', { ...gates, ...nodes(term('a', 'b')) }, nodes(term('a')), [fixedTerm]],
  [
    'preferred nodes, while gated',
    { ...gates, ...nodes(term('a')) },
    {
      affinity: {
        nodeAffinity: {
          ...nodes(term('a')).affinity.nodeAffinity,
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: term('x') }],
        },
      },
    },
    [],
  ],
  [
    'its neighbours, while gated',
    gates,
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k' }] } } },
    [anyFixed],
  ],
  ['where it may run', {}, { nodeSelector: { a: 'b' } }, [fixed('"NodeSelector": {', '"a": "b"', '},')]],
])('an update to %s', (_what, old, spec, want) => expect(update(old, spec)).toEqual(want));

const mirror = 'kubernetes.io/config.mirror';
const appArmor = 'container.apparmor.security.beta.kubernetes.io/c';
const annotated = (key?: string, value = 'v', spec: object = {}): KubeObject => {
  const { metadata, ...rest } = prepared(podStrategy, pod(spec));
  return { ...rest, metadata: { ...metadata, ...(key && { annotations: { [key]: value } }) } };
};

describe('fixed annotations', () => {
  // prettier-ignore
  const rows: [KubeObject, KubeObject, string | undefined][] = [
    [annotated(), annotated('other'), undefined],
    [annotated(mirror), annotated(mirror), undefined],
    [annotated(), annotated(mirror), `metadata.annotations[${mirror}]: Forbidden: may not add mirror pod annotation`],
    [annotated(mirror), annotated(), `metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`],
    [annotated(mirror), annotated(mirror, 'w'), `metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`],
    [annotated(), annotated(appArmor), `metadata.annotations[${appArmor}]: Forbidden: may not add AppArmor annotations`],
    [annotated(appArmor), annotated(appArmor, 'w'), `metadata.annotations[${appArmor}]: Forbidden: may not remove or update AppArmor annotations`],
  ];
  it.each(rows)('from %j to %j', (old, change, want) => {
    expect(texts(podStrategy.validateUpdate!(change, old, testContext))).toEqual(want ? [want] : []);
    expect(throughSubresource(podStatusSubresource, old, change).errors).toEqual(want ? [want] : []);
  });

  it('a static pod is not resized and takes no ephemeral containers', () => {
    const old = annotated(mirror);
    expect(throughSubresource(resizeSubresource, old, old).errors).toEqual([
      ': Forbidden: static pods cannot be resized',
    ]);
    expect(throughSubresource(ephemeralContainersSubresource, old, old).errors).toEqual([
      ': Forbidden: static pods do not support ephemeral containers',
    ]);
  });
});

it('leaves the status alone', () => {
  const old = pod({}, { phase: 'Running' });
  const change = pod({}, { phase: 'Failed' });
  podStrategy.prepareForUpdate!(change, old, testContext);
  expect(change['status']).toEqual({ phase: 'Running' });
});

function throughSubresource(
  lens: ViewSubresource,
  old: KubeObject,
  view: KubeObject,
): { object: KubeObject; errors: string[] } {
  const before = structuredClone(old);
  const object = structuredClone(lens.put(old, view));
  podStrategy.default!(object);
  const errors = texts(lens.validate!(object, old, testContext));
  expect(old).toEqual(before);
  return { object, errors };
}

describe('status', () => {
  const ended = (exitCode: number) => [{ name: 'c', state: { terminated: { exitCode } } }];
  const started = { containerStatuses: [{ name: 'c', state: { running: {} } }] };
  it.each<[object, object, object, string[]]>([
    [{}, {}, { phase: 'X' }, []],
    [
      {},
      {},
      { podIP: 'x' },
      ['status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      { restartPolicy: 'Never' },
      { containerStatuses: ended(1) },
      started,
      ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
    ],
    [{ restartPolicy: 'OnFailure' }, { containerStatuses: ended(1) }, started, []],
    [{}, { containerStatuses: ended(0) }, started, []],
    [
      {},
      { qosClass: 'BestEffort' },
      { qosClass: 'Guaranteed' },
      ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ],
  ])('%j, from %j to %j', (spec, from, to, want) => {
    const old = { ...prepared(podStrategy, pod(spec)), status: from };
    expect(throughSubresource(podStatusSubresource, old, { ...old, status: to }).errors).toEqual(want);
  });

  it('is completed, and changes nothing else', () => {
    const old = prepared(podStrategy, pod());
    const view = pod(
      { nodeName: 'n' },
      { phase: 'Running', podIP: '192.0.2.3', conditions: [{ type: 'Ready' }], containerStatuses: [{ name: 'c' }] },
    );
    const { object } = throughSubresource(podStatusSubresource, old, view);
    expect(object['spec']).toEqual(old['spec']);
    expect(object['status']).toEqual({
      phase: 'Running',
      qosClass: 'BestEffort',
      podIP: '192.0.2.3',
      podIPs: [{ ip: '192.0.2.3' }],
      conditions: [{ type: 'Ready', lastProbeTime: null, lastTransitionTime: null }],
      containerStatuses: [{ name: 'c', state: {}, lastState: {} }],
    });
  });
});

describe('ephemeral containers', () => {
  const debug = { name: 'dbg', image: 'b:1', targetContainerName: 'c' };
  const at = 'spec.ephemeralContainers';
  it.each<[object[], object[], string[]]>([
    [[], [debug], []],
    [[], [{ name: 'c', image: 'x' }], [`${at}[0].name: Duplicate value: "c"`]],
    [[], [{ ...debug, targetContainerName: 'x' }], [`${at}[0].targetContainerName: Not found: "x"`]],
    [[], [{ ...debug, ports: [] }], [`${at}[0].ports: Forbidden: cannot be set for an Ephemeral Container`]],
    [[debug], [], [`${at}: Forbidden: existing ephemeral containers "dbg" may not be removed\n`]],
    [
      [debug],
      [{ ...debug, image: 'x:1' }],
      [`${at}: Forbidden: existing ephemeral containers "dbg" may not be changed\n`],
    ],
  ])('from %j to %j', (from, to, want) => {
    const old = prepared(podStrategy, pod({ ephemeralContainers: from }));
    const { object, errors } = throughSubresource(
      ephemeralContainersSubresource,
      old,
      pod({ nodeName: 'n', ephemeralContainers: to }),
    );
    expect(errors).toEqual(want);
    expect((object['spec'] as { nodeName?: string }).nodeName).toBeUndefined();
  });
});

describe('resize', () => {
  const limits = (amounts: object) => ({ containers: [{ ...container, resources: { limits: amounts } }] });
  const removed = (field: string) =>
    `spec.containers[0].resources.${field}: Forbidden: resource ${field} cannot be removed`;
  const lessQos = 'spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing';
  const init = (amounts: object = { cpu: '1' }, restartPolicy?: string) => ({
    ...limits({ cpu: '1' }),
    initContainers: [
      { name: 'i', image: 'i', resources: { limits: amounts }, ...(restartPolicy && { restartPolicy }) },
    ],
  });
  const restart = { resourceName: 'cpu', restartPolicy: 'RestartContainer' };
  it.each<[object, object, string[]]>([
    [limits({ cpu: '1', memory: '1Gi' }), limits({ cpu: '2', memory: '1Gi' }), []],
    [
      {},
      limits({ cpu: '1' }),
      ['spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      limits({ cpu: '1' }),
      limits({ cpu: '1', 'ephemeral-storage': '1Gi' }),
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
    [limits({ cpu: '1', memory: '1Gi' }), limits({ cpu: '1' }), [lessQos, removed('requests'), removed('limits')]],
    [init(), init({ cpu: '2' }), ['spec: Forbidden: resources for non-sidecar init containers are immutable']],
    [init({ cpu: '1' }, 'Always'), init({ cpu: '2' }, 'Always'), []],
    [
      { ...limits({ cpu: '1' }), os: { name: 'windows' } },
      limits({ cpu: '2' }),
      [': Forbidden: windows pods cannot be resized'],
    ],
    [
      limits({ cpu: '1' }),
      { containers: [{ ...container, resources: { limits: { cpu: '1' } }, resizePolicy: [restart] }] },
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
  ])('from %j to %j', (from, to, want) => {
    const old = prepared(podStrategy, pod(from));
    expect(throughSubresource(resizeSubresource, old, pod({ ...to, nodeName: 'n' })).errors).toEqual(want);
  });
});

it('warns of what is hardly meant', () => {
  const given = pod({
    containers: [
      {
        ...container,
        ports: [{ containerPort: 1 }, { containerPort: 1 }],
        env: [{ name: 'a' }, { name: 'a' }],
        resources: { requests: { memory: '100m' } },
      },
    ],
    volumes: [
      { name: 'v', rbd: {} },
      { name: 'w', projected: { sources: [{}] } },
    ],
  });
  given.metadata.name = 'a.b';
  expect(podStrategy.warnings!(given, undefined)).toEqual([
    'spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+',
    'volume "w" (Projected) has no sources provided',
    'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
    'spec.containers[0].env[1]: hides previous definition of "a", which may be dropped when using apply',
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  ]);
});
