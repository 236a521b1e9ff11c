import { parseDuration } from './duration.js';

test.each<[string, number | undefined]>([
  ['0', 0],
  ['0s', 0],
  ['-0s', 0],
  ['300ms', 300],
  ['1.5s', 1500],
  ['.5s', 500],
  ['1h30m', 5_400_000],
  ['1h0m10s', 3_610_000],
  ['-2m', -120_000],
  ['+1s', 1000],
  ['1ns', 1],
  ['1500us', 2],
  ['1µs', 1],
  ['', undefined],
  ['5', undefined],
  ['5 s', undefined],
  ['s', undefined],
  ['1s2', undefined],
  ['1d', undefined],
  ['--1s', undefined],
  ['9999999999999h', undefined],
])('parseDuration(%j) is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
