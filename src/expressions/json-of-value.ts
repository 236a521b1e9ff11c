import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';
import { convert } from '../cel/values/conversions.js';
import { elementsOf, isList } from '../cel/values/lists.js';
import { isMap } from '../cel/values/maps.js';
import type { MapValue } from '../cel/values/value.js';
import { CelError, Double, Duration, Optional, Timestamp, Uint, type Value } from '../cel/values/value.js';
import { types } from '../cel/types.js';

/** The values and the characters of one result at most: an expression can name a list many times in another. */
const valuesMax = 50_000;
const charactersMax = 3 * 1024 * 1024;

/** A result that has no JSON. */
export class NoJson extends Error {}

/** Converts the result of an expression to JSON: times and durations to texts, bytes to base64. Throws NoJson. */
export function jsonOfValue(value: Value): JsonValue {
  let values = 0;
  let characters = 0;
  return read(value);

  function read(one: Value): JsonValue {
    if (++values > valuesMax) throw new NoJson(`the result has more than ${valuesMax} values`);
    if (typeof one === 'string') return text(one);
    if (one === null || typeof one === 'boolean' || typeof one === 'number' || typeof one === 'bigint') return one;
    if (one instanceof Double) return one.value;
    if (one instanceof Uint) return Number.isSafeInteger(Number(one.value)) ? Number(one.value) : one.value;
    if (one instanceof Uint8Array) return text(Buffer.from(one).toString('base64'));
    if (one instanceof Timestamp || one instanceof Duration) return text(convert(one, types.string) as string);
    if (one instanceof Optional) return one.value === undefined ? null : read(one.value);
    if (isList(one)) return [...elementsOf(one)].map(read);
    if (isMap(one)) return object(one);
    throw new NoJson(one instanceof CelError ? one.message : `a ${String(one)} is no value of an object`);
  }

  function object(map: MapValue): JsonObject {
    const fields: JsonObject = {};
    for (const key of map.keys()) {
      if (typeof key !== 'string') throw new NoJson('a key of a map is not a string');
      const value = map.find(key);
      if (value !== undefined) putOwn(fields, text(key), read(value));
    }
    return fields;
  }

  function text(one: string): string {
    characters += one.length;
    if (characters > charactersMax) throw new NoJson(`the result has more than ${charactersMax} characters`);
    return one;
  }
}
