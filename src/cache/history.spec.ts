import { CacheEvent } from './cache-event.js';
import { defaultCacheLimits, type CacheLimits } from './cache-limits.js';
import { EncodedObject } from './encoded-object.js';
import { History } from './history.js';
import { HistoryMemory } from './history-memory.js';
import { RevisionTimeline } from './revision-timeline.js';

const attributes = { namespace: 'ns', name: 'a', labels: undefined, fields: {} };
const event = (revision: number, timeMs: number, previousBytes = 0) => {
  const previous = new EncodedObject('/a', (revision - 1) as never, Buffer.alloc(previousBytes), attributes);
  return new CacheEvent(revision as never, '/a', previous, previous, timeMs);
};

const unlimited = () => new HistoryMemory(Infinity);

describe('History', () => {
  const rows: { name: string; limits: Partial<CacheLimits>; everyMs: number; bytes?: number; kept: number }[] = [
    {
      name: 'keeps historyEventsMin events regardless of age',
      limits: { historyEventsMin: 10 },
      everyMs: 60_000,
      kept: 10,
    },
    {
      name: 'keeps historyBytesMin bytes regardless of age',
      limits: { historyEventsMin: 10, historyBytesMin: 4_000 },
      everyMs: 76_000,
      bytes: 488,
      kept: 4,
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
    const history = new History({ ...defaultCacheLimits, ...limits }, unlimited(), 0 as never);
    for (let n = 1; n <= 300; n++) history.push(event(n, n * everyMs, bytes));
    expect(history.next - history.first).toBe(kept);
    expect(history.floor).toBe(300 - kept);
    expect(history.covers((300 - kept) as never)).toBe(true);
    expect(history.covers((299 - kept) as never)).toBe(false);
    expect(history.get(history.after(299 as never)).revision).toBe(300);
  });

  it('drops events that grow old without a new one', () => {
    const history = new History({ ...defaultCacheLimits, historyBytesMin: 1_000 }, unlimited(), 0 as never);
    for (let n = 1; n <= 100; n++) history.push(event(n, n, 1_000));
    history.trim(75_000);
    expect(history.next - history.first).toBe(100);
    history.trim(75_051);
    expect(history.next - history.first).toBe(50);
    history.trim(200_000);
    expect([history.next - history.first, history.floor]).toEqual([1, 99]);
  });

  describe('with a limit on the bytes of all histories', () => {
    const memory = new HistoryMemory(1_000_000);
    const open = () => new History(defaultCacheLimits, memory, 0 as never);
    const [large, small] = [open(), open()];

    it('drops the oldest events of the largest one', () => {
      for (let n = 1; n <= 10; n++) small.push(event(n, 0, 9_488));
      for (let n = 1; n <= 1_000; n++) large.push(event(n, 0, 9_488));
      expect(small.next - small.first).toBe(10);
      expect(large.next - large.first).toBeGreaterThan(80);
      expect(large.bytesUsed + small.bytesUsed).toBeLessThanOrEqual(1_000_000);
      expect(large.covers(large.floor)).toBe(true);
    });

    it('has no room for older events beyond the limit', () => {
      expect(small.hasRoomFor(1, 1_000_000 - large.bytesUsed - small.bytesUsed)).toBe(false);
      expect(small.hasRoomFor(1, 100)).toBe(large.bytesUsed + small.bytesUsed < 999_900);
    });

    it('releases the bytes of a closed one', () => {
      large.close();
      large.push(event(1_001, 0, 500_000));
      large.close();
      for (let n = 11; n <= 90; n++) small.push(event(n, 0, 9_488));
      expect(small.next - small.first).toBe(90);
    });

    it('keeps the last event of each', () => {
      const others = Array.from({ length: 4 }, open);
      others.forEach((other, at) => other.push(event(at + 1, 0, 600_000)));
      expect(others.map((other) => other.next - other.first)).toEqual([1, 1, 1, 1]);
      expect(small.next - small.first).toBe(1);
    });
  });

  it('prepends older events with the numbers before the first', () => {
    const history = new History(defaultCacheLimits, unlimited(), 10 as never);
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
