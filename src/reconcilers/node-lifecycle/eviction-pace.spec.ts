import { ManualClock } from '../../std/clock.js';
import { EvictionPace } from './eviction-pace.js';
import { Zones } from './zones.js';

function paced(rates: Readonly<Record<string, number>>) {
  const clock = new ManualClock();
  const granted: string[] = [];
  const pace = new EvictionPace(clock, (name) => granted.push(name));
  pace.setRates(new Map(Object.entries(rates)));
  return { clock, granted, pace };
}

it('grants one Node at once and the others at the rate of their zone', () => {
  const { clock, granted, pace } = paced({ a: 0.1, b: 1 });
  for (const name of ['a1', 'a2', 'a3']) pace.request('a', name);
  for (const name of ['b1', 'b2']) pace.request('b', name);
  expect(granted).toEqual(['a1', 'b1']);
  clock.advance(1_000);
  expect(granted).toEqual(['a1', 'b1', 'b2']);
  clock.advance(8_999);
  expect(granted).toHaveLength(3);
  clock.advance(2);
  expect(granted).toEqual(['a1', 'b1', 'b2', 'a2']);
  expect([pace.isGranted('a2'), pace.isGranted('a3')]).toEqual([true, false]);
});

it('grants nothing without a rate, and continues when there is one', () => {
  const { clock, granted, pace } = paced({ a: 0 });
  pace.request('a', 'a1');
  pace.request('unknown', 'u1');
  clock.advance(100_000);
  expect(granted).toEqual([]);
  pace.setRates(new Map([['a', 0.1]]));
  expect(granted).toEqual(['a1']);
});

it('a request that is withdrawn is not granted, and a granted one is not granted twice', () => {
  const { clock, granted, pace } = paced({ a: 1 });
  for (const name of ['a1', 'a1', 'a2', 'a3']) pace.request('a', name);
  pace.withdraw('a2');
  clock.advance(10_000);
  expect(granted).toEqual(['a1', 'a3']);
  pace.request('a', 'a1');
  expect(granted).toHaveLength(2);
  pace.withdrawAll();
  pace.request('a', 'a1');
  expect(granted).toEqual(['a1', 'a3', 'a1']);
});

it('stop() cancels its timers', () => {
  const { clock, pace } = paced({ a: 1 });
  for (const name of ['a1', 'a2']) pace.request('a', name);
  pace.stop();
  expect(clock.pendingTimers).toBe(0);
});

const rates = { normal: 0.1, reduced: 0.01, largeZoneMin: 50, unhealthyShare: 0.55 };

it.each<[string, Readonly<Record<string, readonly [ready: number, unready: number]>>, number[], boolean]>([
  ['all Nodes ready', { a: [3, 0] }, [0.1], false],
  ['few Nodes not ready', { a: [9, 2] }, [0.1], false],
  ['two of three Nodes not ready', { a: [1, 2] }, [0.1], false],
  ['most Nodes of a small zone not ready', { a: [2, 3] }, [0], false],
  ['most Nodes of a large zone not ready', { a: [20, 31] }, [0.01], false],
  ['one of two zones not ready', { a: [0, 3], b: [3, 0] }, [0.1, 0.1], false],
  ['no Node ready', { a: [0, 3], b: [0, 1] }, [0, 0], true],
  ['no Node at all', {}, [], false],
])('rates of evictions with %s', (_, zones, want, areHalted) => {
  const health = Object.entries(zones).map(([name, [ready, unready]]) => [name, { ready, unready }] as const);
  const tested = new Zones(rates);
  expect([...tested.update(new Map(health)).values()]).toEqual(want);
  expect(tested.areHalted).toBe(areHalted);
});
