import fc from 'fast-check';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { decodeYaml, encodeYaml } from './yaml.js';

const read = (text: string) => decodeYaml(Buffer.from(text)).value;
const problem = (text: string): string => {
  try {
    read(text);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('decodeYaml', () => {
  it.each<[string, unknown]>([
    ['', null],
    ['# nothing', null],
    ['---', null],
    ['a: b', { a: 'b' }],
    ['a: b\n---\na: c', { a: 'b' }],
    ['a: b\n--- {a: c}\n', { a: 'b' }],
    ['---\na: b\n...\na: c', { a: 'b' }],
    ['--- {a: b}\r\n--- {a: c}', { a: 'b' }],
    ['# c\n\n---\na: b\n---\n[', { a: 'b' }],
    ['%YAML 1.2\n---\na: b\n---\na: c', { a: 'b' }],
    ['---\n---\na: c', null],
    ['a: |\n  x\n  ---\n  y\nb: ---c', { a: 'x\n---\ny\n', b: '---c' }],
    ['{"a": 1}', { a: 1 }],
    ['{a: 1, b: [x]}', { a: 1, b: ['x'] }],
    ['- 1\n- - 2', [1, [2]]],
    ['a: |\n  x\n  y\n', { a: 'x\ny\n' }],
    ['a: >-\n  x\n  y\n', { a: 'x y' }],
    ['a:\nb: ~\nc: null', { a: null, b: null, c: null }],
    ['a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
    ['a: &x {b: 1}\nc:\n  <<: *x\n  d: 2', { a: { b: 1 }, c: { d: 2, b: 1 } }],
    ['a: &x {b: 1}\nc:\n  b: 2\n  <<: [*x, {e: 3}]', { a: { b: 1 }, c: { b: 2, e: 3 } }],
    ['1: a\ntrue: b\n1.5: c', { '1': 'a', true: 'b', '1.5': 'c' }],
    ['a: !!str 1\nb: !!binary aGk=\nc: !!int "3"', { a: '1', b: 'hi', c: 3 }],
    ['a: "yes"\nb: \'1\'', { a: 'yes', b: '1' }],
    ['a: 2026-01-01T00:00:00Z', { a: '2026-01-01T00:00:00Z' }],
    ['a: x\na: z', { a: 'z' }],
  ])('decodes %j', (text, want) => expect(read(text)).toEqual(want));

  it.each<[string, unknown]>([
    ['yes', true],
    ['On', true],
    ['y', true],
    ['no', false],
    ['OFF', false],
    ['0777', 511],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b101', 5],
    ['-0x10', -16],
    ['1_000', 1000],
    ['+12', 12],
    ['08', 8],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['1e3', '1e3'],
    ['1e+3', 1000],
    ['1.', '1.'],
    ['12:30', '12:30'],
    ['0x', '0x'],
    ['-', '-'],
    ['1.2.3', '1.2.3'],
    ['9223372036854775807', 9223372036854775807n],
  ])('resolves the plain scalar %s', (word, want) =>
    expect(read(`a:\n  b: ${word === '-' ? '"-"' : word}`)).toEqual({ a: { b: want } }),
  );

  it.each([
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['a:\n\t- b', 'yaml: line 2: found character that cannot start any token'],
    ['a: *x', "yaml: unknown anchor 'x' referenced"],
    ['a: .nan', 'error converting YAML to JSON: json: unsupported value: NaN'],
    ['? {a: 1}\n: 2', 'error converting YAML to JSON: a map key must be a text, a number or a truth value'],
    ['__proto__: {a: 1}', 'the key "__proto__" is not allowed'],
    ['a:\n  <<: 1', 'yaml: map merge requires map or sequence of maps as the value'],
  ])('refuses %j', (text, want) => expect(problem(text)).toBe(want));

  it('reports the lines of duplicate keys if requested', () => {
    const text = 'kind: ConfigMap\ndata:\n  a: "1"\n  a: "2"\n  b: 1\nkind: X\n';
    expect(decodeYaml(Buffer.from(text)).duplicates).toEqual([]);
    expect(decodeYaml(Buffer.from(text), { findDuplicates: true }).duplicates).toEqual([
      'yaml: unmarshal errors:\n  line 4: key "a" already set in map\n  line 6: key "kind" already set in map',
    ]);
    expect(decodeYaml(Buffer.from('{"a":1,"a":2}'), { findDuplicates: true }).duplicates).toEqual([
      'duplicate field "a"',
    ]);
  });

  it('limits the size of expanded aliases', () => {
    const levels = Array.from({ length: 30 }, (_, index) =>
      index === 0
        ? 'a0: &a0 [x,x,x,x,x,x,x,x,x]'
        : `a${index}: &a${index} [${Array(9)
            .fill(`*a${index - 1}`)
            .join(',')}]`,
    );
    expect(problem(levels.join('\n'))).toBe('yaml: document contains excessive aliasing');
    expect(problem('['.repeat(5000))).not.toBe('');
    expect(problem('- '.repeat(5000) + 'a')).not.toBe('');
  });
});

describe('encodeYaml', () => {
  it('encodes as kube-apiserver does', () => {
    const value = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      data: {
        a: '1',
        b: 'yes',
        c: 'x: y',
        d: 'line\nline\n',
        e: 'line\nline',
        f: '',
        g: ' s',
        k10: 'x',
        k2: 'x',
        t: '2026-01-01',
      },
      metadata: {
        creationTimestamp: null,
        managedFields: [{ manager: 'm', fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } } }],
        empty: [],
        list: ['a', ['b', ['c']], { d: 1, e: [true] }],
      },
    };
    expect(encodeYaml(value).toString()).toBe(
      [
        'apiVersion: v1',
        'data:',
        '  a: "1"',
        '  b: "yes"',
        "  c: 'x: y'",
        '  d: |',
        '    line',
        '    line',
        '  e: |-',
        '    line',
        '    line',
        '  f: ""',
        "  g: ' s'",
        '  k2: x',
        '  k10: x',
        '  t: "2026-01-01"',
        'kind: ConfigMap',
        'metadata:',
        '  creationTimestamp: null',
        '  empty: []',
        '  list:',
        '  - a',
        '  - - b',
        '    - - c',
        '  - d: 1',
        '    e:',
        '    - true',
        '  managedFields:',
        '  - fieldsV1:',
        '      f:data:',
        '        .: {}',
        '        f:a: {}',
        '    manager: m',
        '',
      ].join('\n'),
    );
  });

  it('decodes what it has encoded', () => {
    const awkward = fc.constantFrom(
      'yes',
      '0777',
      '~',
      '',
      ' ',
      'a: b',
      '- a',
      '#x',
      'x #y',
      '---',
      '...',
      '<<',
      '\t',
      'a\nb',
      'a\n\n',
      '\n',
      ' a\nb',
      'a \nb',
      '\u2028',
      '\u0085',
      '\ud83d\ude00',
      "it's",
      '"q"',
      '@',
      '`',
      '%x',
      '1:30',
      '12e03',
      '0x1F',
      '2026-01-01',
      'null',
      '.',
      '=',
      '!t',
      '&a',
      '*a',
      'k:',
      'é',
      '\r',
      'a\r\nb',
      '?',
      '-',
      '\\',
      '\x7f',
      'x'.repeat(200),
    );
    const texts = fc.oneof(awkward, fc.string({ unit: 'binary', maxLength: 8 }), fc.string());
    const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        texts,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          texts.filter((key) => key !== '__proto__'),
          tie('value'),
          { maxKeys: 4 },
        ),
      ),
    }));
    fc.assert(
      fc.property(values, (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        expect(read(encodeYaml(plain).toString())).toEqual(plain);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('YAML takes time linear in its bytes', () => {
  it.each<[string, string]>([
    ['duplicate keys', 'a: 1\n'.repeat(100_000)],
    ['nested duplicate keys', 'a:\n  b: 1\n  b: 2\n'.repeat(30_000)],
    ['digits that are not a number', `a: ${'9'.repeat(500_000)}x`],
    ['digits and a dot that are not a number', `a: .${'9'.repeat(500_000)}x`],
    ['450,000 documents', '--- {}\n'.repeat(450_000)],
    ['an anchor in every entry', Array.from({ length: 50_000 }, (_, index) => `k${index}: &a${index} 1\n`).join('')],
  ])('decoding %s', (_, text) => {
    read('a: 1'); // Loads the parser, which is imported on first use.
    expect(cpuMsOf(() => void decodeYaml(Buffer.from(text), { findDuplicates: true }), 1500)).toBeLessThan(1500);
  });

  it('a text of more than a million lines is refused (413)', () => {
    expect(problem(`a: |\n${'\n'.repeat(1_000_000)}`)).toBe('Request entity too large: limit is 1000000 lines of YAML');
    expect(read(`a: |+\n${'\n'.repeat(999_999)}`)).toEqual({ a: '\n'.repeat(999_999) });
  });

  it('aliases of a long text are limited', () => {
    const aliases = Array.from({ length: 1000 }, (_, index) => `k${index}: *a\n`).join('');
    expect(problem(`a: &a ${'x'.repeat(10_000)}\n${aliases}`)).toBe('yaml: document contains excessive aliasing');
    expect(problem(`a: &a ${'x'.repeat(1000)}\n${aliases}`)).toBe('');
  });
});

it('at most 100 duplicate keys are reported, each with its line', () => {
  const [text] = decodeYaml(Buffer.from('a: 1\nb:\n  c: 1\n  c: 2\nb: 1\n' + 'a: 1\n'.repeat(500)), {
    findDuplicates: true,
  }).duplicates;
  const lines = text!.split('\n  ');
  expect(lines.slice(0, 4)).toEqual([
    'yaml: unmarshal errors:',
    'line 4: key "c" already set in map',
    'line 5: key "b" already set in map',
    'line 6: key "a" already set in map',
  ]);
  expect(lines).toHaveLength(101);
});

it.each([
  ['digits', '1'],
  ['zeros', '0'],
  ['digits and a letter', '1a'],
])('sorting keys of many %s takes time linear in their bytes', (_what, part) => {
  const long = part.repeat(200_000);
  const object = { [`${long}-0x`]: 1, [`${long}-1x`]: 2, [`${long}02`]: 3, [`${long}11`]: 4, [`${long}2`]: 5 };
  expect(cpuMsOf(() => encodeYaml(object), 1_000)).toBeLessThan(1_000);
});

it.each([
  ['numbers by value', ['a2', 'a10', 'a010', 'a100']],
  ['zeros after other digits as digits', ['a1', 'a1-', 'a10', 'a12', 'a100']],
  ['letters after all other characters', ['a', 'a-', 'a1', 'ab']],
  ['surrogate pairs as a whole', ['a\u{1F600}', 'a\u{1F601}', 'a\u{10400}', 'a\u{10401}']],
])('sorts %s', (_what, keys) => {
  const object = Object.fromEntries([...keys].reverse().map((key) => [key, 1]));
  expect(Object.keys(decodeYaml(encodeYaml(object)).value as object)).toEqual(keys);
});
