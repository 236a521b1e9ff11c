import fc from 'fast-check';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { ApiError } from '../machinery/api-error.js';
import { jsonPatch } from './json-patch.js';

const outcome = (target: JsonValue, patch: unknown): unknown => {
  try {
    return jsonPatch(target, patch, 1000);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.code} ${error.message}`;
  }
};
const rejected = (why: string) => `422 the server rejected our request due to an error in our request: ${why}`;

describe('a JSON patch', () => {
  it.each<[string, JsonValue, unknown[], JsonValue]>([
    ['without operations', { a: 1 }, [], { a: 1 }],
    ['adds a field', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['replaces a field by add', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
    ['adds null', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['adds an item', ['a', 'c'], [{ op: 'add', path: '/1', value: 'b' }], ['a', 'b', 'c']],
    ['adds an item at the end', ['a'], [{ op: 'add', path: '/-', value: 'b' }], ['a', 'b']],
    ['adds an item after the last one', ['a'], [{ op: 'add', path: '/1', value: 'b' }], ['a', 'b']],
    ['adds an item at a negative index', ['a'], [{ op: 'add', path: '/-1', value: 'b' }], ['a', 'b']],
    [
      'removes',
      { a: 1, l: [1, 2] },
      [
        { op: 'remove', path: '/a' },
        { op: 'remove', path: '/l/0' },
      ],
      { l: [2] },
    ],
    ['removes an item at a negative index', [1, 2, 3], [{ op: 'remove', path: '/-1' }], [1, 2]],
    [
      'replaces',
      { a: 1, l: [1] },
      [
        { op: 'replace', path: '/a', value: 2 },
        { op: 'replace', path: '/l/0', value: 2 },
      ],
      { a: 2, l: [2] },
    ],
    ['replaces an absent field', {}, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
    ['replaces the document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    ['moves', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    [
      'copies',
      { a: [1] },
      [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/b/0', value: 2 },
      ],
      { a: [1], b: [2, 1] },
    ],
    ['copies an absent field', {}, [{ op: 'copy', from: '/a', path: '/b' }], { b: null }],
    ['tests', { a: { b: [1] } }, [{ op: 'test', path: '/a', value: { b: [1] } }], { a: { b: [1] } }],
    ['tests that a field is absent', {}, [{ op: 'test', path: '/a', value: null }], {}],
    ['tests the document', { a: 1 }, [{ op: 'test', path: '', value: { a: 1 } }], { a: 1 }],
    ['unescapes paths', { 'a/b': { '~': 1 } }, [{ op: 'replace', path: '/a~1b/~0', value: 2 }], { 'a/b': { '~': 2 } }],
    ['handles names of Object.prototype', {}, [{ op: 'add', path: '/constructor', value: 1 }], { constructor: 1 }],
  ])('%s', (_, target, patch, want) => expect(outcome(target, patch)).toEqual(want));

  it.each<[unknown, string]>([
    [{}, '400 error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    [['x'], '400 error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp'],
    [[{ path: '/a' }], rejected('Unexpected kind: unknown')],
    [[{ op: 'x', path: '/a' }], rejected('Unexpected kind: x')],
    [[{ op: 'add' }], rejected('add operation failed to decode path: missing value')],
    [[{ op: 'move', path: '/a' }], rejected('move operation failed to decode from: missing value')],
    [
      [{ op: 'add', path: '', value: 1 }],
      rejected('add operation does not apply: doc is missing path: "": missing value'),
    ],
    [
      [{ op: 'add', path: 'a', value: 1 }],
      rejected('add operation does not apply: doc is missing path: "a": missing value'),
    ],
    [
      [{ op: 'add', path: '/z/a', value: 1 }],
      rejected('add operation does not apply: doc is missing path: "/z/a": missing value'),
    ],
    [
      [{ op: 'add', path: '/a/b', value: 1 }],
      rejected('add operation does not apply: doc is missing path: "/a/b": missing value'),
    ],
    [
      [{ op: 'remove', path: '/z' }],
      rejected('remove operation does not apply for path: "/z": Unable to remove nonexistent key: z: missing value'),
    ],
    [
      [{ op: 'remove', path: '/toString' }],
      rejected(
        'remove operation does not apply for path: "/toString": Unable to remove nonexistent key: toString: missing value',
      ),
    ],
    [[{ op: 'remove', path: '/l/5' }], rejected('Unable to access invalid index: 5: invalid index referenced')],
    [[{ op: 'remove', path: '/l/-2' }], rejected('Unable to access invalid index: -2: invalid index referenced')],
    [[{ op: 'add', path: '/l/x', value: 1 }], rejected('strconv.Atoi: parsing "x": invalid syntax')],
    [[{ op: 'replace', path: '', value: 1 }], rejected('replace operation value must be object or array')],
    [[{ op: 'test', path: '/a', value: 2 }], rejected('testing value /a failed: test failed')],
    [[{ op: 'test', path: '/z', value: 2 }], rejected('testing value /z failed: test failed')],
    [
      [{ op: 'add', path: '/__proto__/x', value: 1 }],
      rejected('add operation does not apply: doc is missing path: "/__proto__/x": missing value'),
    ],
    [[{ op: 'add', path: '/__proto__', value: 1 }], rejected('add operation does not apply: a path through __proto__')],
  ])('refuses %j', (patch, want) => expect(outcome({ a: 1, l: [1] }, patch)).toBe(want));

  it('limits the size of copies', () => {
    const doubling = Array.from({ length: 200 }, (_, n) => ({ op: 'copy', from: '/a', path: `/a/${n}` }));
    expect(outcome({ a: { text: 'x'.repeat(100) } }, doubling)).toMatch(/^422 .*exceeding the limit 3145728$/);
  });

  it('limits depth', () => {
    const nested = Array.from({ length: 700 }, () => [
      { op: 'move', from: '/a', path: '/b/a' },
      { op: 'move', from: '/b', path: '/a' },
      { op: 'add', path: '/b', value: {} },
    ]);
    expect(outcome({ a: {}, b: {} }, nested.slice(0, 300).flat().slice(0, 1000))).toHaveProperty('a.a.a');
    const patch = (n: number) =>
      Array.from({ length: n }, () => nested[0]!)
        .flat()
        .map((operation) => ({ ...operation }));
    expect(() => jsonPatch({ a: {}, b: {} }, patch(1100), 10_000)).toThrow('exceeded max depth');
    const copied = [...patch(1100), { op: 'copy', from: '/a', path: '/c' }];
    expect(() => jsonPatch({ a: {}, b: {} }, copied, 10_000)).toThrow('exceeded max depth');
  });

  it('long lists behave as short ones', () => {
    const path = fc.constantFrom('/l/0', '/l/1', '/l/-', '/l/-1', '/l/1100', '/l/1100/0', '/l', '/m', '/m/0', '');
    const operation = fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
      path,
      from: path,
      value: fc.constantFrom<JsonValue>(
        1,
        [2],
        Array.from({ length: 1100 }, () => [0]),
      ),
    });
    const reference = (target: JsonValue, patch: readonly object[]): unknown =>
      // Applied one by one, so that no list is kept in chunks.
      patch.reduce<unknown>(
        (value, one) => (typeof value === 'string' ? value : outcome(value as JsonValue, [one])),
        target,
      );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 12 }), (patch) => {
        const target: JsonValue = { l: Array.from({ length: 1101 }, (_, index) => [index]), m: [] };
        expect(JSON.stringify(outcome(target, patch)) === JSON.stringify(reference(target, patch))).toBe(true);
      }),
      {
        numRuns: 50,
        examples: [
          [
            [
              { op: 'add', path: '/l/0', from: '', value: 1 },
              { op: 'copy', from: '/l', path: '/l/0', value: 1 },
            ],
          ],
        ],
      },
    );
  });

  it.each<[string, (n: number) => object]>([
    ['additions at the front', (n) => ({ op: 'add', path: '/l/0', value: n })],
    ['removals at the front', () => ({ op: 'remove', path: '/l/0' })],
    ['moves from the front to the end', () => ({ op: 'move', from: '/l/0', path: '/l/-' })],
    ['moves from the end to the front', () => ({ op: 'move', from: '/l/-1', path: '/l/0' })],
    ['copies of an item to the front', () => ({ op: 'copy', from: '/l/1', path: '/l/0' })],
    [
      'tests between additions',
      (n) => (n % 2 ? { op: 'test', path: '/l/5', value: 0 } : { op: 'add', path: '/l/0', value: 0 }),
    ],
  ])('10,000 %s of a list of 500,000 items take bounded time', (_, operation) => {
    const target = { l: new Array<JsonValue>(500_000).fill(0) };
    const patch = Array.from({ length: 10_000 }, (_, n) => operation(n));
    expect(cpuMsOf(() => void jsonPatch(target, patch, 10_000), 800)).toBeLessThan(800);
  });

  it('unescapes long path elements', () => {
    const step = '~01~1é~~0~~1~2~';
    const name = '~1/é~~~/~2~';
    for (const times of [1, 500]) {
      const patch = [{ op: 'add', path: `/${step.repeat(times)}`, value: 1 }];
      expect(jsonPatch({}, patch, 1)).toEqual({ [name.repeat(times)]: 1 });
    }
  });

  it('limits the number of operations', () => {
    expect(() => jsonPatch({}, [{}, {}], 1)).toThrow('The allowed maximum operations in a JSON patch is 1, got 2');
  });

  it('does not change its arguments', () => {
    const path = fc.constantFrom('', '/a', '/b', '/a/0', '/a/-', '/b/c', '/a/-1', '/__proto__', '/constructor/x');
    const operation = fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
        path,
        from: path,
        value: fc.jsonValue() as fc.Arbitrary<JsonValue>,
      },
      { requiredKeys: ['op'] },
    );
    fc.assert(
      fc.property(fc.jsonValue() as fc.Arbitrary<JsonValue>, fc.array(operation, { maxLength: 6 }), (value, patch) => {
        const target = { a: [value], b: { c: value } };
        const before = JSON.stringify([target, patch]);
        outcome(target, patch);
        expect(JSON.stringify([target, patch])).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});
