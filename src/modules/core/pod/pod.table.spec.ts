import type { KubeObject } from '../../../machinery/kube-object.js';
import { podTable } from './pod.table.js';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const pod = (status: object, spec: object = {}, metadata: object = {}): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', creationTimestamp: '2026-01-01T00:58:30Z', ...metadata },
  spec: { containers: [{ name: 'c' }], ...spec },
  status: { phase: 'Pending', ...status },
});
const container = (state: object, rest: object = {}) => ({ name: 'c', ready: false, restartCount: 0, state, ...rest });
const running = { running: {} };
const ready = { ready: true };
const ended = (terminated: object) => ({ terminated });
const deleted = { deletionTimestamp: '2026-01-01T00:59:00Z' };
const twoInits = { initContainers: [{ name: 'a' }, { name: 'b' }] };
const sidecar = { initContainers: [{ name: 's', restartPolicy: 'Always' }] };

// name, status, spec, metadata → ready, status, restarts
it.each<[string, KubeObject, string]>([
  ['is new', pod({}), '0/1 Pending 0'],
  ['runs', pod({ phase: 'Running', containerStatuses: [container(running, ready)] }), '1/1 Running 0'],
  [
    'was restarted',
    pod({
      phase: 'Running',
      containerStatuses: [
        container(running, { ...ready, restartCount: 3, lastState: ended({ finishedAt: '2026-01-01T00:55:00Z' }) }),
      ],
    }),
    '1/1 Running 3 (5m ago)',
  ],
  [
    'was restarted at some time',
    pod({ phase: 'Running', containerStatuses: [container(running, { restartCount: 2 })] }),
    '0/1 Running 2',
  ],
  [
    'crashes',
    pod({ phase: 'Running', containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } })] }),
    '0/1 CrashLoopBackOff 0',
  ],
  [
    'is being made',
    pod({ containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] }),
    '0/1 ContainerCreating 0',
  ],
  [
    'is through',
    pod({ phase: 'Succeeded', containerStatuses: [container(ended({ exitCode: 0, reason: 'Completed' }))] }),
    '0/1 Completed 0',
  ],
  ['was evicted', pod({ phase: 'Failed', reason: 'Evicted' }), '0/1 Evicted 0'],
  [
    'failed',
    pod({
      phase: 'Failed',
      reason: 'Evicted',
      containerStatuses: [container(ended({ exitCode: 2, reason: 'Error' }))],
    }),
    '0/1 Error 0',
  ],
  [
    'was killed',
    pod({ phase: 'Running', containerStatuses: [container(ended({ exitCode: 137, signal: 9 }))] }),
    '0/1 Signal:9 0',
  ],
  ['gave up', pod({ phase: 'Running', containerStatuses: [container(ended({ exitCode: 7 }))] }), '0/1 ExitCode:7 0'],
  [
    'is half through',
    pod(
      {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [container(ended({ exitCode: 0, reason: 'Completed' })), container(running, ready)],
      },
      { containers: [{ name: 'c' }, { name: 'd' }] },
    ),
    '1/2 Running 0',
  ],
  [
    'is half through, and not ready',
    pod(
      {
        phase: 'Running',
        containerStatuses: [container(ended({ exitCode: 0, reason: 'Completed' })), container(running, ready)],
      },
      { containers: [{ name: 'c' }, { name: 'd' }] },
    ),
    '1/2 NotReady 0',
  ],
  [
    'prepares',
    pod({ initContainerStatuses: [container(ended({ exitCode: 0 })), container(running)] }, twoInits),
    '0/1 Init:1/2 0',
  ],
  [
    'prepares in vain',
    pod({ initContainerStatuses: [container(ended({ exitCode: 1, reason: 'Error' }), { restartCount: 2 })] }, twoInits),
    '0/1 Init:Error 2',
  ],
  [
    'prepares, and was killed',
    pod({ initContainerStatuses: [container(ended({ exitCode: 1, signal: 9 }))] }, twoInits),
    '0/1 Init:Signal:9 0',
  ],
  [
    'cannot prepare',
    pod({ initContainerStatuses: [container({ waiting: { reason: 'ImagePullBackOff' } })] }, twoInits),
    '0/1 Init:ImagePullBackOff 0',
  ],
  [
    'waits to prepare',
    pod({ initContainerStatuses: [container({ waiting: { reason: 'PodInitializing' } })] }, twoInits),
    '0/1 Init:0/2 0',
  ],
  [
    'runs with a sidecar',
    pod(
      {
        phase: 'Running',
        initContainerStatuses: [container(running, { ...ready, name: 's', started: true, restartCount: 1 })],
        containerStatuses: [container(running, ready)],
      },
      sidecar,
    ),
    '2/2 Running 1',
  ],
  [
    'is gated',
    pod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
    '0/1 SchedulingGated 0',
  ],
  ['goes', pod({ phase: 'Running' }, {}, deleted), '0/1 Terminating 0'],
  ['goes, and has ended', pod({ phase: 'Succeeded' }, {}, deleted), '0/1 Succeeded 0'],
  ['goes with its node', pod({ phase: 'Running', reason: 'NodeLost' }, {}, deleted), '0/1 Unknown 0'],
  ['says nothing that makes sense', { ...pod({}), spec: 'x', status: [] }, '0/0  0'],
])('a pod that %s', (_what, given, want) => {
  const [name, readyCell, status, restarts, age] = podTable.cells(given, { nowMs });
  expect([name, age]).toEqual(['p', '90s']);
  expect(`${readyCell} ${status} ${restarts}`).toBe(want);
});

it.each<[KubeObject, string[]]>([
  [pod({}), ['<none>', '<none>', '<none>', '<none>']],
  [
    pod(
      { podIPs: [{ ip: '192.0.2.3' }], nominatedNodeName: 'm', conditions: [{ type: 'a/b', status: 'True' }] },
      { nodeName: 'n', readinessGates: [{ conditionType: 'a/b' }, { conditionType: 'a/c' }] },
    ),
    ['192.0.2.3', 'n', 'm', '1/2'],
  ],
])('says more when asked', (given, want) => expect(podTable.cells(given, { nowMs }).slice(5)).toEqual(want));

it('has a cell for every column', () =>
  expect(podTable.cells(pod({}), { nowMs })).toHaveLength(podTable.columns.length));

it.each([
  ['Running', undefined],
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
])('a pod that is %s is marked with %j', (phase, want) =>
  expect(podTable.conditions!(pod({ phase })).map(({ message }) => message)).toEqual(want ? [want] : []),
);
