import type { KubeObject } from '../../../machinery/kube-object.js';
import type { LensSubresource } from '../../../registry/resource-definition.js';
import { prepared, testContext, texts } from '../../../../test/harness/strategies.js';
import { ephemeralContainersLens, podStatusLens, podStrategy, resizeLens } from './pod.strategy.js';

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
  ['where it may run', {}, { nodeSelector: { a: 'b' } }, [fixed('"NodeSelector": {', '"a": "b"', '},')]],
])('an update to %s', (_what, old, spec, want) => expect(update(old, spec)).toEqual(want));

it('leaves the status alone', () => {
  const old = pod({}, { phase: 'Running' });
  const change = pod({}, { phase: 'Failed' });
  podStrategy.prepareForUpdate!(change, old, testContext);
  expect(change['status']).toEqual({ phase: 'Running' });
});

function throughLens(
  lens: LensSubresource,
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
    expect(throughLens(podStatusLens, old, { ...old, status: to }).errors).toEqual(want);
  });

  it('is completed, and changes nothing else', () => {
    const old = prepared(podStrategy, pod());
    const view = pod(
      { nodeName: 'n' },
      { phase: 'Running', podIP: '192.0.2.3', conditions: [{ type: 'Ready' }], containerStatuses: [{ name: 'c' }] },
    );
    const { object } = throughLens(podStatusLens, old, view);
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
    const { object, errors } = throughLens(
      ephemeralContainersLens,
      old,
      pod({ nodeName: 'n', ephemeralContainers: to }),
    );
    expect(errors).toEqual(want);
    expect((object['spec'] as { nodeName?: string }).nodeName).toBeUndefined();
  });
});

describe('resize', () => {
  const limits = (amounts: object) => ({ containers: [{ ...container, resources: { limits: amounts } }] });
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
      ['spec.containers[0].resources: Forbidden: only cpu and memory resources are mutable'],
    ],
  ])('from %j to %j', (from, to, want) => {
    const old = prepared(podStrategy, pod(from));
    expect(throughLens(resizeLens, old, pod({ ...to, nodeName: 'n' })).errors).toEqual(want);
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
