import { parseAmounts, toResourceList, type Amounts } from '../../admission/amounts.js';
import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import { ManualClock } from '../../std/clock.js';
import { decide } from './decide.js';
import { RecentCharges } from './recent-charges.js';

type List = Record<string, string>;
const quota = (hard: List, status: object = {}): ResourceQuota => ({
  kind: 'ResourceQuota',
  apiVersion: 'v1',
  metadata: { name: 'q', namespace: 'n' },
  spec: { hard },
  status,
});
const withStatus = (hard: List, used: List) => quota(hard, { hard, used });
const decided = (given: ResourceQuota, counted: List, recent: List | 'unknown' = {}) =>
  decide(given, parseAmounts(counted), recent === 'unknown' ? recent : parseAmounts(recent));

it.each<[string, ResourceQuota, List, List | 'unknown', object | undefined, boolean]>([
  ['is new', quota({ pods: '3' }), { pods: '0' }, 'unknown', { hard: { pods: '3' }, used: { pods: '0' } }, false],
  ['is up to date', withStatus({ pods: '3' }, { pods: '2' }), { pods: '2' }, {}, undefined, false],
  ['is up to date in another format', withStatus({ cpu: '1' }, { cpu: '1000m' }), { cpu: '1' }, {}, undefined, false],
  [
    'has changed limits',
    quota({ pods: '5', secrets: '1' }, { hard: { pods: '3', cpu: '1' }, used: { pods: '2', cpu: '1' } }),
    { pods: '2', secrets: '4' },
    {},
    { hard: { pods: '5', secrets: '1' }, used: { pods: '2', secrets: '4' } },
    false,
  ],
  [
    'has more objects than were charged',
    withStatus({ pods: '3' }, { pods: '1' }),
    { pods: '2' },
    'unknown',
    { hard: { pods: '3' }, used: { pods: '2' } },
    false,
  ],
  [
    'has fewer objects than were charged',
    withStatus({ pods: '9' }, { pods: '7' }),
    { pods: '5' },
    {},
    { hard: { pods: '9' }, used: { pods: '5' } },
    false,
  ],
  [
    'has fewer objects, and a recent charge',
    withStatus({ pods: '9' }, { pods: '7' }),
    { pods: '5' },
    { pods: '1' },
    { hard: { pods: '9' }, used: { pods: '6' } },
    true,
  ],
  [
    'has recent charges for all missing objects',
    withStatus({ pods: '9' }, { pods: '7' }),
    { pods: '5' },
    { pods: '4' },
    undefined,
    true,
  ],
  [
    'does not know its recent charges',
    withStatus({ pods: '9' }, { pods: '7' }),
    { pods: '5' },
    'unknown',
    undefined,
    true,
  ],
  [
    'limits a resource that is not served',
    withStatus({ 'count/x.y': '9' }, { 'count/x.y': '7' }),
    {},
    {},
    undefined,
    false,
  ],
])('the status of a quota that %s', (_what, given, counted, recent, status, waits) =>
  expect(decided(given, counted, recent)).toEqual({ status, waits }),
);

it('RecentCharges returns the increases of status.used within the last second', () => {
  const clock = new ManualClock();
  const charges = new RecentCharges(clock, 1000);
  const used = (pods: string) => withStatus({ pods: '9' }, { pods });
  expect(charges.of('q')).toBe('unknown');
  clock.advance(1000);
  charges.note('q', undefined, used('1'));
  clock.advance(400);
  charges.note('q', used('1'), used('3'));
  charges.note('q', used('3'), used('2'));
  const charged = () => toResourceList(charges.of('q') as Amounts);
  expect(charged()).toEqual({ pods: '3' });
  clock.advance(600);
  expect(charged()).toEqual({ pods: '2' });
  clock.advance(400);
  expect(charged()).toEqual({});
  charges.note('q', used('1'), used('2'));
  charges.note('q', used('2'), undefined);
  expect(charged()).toEqual({});
});
