import fc from 'fast-check';
import {
  difference,
  differenceWithBelow,
  fieldSetOf,
  intersection,
  isEmpty,
  noFields,
  pathsOf,
  pathText,
  setOfPath,
  sorted,
  union,
  withNamedFields,
  type FieldSet,
} from './field-set.js';
import { fieldPatternOf, onlyMatching } from './field-pattern.js';
import { readFieldSet } from './field-set-reader.js';
import { compareElements, type PathElement } from './path-element.js';
import { deducedJson, mapOf, type FieldSchema, type Schema } from './schema.js';

const texts = (set: FieldSet) => [...pathsOf(set)].map(pathText).join(' ');

describe('operations on sets', () => {
  const a = fieldSetOf('a', 'a/b', 'c/d');
  it.each<[string, FieldSet, FieldSet]>([
    ['a field', fieldSetOf('a'), { 'f:a': {} }],
    ['a nested field', fieldSetOf('a/b'), { 'f:a': { 'f:b': {} } }],
    ['both', fieldSetOf('a', 'a/b'), { 'f:a': { '.': {}, 'f:b': {} } }],
    [
      'a union',
      union(a, fieldSetOf('b', 'c')),
      { 'f:a': { '.': {}, 'f:b': {} }, 'f:b': {}, 'f:c': { '.': {}, 'f:d': {} } },
    ],
    ['an intersection', intersection(a, fieldSetOf('a', 'c')), { 'f:a': {} }],
    [
      'a difference keeps descendants',
      difference(a, fieldSetOf('a', 'c')),
      { 'f:a': { 'f:b': {} }, 'f:c': { 'f:d': {} } },
    ],
    ['a difference removes descendants that it names', differenceWithBelow(a, fieldSetOf('a', 'c')), {}],
    ['a difference keeps ancestors', difference(a, fieldSetOf('a/b', 'c/d')), { 'f:a': {} }],
    ['an empty result', difference(a, a), {}],
  ])('%s', (_, set, want) => expect(set).toEqual(want));

  it('unchanged sets are not copied', () => {
    expect(union(a, fieldSetOf('a/b'))).toBe(a);
    expect(difference(a, fieldSetOf('x', 'a/x'))).toBe(a);
    expect(difference(a, noFields)).toBe(a);
    expect(union(noFields, a)).toBe(a);
  });

  it('elements are sorted: fields, keys, values, indexes', () => {
    const elements = [
      'i:10',
      'i:9',
      'v:true',
      'v:"b"',
      'v:2',
      'v:10',
      'k:{"port":443}',
      'k:{"port":80}',
      'k:{"name":"a"}',
      'f:b',
      'f:a',
    ];
    expect(Object.keys(sorted(Object.fromEntries(elements.map((element) => [element, {}]))))).toEqual([
      'f:a',
      'f:b',
      'k:{"name":"a"}',
      'k:{"port":80}',
      'k:{"port":443}',
      'v:2',
      'v:10',
      'v:"b"',
      'v:true',
      'i:9',
      'i:10',
    ]);
  });

  it('strings are sorted by their bytes', () => {
    expect(['f:\u{1f600}', 'f:\uffee', 'f:a'].sort(compareElements)).toEqual(['f:a', 'f:\uffee', 'f:\u{1f600}']);
  });

  it('pathsOf yields the members of a level before those below', () => {
    expect(texts(fieldSetOf('b', 'a/x', 'a/y/z', 'a'))).toBe('.a .b .a.x .a.y.z');
  });

  it('withNamedFields adds the structs that contain members', () => {
    const field = (schema: Schema): FieldSchema => ({
      name: 'spec',
      element: 'f:spec',
      rank: 0,
      schema,
      zero: undefined,
    });
    const spec = field({ scalar: undefined, list: undefined, map: mapOf(deducedJson, false) });
    const map = {
      ...mapOf(undefined, false),
      fields: new Map([['spec', spec]]),
      byElement: new Map([['f:spec', spec]]),
    };
    const schema: Schema = { scalar: undefined, list: undefined, map };
    expect(withNamedFields(fieldSetOf('spec/labels/a'), schema)).toEqual(fieldSetOf('spec', 'spec/labels/a'));
  });
});

describe('patterns', () => {
  const fields = readFieldSet({
    'f:metadata': { 'f:labels': {} },
    'f:spec': {
      '.': {},
      'f:containers': {
        'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:resources': { 'f:limits': {} } },
        'k:{"name":"b"}': { 'f:image': {} },
      },
      'f:resources': { '.': {}, 'f:limits': {} },
    },
  });
  it.each<[string[], FieldSet]>([
    [['metadata'], { 'f:metadata': { 'f:labels': {} } }],
    [['spec/resources'], { 'f:spec': { '.': {}, 'f:resources': { '.': {}, 'f:limits': {} } } }],
    [
      ['spec/containers/*/resources'],
      {
        'f:spec': {
          '.': {},
          'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:resources': { 'f:limits': {} } } },
        },
      },
    ],
    [['status'], {}],
  ])('%j', (paths, want) => expect(onlyMatching(fields, fieldPatternOf(...paths))).toEqual(want));
});

