import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { compareSemver, parseSemver } from './semver.js';

it.each(['1.2.3', '0.0.0', '1.2.3-rc.1', '1.2.3-0a', '1.2.3+build.01', '1.2.3--', '99999999999999999999.0.0'])(
  '%s is a version',
  (text) => expect(parseSemver(text)).toBeDefined(),
);

it.each(['', '1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+', '1.2.3.4', ' 1.2.3'])(
  '%j is none',
  (text) => expect(parseSemver(text)).toBeUndefined(),
);

it('orders as semver.org specifies', () => {
  const ordered = [
    ...['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11'],
    ...['1.0.0-rc.1', '1.0.0', '2.0.0', '2.1.0', '2.1.1', '10.0.0'],
  ].map((text) => parseSemver(text)!);
  for (const [i, a] of ordered.entries()) {
    for (const [j, b] of ordered.entries()) expect(Math.sign(compareSemver(a, b))).toBe(Math.sign(i - j));
  }
  expect(compareSemver(parseSemver('1.0.0+a')!, parseSemver('1.0.0+b')!)).toBe(0);
});

it('compares versions of 3 million digits in linear time', () => {
  const digits = '9'.repeat(1_500_000);
  const [a, b] = [`${digits}.0.0-${digits}`, `${digits}.0.0-${digits}1`].map((text) => parseSemver(text)!);
  expect(cpuMsOf(() => expect(compareSemver(a!, b!)).toBe(-1), 100)).toBeLessThan(100);
});
