import { setImmediate as nextTurn } from 'node:timers/promises';
import { levelObject, flowObject, nodeTurns, standardObjects } from '../../test/harness/flow-objects.js';
import { namingProfile } from '../config/naming-profile.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { ManualClock } from '../std/clock.js';
import { TimerWheel } from '../std/timer-wheel.js';
import { FlowControl } from './flow-control.js';
import type { FlowRequest } from './flow-request.js';

const flows = 10_000;
const queuing = { queues: 16, handSize: 4, queueLengthLimit: 20 };

/** Flow control with a level `own` for all users, of few seats. */
function world(distinguisher: 'ByUser' | 'ByNamespace') {
  const clock = new ManualClock();
  const { all, mandatory } = standardObjects(namingProfile('kubernetes'));
  const control = new FlowControl({
    ...{ clock, wheel: new TimerWheel(clock), turns: nodeTurns, seats: 600, mandatory },
    ...{ statsOf: () => undefined, watchListEnabled: true, sizeBasedEstimates: true },
  });
  const rules = [
    {
      subjects: [{ kind: 'Group', group: { name: 'system:authenticated' } }],
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    },
  ];
  const schema = flowObject('own', {
    ...{ matchingPrecedence: 500, priorityLevelConfiguration: { name: 'own' }, rules },
    distinguisherMethod: { type: distinguisher },
  });
  const level = levelObject('own', {
    ...{ nominalConcurrencyShares: 10, borrowingLimitPercent: 0 },
    limitResponse: { type: 'Queue', queuing },
  });
  control.configure({ schemas: [...all.schemas, schema], levels: [...all.levels, level] });
  return { control, queues: control.levels.get('own')!.queues };
}

const userOf = (name: string): UserInfo => ({ name, uid: '', groups: ['system:authenticated'], extra: {} });
const one = userOf('one');
const getIn = (namespace: string) => parseRequestInfo('GET', `/api/v1/namespaces/${namespace}/pods/p`);

it.each([
  ['users', 'ByUser', (at: number) => [getIn('a'), userOf(`user-${at}`)] as const],
  ['namespaces of one user', 'ByNamespace', (at: number) => [getIn(`n-${at}`), one] as const],
] as const)(
  'requests of 10,000 %s fill seats and queues, no more, and give all of them back',
  async (_what, by, of) => {
    const { control, queues } = world(by);
    const executing: FlowRequest[] = [];
    const count = { executed: 0, cancelled: 0, rejected: 0 };
    const admit = (at: number) => {
      const [info, user] = of(at);
      const request = control.admit(info, user);
      if (request.state === 'executing') executing.push(request);
      else if (request.state === 'ended') count.rejected++;
      else {
        void control.dispatched(request, 60_000).then((executes) => {
          if (executes) executing.push(request);
          else count.cancelled++;
        });
      }
      return request;
    };
    const requests = Array.from({ length: flows }, (_, at) => admit(at));
    expect(queues.seatsInUse).toBeLessThanOrEqual(queues.limit);
    expect(queues.waiting).toBeLessThanOrEqual(queuing.queues * queuing.queueLengthLimit);
    expect(count.rejected).toBe(flows - queues.seatsInUse - queues.waiting);
    // Every third client disconnects while its request waits.
    for (const [at, request] of requests.entries()) if (at % 3 === 0 && request.state === 'waiting') request.finish();
    while (queues.running.length > 0 || queues.waiting > 0) {
      for (const request of executing.splice(0)) {
        count.executed++;
        request.finish();
        // A second end has no effect.
        request.finish();
      }
      await nextTurn();
    }
    expect(count.executed + count.cancelled + count.rejected).toBe(flows);
    expect(count.cancelled).toBeGreaterThan(0);
    const { seatsInUse, waiting, waitingSeats } = queues;
    expect({ seatsInUse, waiting, waitingSeats }).toEqual({ seatsInUse: 0, waiting: 0, waitingSeats: 0 });
    for (const queue of queues.queues) {
      expect([queue.isIdle, queue.seatsInUse, queue.work, queue.initialSeats]).toEqual([true, 0, 0, 0]);
    }
    const series = [...control.allSeries].filter(({ schemaName }) => schemaName === 'own');
    expect(series.map(({ executing: now, executingSeats, waiting: queued }) => [now, executingSeats, queued])).toEqual([
      [0, 0, 0],
    ]);
  },
);
