import { canonicalDuration } from './go-duration.js';

describe('canonicalDuration', () => {
  it.each([
    ['0', '0s'],
    ['+0s', '0s'],
    ['90m', '1h30m0s'],
    ['1h', '1h0m0s'],
    ['-1.5s', '-1.5s'],
    ['1500us', '1.5ms'],
    ['1µs', '1µs'],
    ['7ns', '7ns'],
    ['.5m', '30s'],
    ['1h2m3.000000004s', '1h2m3.000000004s'],
    ['-2562047h47m16.854775808s', '-2562047h47m16.854775808s'],
  ])('%s becomes %s', (text, want) => expect(canonicalDuration(text)).toBe(want));

  it.each([
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['.s', 'time: invalid duration ".s"'],
    ['3', 'time: missing unit in duration "3"'],
    ['3d', 'time: unknown unit "d" in duration "3d"'],
    ['1toString', 'time: unknown unit "toString" in duration "1toString"'],
    ['2562048h', 'time: invalid duration "2562048h"'],
    ['2562047h47m16.854775808s', 'time: invalid duration "2562047h47m16.854775808s"'],
  ])('refuses %j', (text, message) => expect(() => canonicalDuration(text)).toThrow(new Error(message)));
});
