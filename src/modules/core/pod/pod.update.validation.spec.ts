import {
  pod,
  podStrategy,
  podSubresources,
  updateErrors,
  writeThroughSubresource,
} from '../../../../test/harness/pods.js';
import { prepared, prepareUpdate } from '../../../../test/harness/strategies.js';

const { statusSubresource, ephemeralContainersSubresource } = podSubresources;
const container = { name: 'c', image: 'i' };

/** The error of a change of other fields, with the lines that the diff adds. */
const immutableFields = (...added: string[]) => {
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

it.each<[string, object, object, string[]]>([
  ['no change is accepted', {}, {}, []],
  ['changed image is accepted', {}, { containers: [{ ...container, image: 'j:1', imagePullPolicy: 'Always' }] }, []],
  [
    'changed container name is rejected',
    {},
    { containers: [{ ...container, name: 'x' }] },
    [immutableFields('"Name": "x",')],
  ],
  [
    'changed command is rejected',
    {},
    { containers: [{ ...container, command: ['x'] }] },
    [immutableFields('"Command": [', '"x"', '],')],
  ],
  [
    'added container is rejected',
    {},
    { containers: [container, { name: 'd', image: 'i' }] },
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
  ['added nodeName is rejected', {}, { nodeName: 'n' }, [immutableFields('"NodeName": "n",')]],
  [
    'changed serviceAccountName is rejected',
    {},
    { serviceAccountName: 'x' },
    [immutableFields('"ServiceAccountName": "x",')],
  ],
  ['empty list in place of an absent one is accepted', {}, { hostAliases: [] }, []],
  ['added activeDeadlineSeconds is accepted', {}, { activeDeadlineSeconds: 5 }, []],
  [
    'increased activeDeadlineSeconds is rejected',
    { activeDeadlineSeconds: 5 },
    { activeDeadlineSeconds: 6 },
    ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  ],
  [
    'removed activeDeadlineSeconds is rejected',
    { activeDeadlineSeconds: 5 },
    { activeDeadlineSeconds: undefined },
    ['spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value'],
  ],
  [
    'added toleration and changed tolerationSeconds are accepted',
    { tolerations: [toleration] },
    { tolerations: [{ ...toleration, tolerationSeconds: 9 }, { operator: 'Exists' }] },
    [],
  ],
  [
    'removed toleration is rejected',
    { tolerations: [toleration] },
    { tolerations: [] },
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ],
  [
    'changed terminationGracePeriodSeconds is rejected',
    {},
    { terminationGracePeriodSeconds: 5 },
    [immutableFields('"TerminationGracePeriodSeconds": 5,')],
  ],
  [
    'negative terminationGracePeriodSeconds can become 1',
    { terminationGracePeriodSeconds: -1 },
    { terminationGracePeriodSeconds: 1 },
    [],
  ],
  [
    'added nodeSelector is rejected',
    {},
    { nodeSelector: { a: 'b' } },
    [immutableFields('"NodeSelector": {', '"a": "b"', '},')],
  ],
])('Pod update: %s', (_name, old, spec, want) => expect(updateErrors(old, spec)).toEqual(want));

it('Pod update does not change the status', () => {
  const old = pod({}, { phase: 'Running' });
  const change = pod({}, { phase: 'Failed' });
  prepareUpdate(podStrategy, change, old);
  expect(change['status']).toEqual({ phase: 'Running' });
});

describe('status subresource', () => {
  const terminated = (exitCode: number) => [{ name: 'c', state: { terminated: { exitCode } } }];
  const running = { containerStatuses: [{ name: 'c', state: { running: {} } }] };
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
      { containerStatuses: terminated(1) },
      running,
      ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
    ],
    [{ restartPolicy: 'OnFailure' }, { containerStatuses: terminated(1) }, running, []],
    [{}, { containerStatuses: terminated(0) }, running, []],
    [
      {},
      { qosClass: 'BestEffort' },
      { qosClass: 'Guaranteed' },
      ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ],
    [
      {},
      {},
      {
        containerStatuses: [{ user: { linux: { uid: 0, gid: 2147483647, supplementalGroups: [1] } } }, { user: {} }],
        initContainerStatuses: [{ user: { linux: { uid: 2n ** 53n + 1n, gid: 1, supplementalGroups: [1, -1] } } }],
        ephemeralContainerStatuses: [{ user: { linux: { uid: 1, gid: -(2n ** 63n) } } }],
      },
      [
        'status.initContainerStatuses[0].user.linux.uid: Invalid value: 9007199254740993: must be between 0 and 2147483647, inclusive',
        'status.initContainerStatuses[0].user.linux.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive',
        'status.ephemeralContainerStatuses[0].user.linux.gid: Invalid value: -9223372036854775808: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      { os: { name: 'windows' } },
      {},
      { containerStatuses: [{ user: { linux: { uid: 1, gid: 1 } } }] },
      ['status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod'],
    ],
  ])('spec %p: status from %p to %p has the expected errors', (spec, from, to, want) => {
    const old = { ...prepared(podStrategy, pod(spec)), status: from };
    expect(writeThroughSubresource(statusSubresource, old, { ...old, status: to }).errors).toEqual(want);
  });

  it('a write fills in defaults of the status and changes no spec', () => {
    const old = prepared(podStrategy, pod());
    const view = pod(
      { nodeName: 'n' },
      { phase: 'Running', podIP: '192.0.2.3', conditions: [{ type: 'Ready' }], containerStatuses: [{ name: 'c' }] },
    );
    const { object } = writeThroughSubresource(statusSubresource, old, view);
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

describe('ephemeralcontainers subresource', () => {
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
  ])('change of ephemeralContainers from %j to %j has the expected errors', (from, to, want) => {
    const old = prepared(podStrategy, pod({ ephemeralContainers: from }));
    const { object, errors } = writeThroughSubresource(
      ephemeralContainersSubresource,
      old,
      pod({ nodeName: 'n', ephemeralContainers: to }),
    );
    expect(errors).toEqual(want);
    expect((object['spec'] as { nodeName?: string }).nodeName).toBeUndefined();
  });
});
