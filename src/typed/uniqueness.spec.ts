import type { JsonValue } from '../machinery/kube-object.js';
import { correlated, uniquenessErrors, type ListIdentity } from './uniqueness.js';

const set: ListIdentity = { type: 'set', keys: [] };
const byName: ListIdentity = { type: 'map', keys: ['name'] };
const byPort: ListIdentity = { type: 'map', keys: ['port', 'protocol'] };

describe('uniquenessErrors', () => {
  it.each<[ListIdentity, JsonValue[], [string, string][]]>([
    [set, [], []],
    [set, ['a', 'b', 1, '1', true, 'true'], []],
    [
      set,
      ['a', 'b', 'a', 'a'],
      [
        ['[2]', '"a"'],
        ['[3]', '"a"'],
      ],
    ],
    [set, [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1 }], [['[1]', '{"b":2,"a":1}']]],
    [byName, [{ name: 'a' }, { name: 'b', x: 1 }, { name: 'a', x: 1 }], [['[2]', '{"name":"a","x":1}']]],
    [byName, [{}, { name: '' }], [['[1]', '{"name":""}']]],
    [byName, ['x', null], [['[1]', 'null']]],
    [
      byPort,
      [
        { port: 1, protocol: 'TCP' },
        { port: 1, protocol: 'UDP' },
        { port: 11, protocol: 'TCP' },
      ],
      [],
    ],
    [
      byPort,
      [
        { port: 1, protocol: 'TCP' },
        { protocol: 'TCP', port: 1 },
      ],
      [['[1]', '{"protocol":"TCP","port":1}']],
    ],
  ])('%j has duplicates at %j', (identity, list, want) =>
    expect(uniquenessErrors(list, identity, 'spec.x')).toEqual(
      want.map(([at, value]) => ({
        type: 'FieldValueDuplicate',
        field: `spec.x${at}`,
        detail: `Duplicate value: ${value}`,
      })),
    ),
  );
});

describe('correlated', () => {
  it.each<[ListIdentity, JsonValue[], JsonValue[], (JsonValue | undefined)[]]>([
    [set, ['a', 'c'], ['b', 'a'], ['a', undefined]],
    [set, [{ a: 1 }], [{ a: 1 }], [{ a: 1 }]],
    [byName, [{ name: 'a', x: 1 }], [{ name: 'b' }, { name: 'a', x: 2 }, { name: 'a', x: 3 }], [{ name: 'a', x: 2 }]],
    [byName, [{ name: 'c' }], [{ name: 'b' }], [undefined]],
  ])('row %#: %j', (identity, list, earlier, want) => expect(correlated(list, earlier, identity)).toEqual(want));
});
