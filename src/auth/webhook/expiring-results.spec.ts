import { ManualClock } from '../../std/clock.js';
import { ExpiringResults } from './expiring-results.js';

function world(options: { ttlMs?: number; entriesMax?: number; bytesMax?: number } = {}) {
  const clock = new ManualClock();
  const results = new ExpiringResults<string>({ ttlMs: 1000, entriesMax: 3, bytesMax: 100, clock, ...options });
  const kept = () => ['a', 'b', 'c', 'd', 'e'].filter((key) => results.get(key) !== undefined);
  return { clock, results, kept };
}

it('a value is kept for its time', () => {
  const { clock, results, kept } = world();
  results.set('a', '1', 1);
  clock.advance(600);
  results.set('b', '2', 1);
  clock.advance(399);
  expect(kept()).toEqual(['a', 'b']);
  clock.advance(1);
  expect(kept()).toEqual(['b']);
  expect(results.get('b')).toBe('2');
});

it('a value that is set again is kept anew', () => {
  const { clock, results, kept } = world({ entriesMax: 2 });
  results.set('a', '1', 1);
  results.set('b', '1', 1);
  clock.advance(600);
  results.set('a', '2', 1);
  clock.advance(600);
  expect(kept()).toEqual(['a']);
  results.set('c', '1', 1);
  expect(kept()).toEqual(['a', 'c']);
});

it('the oldest are dropped beyond the number of entries', () => {
  const { results, kept } = world();
  for (const key of ['a', 'b', 'c', 'd']) results.set(key, key, 1);
  expect(kept()).toEqual(['b', 'c', 'd']);
});

it('the oldest are dropped beyond the number of bytes', () => {
  const { results, kept } = world();
  results.set('a', '', 60);
  results.set('b', '', 40);
  expect(kept()).toEqual(['a', 'b']);
  results.set('c', '', 30);
  expect(kept()).toEqual(['b', 'c']);
  results.set('c', '', 60);
  expect(kept()).toEqual(['b', 'c']);
});

it('a value larger than all bytes is not kept, and drops nothing', () => {
  const { results, kept } = world();
  results.set('a', '', 60);
  results.set('b', '', 101);
  expect(kept()).toEqual(['a']);
});

it('nothing is kept with a time of zero', () => {
  const { results, kept } = world({ ttlMs: 0 });
  results.set('a', '', 1);
  expect(kept()).toEqual([]);
});
