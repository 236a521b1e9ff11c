import { CelError, Double, MapValue, Uint } from './value.js';
import type { Value } from './value.js';
import { display } from './conversions.js';
import { int } from './numbers.js';
import { spend, spendOnKey } from '../work.js';

export const isMap = (value: Value): value is MapValue => value instanceof MapValue;

/** The map that an expression builds. */
export class BuiltMap extends MapValue {
  private readonly entries = new Map<string | number | bigint | boolean, [key: Value, value: Value]>();
  /** True while a comprehension builds it, and an insertion may change it. */
  isOpen = false;

  get size(): number {
    return this.entries.size;
  }
  find(key: Value): Value | undefined {
    const hash = hashOf(key);
    spendOnKey(hash, this.size);
    return hash === undefined ? undefined : this.entries.get(hash)?.[1];
  }
  *keys(): Iterable<Value> {
    for (const [key] of this.entries.values()) yield key;
  }
  set(key: Value, value: Value): void {
    const hash = hashOf(key);
    spendOnKey(hash, this.size);
    if (hash !== undefined) this.entries.set(hash, [key, value]);
  }
  delete(key: Value): void {
    const hash = hashOf(key);
    if (hash !== undefined) this.entries.delete(hash);
  }
}

/** Equal keys have the same hash, and no others. A number and a string never meet: texts are marked. */
function hashOf(key: Value): string | number | bigint | boolean | undefined {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' || typeof key === 'boolean' || typeof key === 'bigint') return key;
  if (key instanceof Uint) return int(key.value);
  if (key instanceof Double) {
    if (!Number.isInteger(key.value)) return Number.isNaN(key.value) ? undefined : `\u0000${key.value}`;
    return int(BigInt(key.value));
  }
  return undefined;
}

/** A copy with the entry, or the map itself if a comprehension builds it. */
export function insertEntry(map: MapValue, key: Value, value: Value): MapValue | CelError {
  spend(30);
  const found = map.find(key);
  if (found !== undefined) return new CelError(`insert failed: key ${display(key)} already exists`);
  let target: BuiltMap;
  if (map instanceof BuiltMap && map.isOpen) {
    target = map;
  } else {
    target = new BuiltMap();
    for (const known of map.keys()) target.set(known, map.find(known)!);
  }
  target.set(key, value);
  return target;
}
