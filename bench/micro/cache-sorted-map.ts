import { SortedMap } from '../../src/std/sorted-map.js';
import { SeededRng } from '../../src/std/rng.js';

/**
 * Cost of the persistent map compared with a plain Map in the same run: `node dist/bench/micro/cache-sorted-map.js`.
 */
const nanos = (task: () => void, count: number): number => {
  const start = process.hrtime.bigint();
  task();
  return Number(process.hrtime.bigint() - start) / count;
};

for (const size of [10_000, 100_000]) {
  const rng = new SeededRng(1);
  const keys = Array.from(
    { length: size },
    (_, n) => `/registry/pods/namespace-${rng.below(100)}/pod-${n.toString(36)}-${rng.below(1e6)}`,
  );
  for (let n = keys.length - 1; n > 0; n--) {
    const other = rng.below(n + 1);
    [keys[n], keys[other]] = [keys[other]!, keys[n]!];
  }
  const lookups = keys.map((_, n) => Buffer.from(keys[(n * 7919) % size]!).toString('latin1'));
  const values = keys.map((key) => ({ key }));
  for (let round = 0; round < 3; round++) {
    const map = new SortedMap<object>();
    const plain = new Map<string, object>();
    let sum = 0;
    const report: Record<string, number> = {
      'Map.set': nanos(() => lookups.forEach((key, n) => plain.set(key, values[n]!)), size),
      insert: nanos(() => keys.forEach((key, n) => map.set(key, values[n]!)), size),
      'replace in place': nanos(() => lookups.forEach((key, n) => map.set(key, values[n]!)), size),
      'replace, a snapshot each': nanos(
        () => lookups.forEach((key, n) => (map.snapshot(), map.set(key, values[n]!))),
        size,
      ),
      get: nanos(() => lookups.forEach((key) => (sum += map.get(key) ? 1 : 0)), size),
      'count of a prefix': nanos(() => {
        for (let n = 0; n < 1000; n++) sum += map.count(`/registry/pods/namespace-${n % 100}/`);
      }, 1000),
      'iterate (per entry)': nanos(() => {
        for (const value of map.range('/registry/pods/')) sum += value ? 1 : 0;
      }, size),
      'delete, a snapshot each': nanos(() => lookups.forEach((key) => (map.snapshot(), map.delete(key))), size),
    };
    if (round === 2)
      for (const [what, ns] of Object.entries(report))
        console.log(`${size} keys  ${what.padEnd(26)} ${ns.toFixed(1).padStart(8)} ns  (${sum})`);
  }
}
