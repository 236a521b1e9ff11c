import { emptyQuery, isTrueParameter, Query } from './query.js';

describe('Query', () => {
  it.each([
    ['a=1', 'a', ['1']],
    ['a=1&a=2', 'a', ['1', '2']],
    ['a', 'a', ['']],
    ['a=', 'a', ['']],
    ['a=b=c', 'a', ['b=c']],
    ['a=x+y%20z', 'a', ['x y z']],
    ['a+b=1', 'a b', ['1']],
    ['%61=1', 'a', ['1']],
    ['a=%zz&a=2', 'a', ['2']],
    ['a=1;b=2', 'a', []],
    ['&&a=1&', 'a', ['1']],
    ['a=%FF', 'a', ['\ufffd']],
    ['__proto__=1', '__proto__', ['1']],
    ['', 'a', []],
    ['', 'toString', []],
  ])('%s', (raw, name, want) => {
    const query = new Query(raw);
    expect(query.all(name)).toEqual(want);
    expect(query.first(name)).toBe(want[0]);
    expect(query.has(name)).toBe(want.length > 0);
  });

  it.each([
    ['dryRun', true],
    ['dryRun=', false],
    ['dryRun=All', false],
    ['dryRun&dryRun=All', false],
    ['dryRun=All&dryRun', false],
    ['other', false],
  ])('%s is bare: %s', (raw, want) => expect(new Query(raw).isBare('dryRun')).toBe(want));

  it('emptyQuery has no names', () => expect([...emptyQuery.names()]).toEqual([]));

  it.each([
    [undefined, false],
    ['', true],
    ['0', false],
    ['FALSE', false],
    ['true', true],
    ['no', true],
  ])('isTrueParameter(%s)', (value, want) => expect(isTrueParameter(value)).toBe(want));
});
