import { RingBuffer } from './ring-buffer.js';

const numbered = (ring: RingBuffer<number>) => {
  const entries: [number, number][] = [];
  for (let n = ring.first; n < ring.next; n++) entries.push([n, ring.get(n)]);
  return entries;
};

describe('RingBuffer', () => {
  it('keeps the number of an entry while it grows, wraps and shrinks', () => {
    const ring = new RingBuffer<number>();
    for (let n = 0; n < 1000; n++) {
      ring.push(n);
      if (ring.length > 100) expect(ring.shift()).toBe(n - 100);
      expect(ring.get(n)).toBe(n);
    }
    expect([ring.first, ring.next, ring.length]).toEqual([900, 1000, 100]);
    while (ring.length > 3) ring.shift();
    expect(numbered(ring)).toEqual([
      [997, 997],
      [998, 998],
      [999, 999],
    ]);
  });

  it('unshift() adds entries before the first, also below zero', () => {
    const ring = new RingBuffer<number>();
    ring.push(0);
    for (let n = -1; n >= -40; n--) ring.unshift(n);
    expect([ring.first, ring.next]).toEqual([-40, 1]);
    expect(numbered(ring).every(([number, entry]) => number === entry)).toBe(true);
  });

  it('search() finds the first entry for which the predicate holds', () => {
    const ring = new RingBuffer<number>();
    ring.unshift(-10);
    for (const n of [10, 20, 30]) ring.push(n);
    expect([-11, -10, 11, 30, 31].map((n) => ring.search((entry) => entry >= n))).toEqual([-1, -1, 1, 2, 3]);
  });

  it('get() rejects a number outside the ring', () => {
    const ring = new RingBuffer<number>();
    ring.push(1);
    ring.shift();
    expect(() => ring.get(0)).toThrow('in the ring');
    expect(() => ring.shift()).toThrow('in the ring');
  });
});
