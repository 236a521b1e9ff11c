import fc from 'fast-check';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { findDuplicateFields, positionsOfFields, renameRepeated } from './strict-json.js';

describe('findDuplicateFields', () => {
  it.each([
    ['{}', []],
    ['{"a":1,"b":{"a":2}}', []],
    ['{"data":{"a":"1"},"data":{"b":"2"}}', ['data']],
    ['{"data":{"a":"1","a":"2"}}', ['data.a']],
    ['{"s":{"c":[{"n":1},{"i":1,"i":2,"i":3}]}}', ['s.c[1].i']],
    ['[{"path":1,"path":2}]', ['[0].path']],
    ['[[1,2],[{"a":1,"a":2}]]', ['[1][0].a']],
    ['{"a":"\\",\\"a\\":","a":2}', ['a']],
    ['{"a":"\\\\","a":2}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a":"}{][,","b":"a"}', []],
    ['{ "b" : 1 ,\n "a" : [ 1 , 2 ] , "b" : 3 }', ['b']],
    ['{"a":{"x":1,"x":2},"a":{"x":1}}', ['a.x', 'a']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['"a"', []],
    ['[]', []],
  ])('finds the duplicate fields of %j', (text, want) =>
    expect(findDuplicateFields(text)).toEqual(want.map((path) => `duplicate field "${path}"`)),
  );

  it('many keys take linear time', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":0`);
    let found: readonly string[] = [];
    const ms = cpuMsOf(() => (found = findDuplicateFields(`{${keys.join(',')},"k7":1,"k19999":1}`)));
    expect(found).toEqual(['duplicate field "k7"', 'duplicate field "k19999"']);
    expect(ms).toBeLessThan(2000);
  });

  it('encoded objects have no duplicate fields', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(findDuplicateFields(text)).toEqual([])));
  });
});

it('reports the positions of fields', () => {
  const text = '{"a":1,"b":[{"c":1},{"d":2}]}';
  const positions = positionsOfFields(text, new Set(['a', 'b[1].d', 'none']));
  expect([...positions.keys()]).toEqual(['a', 'b[1].d']);
  expect(positions.get('a')!).toBeLessThan(positions.get('b[1].d')!);
});

describe('renameRepeated', () => {
  it.each([
    ['{"a":1,"b":{"a":2}}', { a: 1, b: { a: 2 } }],
    ['{"a":1,"a":2,"b":[{"c":3,"c":4}]}', { a: 1, 'a!6': 2, b: [{ c: 3, 'c!6': 4 }] }],
    ['{"a":1,"\\u0061":2}', { a: 1, 'a!6': 2 }],
  ])('renames the repeated fields of %j', (given, want) => {
    const { text, mark } = renameRepeated(given);
    const shown = JSON.stringify(JSON.parse(text)).replaceAll(mark, '!');
    expect(JSON.parse(shown.replace(/!\d+/g, '!6'))).toEqual(want);
  });

  it('takes linear time, whatever marks a body contains', () => {
    const given = `{"@again:${':'.repeat(200_000)}":1,"\\u0000again:${':'.repeat(200_000)}":1,"a":1,"a":2}`;
    expect(cpuMsOf(() => void renameRepeated(given), 500)).toBeLessThan(500);
  });
});

it('bounds the reported text of long names', () => {
  const twice = Array.from({ length: 20_000 }, (_, index) => `"${index}":0,"${index}":0`);
  const text = `{"${'n'.repeat(200_000)}":{${twice.join(',')}}}`;
  let found: readonly string[] = [];
  const ms = cpuMsOf(() => {
    found = findDuplicateFields(text);
    positionsOfFields(text, new Set(['none']));
  });
  expect(found.length).toBeGreaterThan(0);
  expect(found.length).toBeLessThan(100);
  expect(ms).toBeLessThan(2000);
});

describe('duplicate fields are found in linear time', () => {
  const wide = (field: (index: number) => string, count: number) =>
    `${'{"a":'.repeat(900)}{${Array.from({ length: count }, (_, index) => field(index)).join(',')}}${'}'.repeat(900)}`;
  it.each<[string, string]>([
    ['the same field again and again, nested', wide(() => '"k":1', 300_000)],
    ['different fields twice, nested', wide((index) => `"k${index >> 1}":1`, 100_000)],
  ])('%s', (_, text) => {
    const ms = cpuMsOf(() => {
      findDuplicateFields(text);
      positionsOfFields(text, new Set(['a.k', 'b']));
    });
    expect(ms).toBeLessThan(2000);
  });
});

it('finds the position of every field by its path', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(value, (given) => {
      const paths = new Set<string>();
      const walk = (part: unknown, path: string) => {
        if (typeof part !== 'object' || part === null) return;
        for (const [name, inner] of Object.entries(part)) {
          const next = Array.isArray(part) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
          if (!Array.isArray(part)) paths.add(next);
          walk(inner, next);
        }
      };
      walk(given, '');
      expect(new Set(positionsOfFields(JSON.stringify(given), paths).keys())).toEqual(paths);
    }),
  );
});
