import * as fc from 'fast-check';
import { prefixEnd, SortedMap, type SortedView } from './sorted-map.js';

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const letters = fc.constantFrom('a', 'b', '/', 'é', '\uffee', '\ue000', '\u{1f600}', '\u{10ffff}', '\ud7ff');
const anyKey = fc.array(letters, { maxLength: 5 }).map((parts) => parts.join(''));

/** The same operations on a plain sorted array. */
function expectSame(view: SortedView<string>, model: ReadonlyMap<string, string>, prefixes: readonly string[]): void {
  const keys = [...model.keys()].sort(byBytes);
  expect(view.size).toBe(keys.length);
  expect([...view.range('')]).toEqual(keys.map((key) => model.get(key)));
  for (const prefix of prefixes) {
    const within = keys.filter((key) => key.startsWith(prefix));
    expect(view.count(prefix)).toBe(within.length);
    expect(view.rank(prefix)).toBe(keys.filter((key) => byBytes(key, prefix) < 0).length);
    expect(view.get(prefix)).toBe(model.get(prefix));
    const from = within[within.length >> 1] ?? prefix;
    const wanted = within.filter((key) => byBytes(key, from) >= 0).map((key) => model.get(key));
    expect([...view.range(prefix, from)]).toEqual(wanted);
    expect(view.count(prefix, from)).toBe(wanted.length);
  }
}

describe('SortedMap', () => {
  it('equals a sorted array, and its snapshots never change', () => {
    const step = fc.record({ key: anyKey, action: fc.constantFrom('set', 'set', 'delete', 'snapshot') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.array(anyKey, { maxLength: 8 }), (steps, prefixes) => {
        const map = new SortedMap<string>();
        const model = new Map<string, string>();
        const past: [SortedView<string>, Map<string, string>][] = [];
        steps.forEach(({ key, action }, n) => {
          const before = model.get(key);
          if (action === 'snapshot') past.push([map.snapshot(), new Map(model)]);
          else if (action === 'delete') {
            expect(map.delete(key)).toBe(before);
            model.delete(key);
          } else {
            expect(map.set(key, `${key}#${n}`)).toBe(before);
            model.set(key, `${key}#${n}`);
          }
        });
        expectSame(map, model, prefixes);
        for (const [view, state] of past) expectSame(view, state, prefixes);
      }),
      { numRuns: 150 },
    );
  });

  const random = (seed: number) => () => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 1) >>> 8;
  it.each([
    { name: 'ascending', keyOf: (n: number) => n },
    { name: 'descending', keyOf: (n: number) => 99_999 - n },
    { name: 'scattered', keyOf: (n: number) => (n * 7_919) % 20_011 },
  ])('grows and shrinks through every height, $name', ({ keyOf }) => {
    const map = new SortedMap<string>();
    const model = new Map<string, string>();
    const key = (n: number) => `/r/ns-${keyOf(n) % 7}/${String(keyOf(n)).padStart(6, '0')}`;
    for (let n = 0; n < 20_000; n++) {
      map.set(key(n), key(n));
      model.set(key(n), key(n));
    }
    const full = map.snapshot();
    const fullModel = new Map(model);
    expectSame(map, model, ['/r/', '/r/ns-3/', '/r/ns-3/000', '/s', '']);
    const next = random(7);
    const order = [...model.keys()].sort(() => (next() % 2) - 0.5);
    order.forEach((gone, n) => {
      expect(map.delete(gone)).toBe(gone);
      model.delete(gone);
      if (n % 4_000 === 3_999) expectSame(map, model, ['/r/ns-3/']);
    });
    expect(map.size).toBe(0);
    expect([...map.range('')]).toEqual([]);
    expectSame(full, fullModel, ['/r/ns-6/', '/r/']);
  });

  it('from() does not change the snapshot', () => {
    const map = new SortedMap<number>();
    for (let n = 0; n < 1000; n++) map.set(`k${n}`, n);
    const view = map.snapshot();
    const branch = SortedMap.from(view);
    for (let n = 0; n < 1000; n += 2) branch.delete(`k${n}`);
    map.set('k1', -1);
    expect([view.size, branch.size, map.size]).toEqual([1000, 500, 1000]);
    expect([view.get('k1'), branch.get('k1'), map.get('k1')]).toEqual([1, 1, -1]);
  });
});

it('prefixEnd() is the lowest string above a prefix', () => {
  fc.assert(
    fc.property(anyKey, anyKey, (prefix, other) => {
      const end = prefixEnd(prefix);
      const isInRange = byBytes(other, prefix) >= 0 && (end === undefined || byBytes(other, end) < 0);
      expect(isInRange).toBe(other.startsWith(prefix));
    }),
  );
});
