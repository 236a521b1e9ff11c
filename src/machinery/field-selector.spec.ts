import { parseFieldSelector, requireSelectable } from './field-selector.js';

const outcome = (run: () => string): string => {
  try {
    return run();
  } catch (error) {
    expect(error).toMatchObject({ reason: 'BadRequest' });
    return (error as Error).message;
  }
};

describe('parseFieldSelector', () => {
  it.each([
    ['', ''],
    [',,', ''],
    ['a=1', 'a=1'],
    ['a==1', 'a=1'],
    ['a!=1', 'a!=1'],
    ['a=', 'a='],
    ['b=2,a=1', 'a=1,b=2'],
    ['a=x\\,y', 'a=x\\,y'],
    ['a=x\\=y', 'a=x\\=y'],
    ['a=x\\\\y', 'a=x\\\\y'],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['a=1,b', "invalid selector: 'a=1,b'; can't understand 'b'"],
    ['metadata.name=\\', 'invalid field selector: invalid escape sequence: \\'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ])('%s', (text, want) => expect(outcome(() => parseFieldSelector(text).toString())).toBe(want));

  it.each([
    ['a=1', { a: '1' }, true],
    ['a=1', {}, false],
    ['a=', {}, true],
    ['a!=', {}, false],
    ['a!=1', {}, true],
    ['a=1,b!=2', { a: '1', b: '2' }, false],
    ['a=x\\,y', { a: 'x,y' }, true],
    ['', {}, true],
  ])('%s on %j is %s', (text, fields, want) => {
    const values = new Map(Object.entries(fields));
    expect(parseFieldSelector(text).matches((field) => values.get(field) ?? '')).toBe(want);
  });

  it('requiresExact() returns required values', () => {
    const selector = parseFieldSelector('a=1,b!=2,c=');
    expect(['a', 'b', 'c', 'd'].map((field) => selector.requiresExact(field))).toEqual(['1', undefined, '', undefined]);
    expect(selector.equalities.map(({ field }) => field)).toEqual(['a', 'c']);
    expect(selector.and('d', '4').toString()).toBe('a=1,b!=2,c=,d=4');
  });
});

describe('a long field selector', () => {
  const denied = Array.from({ length: 5_000 }, (_, n) => `a!=${n}`);
  const long = (...terms: string[]) => parseFieldSelector([...denied, ...terms].join());

  it.each([
    ['a value that is not excluded', long(), { a: 'x' }, true],
    ['an excluded value', long(), { a: '4999' }, false],
    ['the required value', long('b=1', 'b==1'), { b: '1' }, true],
    ['a value other than the required one', long('b=1'), { b: '2' }, false],
    ['an absent field that must have a value', long('b=1'), {}, false],
    ['an absent field that must be empty', long('b='), {}, true],
    ['an absent field that must not be empty', long('b!='), {}, false],
    ['two required values', long('b=1', 'b=2'), { b: '1' }, false],
    ['a value both required and excluded', long('a=1'), { a: '1' }, false],
  ])('matches like a short one on %s', (_what, selector, fields, want) =>
    expect(selector.matches((field) => new Map(Object.entries(fields)).get(field) ?? '')).toBe(want),
  );

  it('reads each field of an object once', () => {
    const asked: string[] = [];
    long('b!=1', 'b!=2').matches((field) => (asked.push(field), 'x'));
    expect(asked).toEqual(['a', 'b']);
  });

  it('has distinct equalities, at most two per field', () => {
    const equal = Array.from({ length: 100 }, () => 'b=1');
    expect(long(...equal).equalities.map(({ value }) => value)).toEqual(['1']);
    expect(long('b=1', 'b=2', 'b=3').equalities.map(({ value }) => value)).toEqual(['1', '2']);
    expect(long('b=1').requiresExact('b')).toBe('1');
    expect(long('b=1').toString().split(',')).toHaveLength(5_001);
  });
});

it('a field selector of too many terms is refused', () => {
  expect(parseFieldSelector('a=b,'.repeat(20_000)).toString()).toHaveLength(79_999);
  expect(() => parseFieldSelector('a=b,'.repeat(20_001))).toThrow('the field selector has more than 20000 terms');
});

describe('requireSelectable', () => {
  const check = (text: string, ...rest: [ReadonlySet<string>?, ((field: string) => string)?]) =>
    outcome(() => {
      requireSelectable(parseFieldSelector(text), ...rest);
      return 'ok';
    });
  it('accepts the common fields', () => {
    expect(check('metadata.name=a,metadata.namespace=b')).toBe('ok');
    expect(check('metadata.uid=x')).toBe(
      '"metadata.uid" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
  });
  it('accepts the fields of a kind, and rejects others with its text', () => {
    const fields = new Set(['metadata.name', 'status.phase']);
    expect(check('status.phase=Running', fields)).toBe('ok');
    expect(check('spec.bad=x', fields, (field) => `field label not supported: ${field}`)).toBe(
      'field label not supported: spec.bad',
    );
  });
});
