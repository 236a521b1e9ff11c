import { prefersGzip } from './content-coding.js';

it.each([
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip, br', true],
  ['gzip;q=0.5', true],
  ['gzip; q=0.001', true],
  ['gzip;q=0', false],
  ['gzip;q=0.0, deflate', false],
  ['gzip;q=2', false],
  ['gzip;q=x', false],
  ['br, deflate', false],
  ['*', false],
  ['x-gzip', false],
  ['identity, gzip', true],
  ['identity, gzip;q=0.5', false],
  ['identity;q=0.2, gzip;q=0.5', true],
  ['identity;q=0, gzip', true],
])('Accept-Encoding: %s', (header, wanted) => {
  expect(prefersGzip(header)).toBe(wanted);
});
