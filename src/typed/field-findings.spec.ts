import { positionsOfFields } from '../codec/strict-json.js';
import { asWarnings, fieldFindings } from './field-findings.js';

const twice = (path: string) => `duplicate field "${path}"`;
const unknown = (path: string) => `unknown field "${path}"`;

describe('fieldFindings', () => {
  it.each<[string, string[], string[], string[]]>([
    ['nothing', [], [], []],
    ['unknown fields', [], ['zz', 'spec.yy'], [unknown('zz'), unknown('spec.yy')]],
    ['duplicate fields', [twice('data'), twice('data.a')], [], [twice('data'), twice('data.a')]],
    ['each field once', [twice('a'), twice('a')], ['b', 'b'], [twice('a'), unknown('b')]],
    [
      'findings with lines first',
      ['line 5: key "name" already set in map'],
      ['zz'],
      ['line 5: key "name" already set in map', unknown('zz')],
    ],
    [
      'no duplicates inside unknown fields',
      [twice('z.a'), twice('z[0].b'), twice('z'), twice('zz')],
      ['z'],
      [twice('zz'), unknown('z')],
    ],
    ['quotes in names', [], ['a"b'], ['unknown field "a\\"b"']],
  ])('reports %s', (_what, duplicates, unknownFields, want) =>
    expect(fieldFindings(duplicates, unknownFields)).toEqual(want),
  );

  it('findings are sorted by position', () => {
    const text = '{"c":[{"z1":1,"image":"i","z2":2,"image":"k","z3":{"z4":1}}]}';
    const findings = fieldFindings([twice('c[0].image')], ['c[0].z1', 'c[0].z2', 'c[0].z3'], (paths) =>
      positionsOfFields(text, paths),
    );
    expect(findings).toEqual([unknown('c[0].z1'), unknown('c[0].z2'), twice('c[0].image'), unknown('c[0].z3')]);
  });

  it('findings are limited', () => {
    const paths = Array.from({ length: 80 }, (_, index) => `f${index}`);
    expect(
      fieldFindings(
        paths.map(twice),
        paths.map((path) => `x${path}`),
      ),
    ).toHaveLength(100);
  });
});

it('YAML duplicates become one warning per line', () => {
  const lines = 'yaml: unmarshal errors:\n  line 5: key "a" already set in map\n  line 7: key "b" already set in map';
  const findings = fieldFindings([lines], ['zz']);
  expect(findings).toEqual([lines, unknown('zz')]);
  expect(asWarnings(findings)).toEqual([
    'line 5: key "a" already set in map',
    'line 7: key "b" already set in map',
    unknown('zz'),
  ]);
});
