import { everyLabel, noLabel } from './label-selector.js';
import { labelSelectorOf } from './label-selector-object.js';
import { parseLabelSelector } from './label-selector-parser.js';

describe('parseLabelSelector', () => {
  it.each([
    ['', ''],
    ['a', 'a'],
    ['!a', '!a'],
    ['a=1', 'a=1'],
    ['a==1', 'a==1'],
    ['a!=1', 'a!=1'],
    ['a=', 'a='],
    ['a=,b', 'a=,b'],
    [' a = 1 , b ', 'a=1,b'],
    ['b,a', 'a,b'],
    ['a in (y,x,x)', 'a in (x,y)'],
    ['a notin (x)', 'a notin (x)'],
    ['a in ()', 'a in ()'],
    ['a in (,x)', 'a in (,x)'],
    ['a in (x,)', 'a in (,x)'],
    ['a in (x,,y)', 'a in (,x,y)'],
    ['in in (in,notin)', 'in in (in,notin)'],
    ['a>1', 'a>1'],
    ['a<5', 'a<5'],
    ['example.com/a=1', 'example.com/a=1'],
    ['a=1,', "found '', expected: identifier after ','"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a=b,,c', "found ',', expected: identifier after ','"],
    ['a notin (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    [
      'a > x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      `a=${'b'.repeat(64)}`,
      `unable to parse requirement: values[0][a]: Invalid value: "${'b'.repeat(64)}": must be no more than 63 bytes`,
    ],
    [
      'A_//b=c',
      "unable to parse requirement: <nil>: Invalid value: \"A_//b\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ],
  ])('%s', (text, want) => {
    let got: string;
    try {
      got = parseLabelSelector(text).toString();
    } catch (error) {
      expect(error).toMatchObject({ reason: 'BadRequest', code: 400 });
      got = (error as Error).message;
    }
    expect(got).toBe(want);
  });

  it.each([
    ['a=1', { a: '1' }, true],
    ['a=1', { a: '2' }, false],
    ['a=1', {}, false],
    ['a=1', undefined, false],
    ['a!=1', {}, true],
    ['a!=1', { a: '1' }, false],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['!a', undefined, true],
    ['a in (1,2)', { a: '2' }, true],
    ['a in (1,2)', {}, false],
    ['a notin (1,2)', { a: '2' }, false],
    ['a notin (1,2)', {}, true],
    ['a>9', { a: '10' }, true],
    ['a>9', { a: '9' }, false],
    ['a<9', { a: '-1' }, true],
    ['a<9', { a: 'x' }, false],
    ['a<9', {}, false],
    ['a>9223372036854775806', { a: '9223372036854775807' }, true],
    ['a=', { a: '' }, true],
    ['a=1,b=2', { a: '1', b: '2' }, true],
    ['a=1,b=2', { a: '1', b: '3' }, false],
    ['constructor', {}, false],
    ['!toString', {}, true],
    ['', undefined, true],
  ])('%s on %j is %s', (text, labels, want) => {
    expect(parseLabelSelector(text).matches(labels as Record<string, string> | undefined)).toBe(want);
  });

  it('requiresExact() returns the only allowed value', () => {
    const selector = parseLabelSelector('a=1,b in (x),c in (x,y)');
    expect(['a', 'b', 'c', 'd'].map((key) => selector.requiresExact(key))).toEqual(['1', 'x', undefined, undefined]);
    expect(selector.isEmpty).toBe(false);
    expect(parseLabelSelector('').isEmpty).toBe(true);
  });
});

describe('labelSelectorOf', () => {
  it.each([
    [{ matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['y', 'x'] }] }, 'a in (x,y)'],
    [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }] }, 'a notin (x)'],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists' }], matchLabels: { b: '' } }, 'a,b='],
    [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, '!a'],
    [
      { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
      '"Gt" is not a valid label selector operator',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
  ])('%j', (object, want) => {
    let got: string;
    try {
      got = labelSelectorOf(object).toString();
    } catch (error) {
      got = (error as Error).message;
    }
    expect(got).toBe(want);
  });

  it('an absent selector matches nothing, an empty one everything', () => {
    expect(labelSelectorOf(undefined)).toBe(noLabel);
    expect(labelSelectorOf(null).matches({})).toBe(false);
    expect(labelSelectorOf({})).toBe(everyLabel);
  });
});

it.each([
  ['requirements', 'a=b,'.repeat(750_000)],
  ['values', `a in (${'b,'.repeat(1_500_000)})`],
  ['negations', '!'.repeat(3_000_000)],
])('a label selector of 3 MiB of %s is refused early', (_, text) => {
  expect(() => parseLabelSelector(text)).toThrow('the label selector has more than 50000 names, values and operators');
});
