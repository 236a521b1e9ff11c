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
const terminated = (state: object) => ({ terminated: state });
const deleted = { deletionTimestamp: '2026-01-01T00:59:00Z' };
const twoInits = { initContainers: [{ name: 'a' }, { name: 'b' }] };
const sidecar = { initContainers: [{ name: 's', restartPolicy: 'Always' }] };

// Rows: name, Pod, cells Ready Status Restarts.
it.each<[string, KubeObject, string]>([
  ['new Pod is Pending', pod({}), '0/1 Pending 0'],
  [
    'running Pod is Running',
    pod({ phase: 'Running', containerStatuses: [container(running, ready)] }),
    '1/1 Running 0',
  ],
  [
    'restarts are shown with the age of the last one',
    pod({
      phase: 'Running',
      containerStatuses: [
        container(running, {
          ...ready,
          restartCount: 3,
          lastState: terminated({ finishedAt: '2026-01-01T00:55:00Z' }),
        }),
      ],
    }),
    '1/1 Running 3 (5m ago)',
  ],
  [
    'restarts of unknown time are shown without age',
    pod({ phase: 'Running', containerStatuses: [container(running, { restartCount: 2 })] }),
    '0/1 Running 2',
  ],
  [
    'reason of a waiting container is shown',
    pod({ phase: 'Running', containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } })] }),
    '0/1 CrashLoopBackOff 0',
  ],
  [
    'Pod whose container is created is ContainerCreating',
    pod({ containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] }),
    '0/1 ContainerCreating 0',
  ],
  [
    'succeeded Pod is Completed',
    pod({ phase: 'Succeeded', containerStatuses: [container(terminated({ exitCode: 0, reason: 'Completed' }))] }),
    '0/1 Completed 0',
  ],
  ['evicted Pod is Evicted', pod({ phase: 'Failed', reason: 'Evicted' }), '0/1 Evicted 0'],
  [
    'reason of a container wins over that of the status',
    pod({
      phase: 'Failed',
      reason: 'Evicted',
      containerStatuses: [container(terminated({ exitCode: 2, reason: 'Error' }))],
    }),
    '0/1 Error 0',
  ],
  [
    'container ended by a signal shows the signal',
    pod({ phase: 'Running', containerStatuses: [container(terminated({ exitCode: 137, signal: 9 }))] }),
    '0/1 Signal:9 0',
  ],
  [
    'container ended without reason shows the exit code',
    pod({ phase: 'Running', containerStatuses: [container(terminated({ exitCode: 7 }))] }),
    '0/1 ExitCode:7 0',
  ],
  [
    'ready Pod with one completed container is Running',
    pod(
      {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [container(terminated({ exitCode: 0, reason: 'Completed' })), container(running, ready)],
      },
      { containers: [{ name: 'c' }, { name: 'd' }] },
    ),
    '1/2 Running 0',
  ],
  [
    'unready Pod with one completed container is NotReady',
    pod(
      {
        phase: 'Running',
        containerStatuses: [container(terminated({ exitCode: 0, reason: 'Completed' })), container(running, ready)],
      },
      { containers: [{ name: 'c' }, { name: 'd' }] },
    ),
    '1/2 NotReady 0',
  ],
  [
    'running init container shows its index',
    pod({ initContainerStatuses: [container(terminated({ exitCode: 0 })), container(running)] }, twoInits),
    '0/1 Init:1/2 0',
  ],
  [
    'failed init container shows its reason',
    pod(
      { initContainerStatuses: [container(terminated({ exitCode: 1, reason: 'Error' }), { restartCount: 2 })] },
      twoInits,
    ),
    '0/1 Init:Error 2',
  ],
  [
    'init container ended by a signal shows the signal',
    pod({ initContainerStatuses: [container(terminated({ exitCode: 1, signal: 9 }))] }, twoInits),
    '0/1 Init:Signal:9 0',
  ],
  [
    'waiting init container shows its reason',
    pod({ initContainerStatuses: [container({ waiting: { reason: 'ImagePullBackOff' } })] }, twoInits),
    '0/1 Init:ImagePullBackOff 0',
  ],
  [
    'init container that waits for PodInitializing shows its index',
    pod({ initContainerStatuses: [container({ waiting: { reason: 'PodInitializing' } })] }, twoInits),
    '0/1 Init:0/2 0',
  ],
  [
    'ready sidecar is counted',
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
    'Pod with scheduling gates is SchedulingGated',
    pod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
    '0/1 SchedulingGated 0',
  ],
  ['deleted Pod is Terminating', pod({ phase: 'Running' }, {}, deleted), '0/1 Terminating 0'],
  ['deleted Pod that has ended shows its phase', pod({ phase: 'Succeeded' }, {}, deleted), '0/1 Succeeded 0'],
  [
    'deleted Pod of a lost node is Unknown',
    pod({ phase: 'Running', reason: 'NodeLost' }, {}, deleted),
    '0/1 Unknown 0',
  ],
  ['Pod without spec and status has an empty status', { ...pod({}), spec: undefined, status: undefined }, '0/0  0'],
])('%s', (_name, object, want) => {
  const [name, readyCell, status, restarts, age] = podTable.cells(object, { nowMs });
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
])('wide columns of %j are %j', (object, want) => expect(podTable.cells(object, { nowMs }).slice(5)).toEqual(want));

it('cells are as many as columns', () =>
  expect(podTable.cells(pod({}), { nowMs })).toHaveLength(podTable.columns.length));

it.each([
  ['Running', undefined],
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
])('row of a Pod in phase %s has the condition message %j', (phase, want) =>
  expect(podTable.conditions!(pod({ phase })).map(({ message }) => message)).toEqual(want ? [want] : []),
);
