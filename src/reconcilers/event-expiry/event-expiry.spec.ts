import { ByAge } from './by-age.js';
import { lastSeenMs } from './last-seen.js';

it('returns the names whose last touch is at or before a time', () => {
  const byAge = new ByAge();
  const until = (timeMs: number) => [...byAge.until(timeMs, () => NaN)];
  for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) byAge.touch(name, at);
  byAge.touch('a', 7);
  byAge.forget('c');
  expect(until(3)).toEqual(['b', 'd']);
  expect(until(0)).toEqual([]);
  expect(until(7)).toEqual(['b', 'd', 'a']);
});

it('reads unknown times once each, and of the oldest names only', () => {
  const byAge = new ByAge();
  const asked: string[] = [];
  const times: Record<string, number> = { a: 1, b: 2, c: 3, d: 4 };
  for (const name of Object.keys(times)) byAge.touch(name, undefined);
  const until = (timeMs: number) => [...byAge.until(timeMs, (name) => (asked.push(name), times[name]!))];
  expect(until(2)).toEqual(['a', 'b']);
  expect(until(2)).toEqual(['a', 'b']);
  expect(asked).toEqual(['a', 'b', 'c']);
});

it.each([
  [{}, {}, 0],
  [{ creationTimestamp: '1970-01-01T00:00:05Z' }, {}, 5000],
  [{ creationTimestamp: '1970-01-01T00:00:05Z' }, { lastTimestamp: '1970-01-01T00:00:09Z' }, 9000],
  [{ creationTimestamp: '1970-01-01T00:00:05Z' }, { eventTime: '1970-01-01T00:00:06.500000Z' }, 6500],
  [{}, { lastTimestamp: null, series: { lastObservedTime: '1970-01-01T00:00:30.000000Z' } }, 30000],
])('an Event with %j and %j was last seen at %d', (metadata, rest, want) => {
  expect(lastSeenMs({ kind: 'Event', apiVersion: 'v1', metadata, ...rest })).toBe(want);
});
