import { CacheEvent } from './cache-event.js';
import { defaultCacheLimits, type CacheLimits } from './cache-limits.js';
import { EncodedObject } from './encoded-object.js';
import { History } from './history.js';
import { RevisionTimeline } from './revision-timeline.js';

const attributes = { namespace: 'ns', name: 'a', labels: undefined, fields: {} };
const event = (revision: number, timeMs: number, previousBytes = 0) => {
  const previous = new EncodedObject('/a', (revision - 1) as never, Buffer.alloc(previousBytes), attributes);
  return new CacheEvent(revision as never, '/a', previous, previous, timeMs);
};

describe('History', () => {
  const rows: { name: string; limits: Partial<CacheLimits>; everyMs: number; bytes?: number; kept: number }[] = [
    {
      name: 'keeps historyEventsMin events regardless of age',
      limits: { historyEventsMin: 10 },
      everyMs: 60_000,
      kept: 10,
    },
    { name: 'keeps more events within historyRetentionMs', limits: { historyEventsMin: 10 }, everyMs: 1_000, kept: 76 },
    {
      name: 'keeps at most historyEventsMax events',
      limits: { historyEventsMin: 10, historyEventsMax: 30 },
      everyMs: 1,
      kept: 30,
    },
    {
      name: 'keeps at most historyBytesMax bytes',
      limits: { historyBytesMax: 100_000 },
      everyMs: 1,
      bytes: 9_488,
      kept: 10,
    },
    {
      name: 'keeps the last event regardless of its size',
      limits: { historyBytesMax: 100 },
      everyMs: 1,
      bytes: 5_000,
      kept: 1,
    },
  ];
  it.each(rows)('$name', ({ limits, everyMs, bytes, kept }) => {
    const history = new History({ ...defaultCacheLimits, ...limits }, 0 as never);
    for (let n = 1; n <= 300; n++) history.push(event(n, n * everyMs, bytes));
    expect(history.next - history.first).toBe(kept);
    expect(history.floor).toBe(300 - kept);
    expect(history.covers((300 - kept) as never)).toBe(true);
    expect(history.covers((299 - kept) as never)).toBe(false);
    expect(history.get(history.after(299 as never)).revision).toBe(300);
  });

  it('prepends older events with the numbers before the first', () => {
    const history = new History(defaultCacheLimits, 10 as never);
    history.push(event(11, 0));
    history.prepend([event(5, 0), event(9, 0)], 4 as never);
    expect([history.first, history.next, history.floor]).toEqual([-2, 1, 4]);
    expect([4, 5, 9, 10, 11].map((revision) => history.after(revision as never))).toEqual([-2, -1, 0, 0, 1]);
  });
});

describe('RevisionTimeline', () => {
  it('expires revisions to the second', () => {
    const timeline = new RevisionTimeline(75_000);
    timeline.advance(5 as never, 0);
    timeline.advance(6 as never, 500);
    timeline.advance(7 as never, 40_000);
    const expired = (revision: number, nowMs: number) => timeline.isExpired(revision as never, nowMs);
    expect([expired(4, 75_000), expired(4, 77_000), expired(6, 77_000)]).toEqual([false, true, false]);
    expect([expired(6, 115_000), expired(6, 117_000), expired(7, 1e9)]).toEqual([false, true, false]);
  });
});
