import { parseAmounts, toResourceList, type Amounts } from '../../admission/amounts.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ManualClock } from '../../std/clock.js';
import { decide } from './decide.js';
import { RecentCharges } from './recent-charges.js';

type Given = Record<string, string>;
const quota = (hard: Given, status: object = {}): KubeObject => ({
  kind: 'ResourceQuota',
  apiVersion: 'v1',
  metadata: { name: 'q', namespace: 'n' },
  spec: { hard },
  status,
});
const said = (hard: Given, used: Given) => quota(hard, { hard, used });
const decided = (given: KubeObject, counted: Given, lately: Given | 'unknown' = {}) =>
  decide(given, parseAmounts(counted), lately === 'unknown' ? lately : parseAmounts(lately));

it.each<[string, KubeObject, Given, Given | 'unknown', object | undefined, boolean]>([
  ['is new', quota({ pods: '3' }), { pods: '0' }, 'unknown', { hard: { pods: '3' }, used: { pods: '0' } }, false],
  ['is right', said({ pods: '3' }, { pods: '2' }), { pods: '2' }, {}, undefined, false],
  ['is right in other words', said({ cpu: '1' }, { cpu: '1000m' }), { cpu: '1' }, {}, undefined, false],
  [
    'has other limits than before',
    quota({ pods: '5', secrets: '1' }, { hard: { pods: '3', cpu: '1' }, used: { pods: '2', cpu: '1' } }),
    { pods: '2', secrets: '4' },
    {},
    { hard: { pods: '5', secrets: '1' }, used: { pods: '2', secrets: '4' } },
    false,
  ],
  [
    'has more than was noted',
    said({ pods: '3' }, { pods: '1' }),
    { pods: '2' },
    'unknown',
    { hard: { pods: '3' }, used: { pods: '2' } },
    false,
  ],
  [
    'has less',
    said({ pods: '9' }, { pods: '7' }),
    { pods: '5' },
    {},
    { hard: { pods: '9' }, used: { pods: '5' } },
    false,
  ],
  [
    'has less, and something is on its way',
    said({ pods: '9' }, { pods: '7' }),
    { pods: '5' },
    { pods: '1' },
    { hard: { pods: '9' }, used: { pods: '6' } },
    true,
  ],
  ['waits for as much as was noted', said({ pods: '9' }, { pods: '7' }), { pods: '5' }, { pods: '4' }, undefined, true],
  ['does not know what is on its way', said({ pods: '9' }, { pods: '7' }), { pods: '5' }, 'unknown', undefined, true],
  ['limits what is not served', said({ 'count/x.y': '9' }, { 'count/x.y': '7' }), {}, {}, undefined, false],
])('a quota that %s', (_what, given, counted, lately, status, waits) =>
  expect(decided(given, counted, lately)).toEqual({ status, waits }),
);

it('remembers what was noted for a moment', () => {
  const clock = new ManualClock();
  const charges = new RecentCharges(clock, 1000);
  const used = (pods: string) => said({ pods: '9' }, { pods });
  expect(charges.of('q')).toBe('unknown');
  clock.advance(1000);
  charges.note('q', undefined, used('1'));
  clock.advance(400);
  charges.note('q', used('1'), used('3'));
  charges.note('q', used('3'), used('2'));
  const recent = () => toResourceList(charges.of('q') as Amounts);
  expect(recent()).toEqual({ pods: '3' });
  clock.advance(600);
  expect(recent()).toEqual({ pods: '2' });
  clock.advance(400);
  expect(recent()).toEqual({});
  charges.note('q', used('1'), used('2'));
  charges.note('q', used('2'), undefined);
  expect(recent()).toEqual({});
});