describe('parsing', () => {
  it.each<[string, unknown, unknown]>([
    ['nothing', undefined, {}],
    ['a set', { 'f:a': { '.': {}, 'f:b': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }],
    ['keys in another order', { 'k:{"b":1,"a":"x"}': {} }, { 'k:{"a":"x","b":1}': {} }],
    ['keys with spaces', { 'k:{ "a" : "x" }': {} }, { 'k:{"a":"x"}': {} }],
    ['a number in another notation', { 'v:1.0': {} }, { 'v:1': {} }],
    ['a number beyond 2^53', { 'v:9223372036854775807': {} }, { 'v:9223372036854775807': {} }],
    ["Go's escapes", { 'v:"<a&b>"': {} }, { 'v:"\\u003ca\\u0026b\\u003e"': {} }],
    ['an element of an unknown kind', { 'x:a': {}, 'f:a': {} }, { 'f:a': {} }],
    ['a member with a redundant `.`', { 'f:a': { '.': {} } }, { 'f:a': {} }],
    ['any field name', { 'f:__proto__': {}, 'f:constructor': {} }, { 'f:__proto__': {}, 'f:constructor': {} }],
    ['canonical keys', { 'f:l': { 'k:{"a":1,"b":"x"}': {} } }, { 'f:l': { 'k:{"a":1,"b":"x"}': {} } }],
    ['keys that are not canonical', { 'f:l': { 'k:{"b":"x","a":1}': {} } }, { 'f:l': { 'k:{"a":1,"b":"x"}': {} } }],
    ['a duplicate key', { 'f:l': { 'k:{"a":1,"a":2}': {} } }, { 'f:l': { 'k:{"a":2}': {} } }],
    ['a value with a redundant escape', { 'f:l': { 'v:"\\u0061"': {} } }, { 'f:l': { 'v:"a"': {} } }],
    ['a number with a redundant zero', { 'f:l': { 'k:{"a":1.0}': {} } }, { 'f:l': { 'k:{"a":1}': {} } }],
  ])('parses %s', (_, given, want) => expect(readFieldSet(given)).toEqual(want));

  it.each<[string, unknown]>([
    ['no object', 'x'],
    ['a list', []],
    ['an element without a kind', { a: {} }],
    ['a node that is not an object', { 'f:a': 1 }],
    ['keys that are not JSON', { 'k:{': {} }],
    ['keys that are a list', { 'k:[1]': {} }],
    ['a value that is an object', { 'v:{"a":1}': {} }],
    ['an index that is not a number', { 'i:x': {} }],
  ])('refuses %s', (_, given) => expect(() => readFieldSet(given)).toThrow());

  it('canonical sets are not copied', () => {
    const set = { 'f:a': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } } };
    readFieldSet(JSON.parse(JSON.stringify(set)));
    expect(readFieldSet(set)).toBe(set);
  });
});

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean());
const element: fc.Arbitrary<PathElement> = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map((name) => `f:${name}`),
  fc.string({ unit: 'binary' }).map((name) => `f:${name}`),
  fc.integer({ min: 0, max: 3 }).map((place) => `i:${place}`),
  scalar.map((value) => `v:${JSON.stringify(value)}`),
  fc.dictionary(fc.constantFrom('name', 'port'), scalar, { minKeys: 1 }).map((keys) => `k:${JSON.stringify(keys)}`),
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const anySet = fc
  .array(path, { maxLength: 8 })
  .map((paths) => paths.map((one) => readFieldSet(setOfPath(one))).reduce(union, noFields));
const model = (set: FieldSet) => new Set([...pathsOf(set)].map((one) => one.join('\0')));
const modelled = (...paths: Set<string>[]) => [...new Set(paths.flatMap((one) => [...one]))].sort();

describe('random sets', () => {
  it('set operations equal those on sets of paths', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        const [left, right] = [model(a), model(b)];
        expect([...model(union(a, b))].sort()).toEqual(modelled(left, right));
        expect([...model(intersection(a, b))].sort()).toEqual([...left].filter((item) => right.has(item)).sort());
        expect([...model(difference(a, b))].sort()).toEqual([...left].filter((item) => !right.has(item)).sort());
        const isBelow = (item: string) => [...right].some((above) => item === above || item.startsWith(`${above}\0`));
        expect([...model(differenceWithBelow(a, b))].sort()).toEqual([...left].filter((item) => !isBelow(item)).sort());
        expect(isEmpty(a)).toBe(left.size === 0);
      }),
    );
  });

  it('sets are parsed as they were written', () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const text = JSON.stringify(set);
        expect(JSON.stringify(readFieldSet(JSON.parse(text)))).toBe(text);
      }),
    );
  });

  it('results stay sorted, and arguments are not changed', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        const before = JSON.stringify([a, b]);
        for (const set of [union(a, b), intersection(a, b), difference(a, b), differenceWithBelow(a, b)]) {
          expect(JSON.stringify(sorted(set))).toBe(JSON.stringify(set));
        }
        expect(JSON.stringify([a, b])).toBe(before);
      }),
    );
  });
});
