import { parseJsonPath } from './json-path.js';

const object = {
  spec: {
    replicas: 3,
    ratio: 1.5,
    paused: false,
    nothing: null,
    large: 9007199254740993n,
    containers: [
      { name: 'a', image: 'x:1', ports: [80, 81] },
      { name: 'b', image: 'y:2', ports: [] },
      { name: 'c', image: 'x:1' },
    ],
    grid: [[1, 2], [3]],
  },
  metadata: { annotations: { 'a.b/c': 'dotted', '1': 'one', 'with space': 's' }, name: 'o' },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', weight: 2 },
      { type: 'Odd"one', status: 'False', weight: 1.5, ok: true },
    ],
  },
};

it.each<[path: string, want: readonly unknown[]]>([
  // Fields
  ['.spec.replicas', [3]],
  ['$.spec.replicas', [3]],
  ['@.spec.replicas', [3]],
  ['.spec .replicas', [3]],
  ['.spec.absent.deeper', []],
  ['.spec.replicas.deeper', []],
  ['.spec.nothing', [null]],
  ['.spec.nothing.deeper', []],
  ['.spec.constructor', []],
  ['.', []],
  [String.raw`.metadata.annotations.a\.b/c`, ['dotted']],
  [String.raw`.metadata.annotations['a\.b/c']`, ['dotted']],
  ['.metadata.annotations.1', ['one']],
  [String.raw`.metadata.annotations.with\ space`, ['s']],
  ["['spec'].replicas", [3]],
  // Lists
  ['.spec.containers[0].name', ['a']],
  ['.spec.containers[-1].name', ['c']],
  ['.spec.containers[-2].name', ['b']],
  ['.spec.containers[3].name', []],
  ['.spec.containers[-4].name', []],
  ['.spec.containers[*].name', ['a', 'b', 'c']],
  ['.spec.containers.*.name', ['a', 'b', 'c']],
  ['.spec.containers[:].name', ['a', 'b', 'c']],
  ['.spec.containers[1:].name', ['b', 'c']],
  ['.spec.containers[:2].name', ['a', 'b']],
  ['.spec.containers[-2:].name', ['b', 'c']],
  ['.spec.containers[0:-1].name', ['a', 'b']],
  ['.spec.containers[::2].name', ['a', 'c']],
  ['.spec.containers[0:0].name', []],
  ['.spec.containers[2:1].name', []],
  ['.spec.containers[0:9].name', []],
  ['.spec.containers[::0].name', []],
  ['.spec.grid[0][1]', [2]],
  ['.spec.grid[*][0]', [1, 3]],
  ['.spec.grid[*][*]', [1, 2, 3]],
  ['.spec[0]', []],
  ['.spec.absent[0]', []],
  ['.spec.nothing[*]', []],
  // Unions
  ["['spec','metadata'].name", ['o']],
  ['.spec.containers[0,2].name', ['a', 'c']],
  ['.spec.containers[2, 0].name', ['c', 'a']],
  ['.spec.containers[0,9].name', []],
  // Recursive descent
  ['..name', ['a', 'b', 'c', 'o']],
  ['.spec..image', ['x:1', 'y:2', 'x:1']],
  ['.spec..absent', []],
  // Filters
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Ready')].status", ['True']],
  ['.status.conditions[?( @.type == "Ready" )].status', ['True']],
  ['.status.conditions[?($.type=="Ready")].status', ['True']],
  [String.raw`.status.conditions[?(@.type=="Odd\"one")].status`, ['False']],
  ['.status.conditions[?(@.type!="Ready")].status', ['False']],
  ['.status.conditions[?(@.type=="None")].status', []],
  ['.status.conditions[?(@.type==Ready)].status', []],
  ['.status.conditions[?("True"==@.status)].type', ['Ready']],
  ['.status.conditions[?(@.status==@.status)].type', ['Ready', 'Odd"one']],
  ['.status.conditions[?(@.weight>1)].type', ['Ready', 'Odd"one']],
  ['.status.conditions[?(@.weight<2)].type', ['Odd"one']],
  ['.status.conditions[?(@.weight<=1.5)].type', ['Odd"one']],
  ['.status.conditions[?(@.weight>=2)].type', ['Ready']],
  ['.status.conditions[?(@.ok==true)].type', ['Odd"one']],
  ['.status.conditions[?(@.ok>false)].type', []],
  ['.status.conditions[?(@.ok)].type', ['Odd"one']],
  ['.status.conditions[?(@.weight=="2")].type', []],
  ['.status.conditions[?(@.weight=>2)].type', []],
  ['.spec.containers[?(@.ports[0]==80)].name', []],
  ['.spec.containers[?(@.ports[*]==80)].name', []],
  ['.spec.containers[?(@.ports)].name', ['a', 'b']],
  ['.spec[?(@.name)]', []],
  ['.spec.nothing[?(@.name)]', []],
  // Literals
  ['.spec.range', []],
  ['.spec range', []],
])('%s', (path, want) => {
  expect(parseJsonPath(path)?.find(object)).toEqual(want);
});

it.each([
  '.spec[',
  '.spec]',
  '.spec[a]',
  '.spec["name"]',
  '.spec[-]',
  '.spec[?(@.a]',
  '.spec[?(@.a)',
  '.spec[?(=="a")]',
  '.spec[?(@.a[?(@.b)])]',
  '.spec{.a}',
  '.spec}',
  '....a',
  '..*',
  '.a\n.b',
  '"a',
  '1.2.3',
  '(a)',
])('%j is not a path', (text) => {
  expect(parseJsonPath(text)).toBeUndefined();
});

it.each([undefined, null, 'text', 5, [], [[]], { status: 'text' }, { status: { conditions: {} } }])(
  'finds nothing in %j',
  (data) => {
    expect(parseJsonPath('.status.conditions[?(@.type=="Ready")].status')?.find(data)).toEqual([]);
  },
);

it('compares whole numbers of any size', () => {
  const find = (path: string) => parseJsonPath(path)?.find({ list: [{ n: 9007199254740993n }, { n: 2 }] });
  expect(find('.list[?(@.n>2)].n')).toEqual([9007199254740993n]);
  expect(find('.list[?(@.n==2)].n')).toEqual([2]);
});

it('stops at visitsMax for repeated recursive descent', () => {
  let nested: object = { a: 1 };
  for (let depth = 0; depth < 500; depth++) nested = { a: nested };
  expect(parseJsonPath(`.${'..a'.repeat(6)}`)?.find(nested)).toEqual([]);
});

it.each([
  ['lists', `.a[${'*,'.repeat(4_000)}*]`],
  ['items', `.b[${'0,'.repeat(4_000)}0][*]`],
  ['slices', `.b[${'0,'.repeat(4_000)}0][0:]`],
  ['children', `.b[${'0,'.repeat(4_000)}0].*`],
])('stops at visitsMax for unions that find the same %s repeatedly', (_what, path) => {
  const list = Array.from({ length: 50_000 }, () => 1);
  expect(parseJsonPath(path)?.find({ a: list, b: [list] })).toEqual([]);
});
