import type { Schema } from '../../src/cel/declared/schema-type.js';
import type { Rng } from '../../src/std/rng.js';

type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

const texts = [
  '',
  'a',
  'abc',
  'h\u00e9llo',
  '\u{1f600}\u{1f600}',
  'aaaaaaaaaaaaaaaaaaaaaaaaab',
  '1h',
  '10.0.0.1',
  '1500m',
  'a,b',
];
const ints = [0, 1, -1, 3, 7, 250, 2 ** 31, -(2 ** 53) + 1, 2n ** 63n - 1n, -(2n ** 63n)];
const doubles = [0, -0, 1.5, -2.25, 1e308, 5e-324, 3];
const byFormat: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2024-02-29T12:34:56.789Z', '1970-01-01T00:00:00+05:30'],
  date: ['2024-02-29', '0001-01-01'],
  duration: ['1h30m', '-5s', '0s'],
  byte: ['aGVsbG8=', ''],
};

const pick = <T>(rng: Rng, of: readonly T[]): T => of[rng.below(of.length)]!;
/** Most lists are short, a few long. */
function lengthOf(rng: Rng, max: number): number {
  return Math.min(max, rng.below(rng.below(40) === 0 ? 1_000 : 5));
}

/** A value that the schema allows. */
export function randomValue(rng: Rng, schema: Schema): Json {
  if (schema['x-kubernetes-int-or-string']) return rng.below(2) === 0 ? pick(rng, [1, 80]) : pick(rng, texts);
  switch (schema.type) {
    case 'boolean':
      return rng.below(2) === 0;
    case 'integer':
      return pick(rng, ints);
    case 'number':
      return pick(rng, doubles);
    case 'string':
      if (schema.format !== undefined && byFormat[schema.format]) return pick(rng, byFormat[schema.format]!);
      return rng.below(30) === 0 ? 'a'.repeat(rng.below(20_000)) : pick(rng, texts);
    case 'array':
      return randomList(rng, schema);
    default:
      return randomObject(rng, schema);
  }
}

function randomList(rng: Rng, schema: Schema): Json {
  const items = Array.from({ length: lengthOf(rng, schema.maxItems ?? 2_000) }, () => randomValue(rng, schema.items!));
  if (schema['x-kubernetes-list-type'] === 'set') return [...new Set(items)];
  if (schema['x-kubernetes-list-type'] !== 'map') return items;
  return items.map((item, index) => ({ ...(item as { [name: string]: Json }), name: `n${index}` }));
}

function randomObject(rng: Rng, schema: Schema): Json {
  const object: { [name: string]: Json } = {};
  const { additionalProperties, properties = {}, required = [] } = schema;
  if (typeof additionalProperties === 'object')
    for (let index = lengthOf(rng, schema.maxProperties ?? 500); index > 0; index--)
      object[`${pick(rng, texts)}${index}`] = randomValue(rng, additionalProperties);
  for (const [name, property] of Object.entries(properties))
    if (required.includes(name) || rng.below(8) > 0) object[name] = randomValue(rng, property);
  return object;
}

/** JSON without a schema. */
export function randomJson(rng: Rng, depth = 3): Json {
  if (depth > 0 && rng.below(2) === 0) {
    if (rng.below(2) === 0) return Array.from({ length: lengthOf(rng, 300) }, () => randomJson(rng, depth - 1));
    const names = ['a', 'b', 'list', 'map', 'nested', 'constructor', '__proto__', 'x-y'];
    return Object.fromEntries(
      Array.from({ length: rng.below(4) }, () => [pick(rng, names), randomJson(rng, depth - 1)]),
    );
  }
  return pick<Json>(rng, [null, true, false, ...ints, ...doubles, ...texts]);
}
