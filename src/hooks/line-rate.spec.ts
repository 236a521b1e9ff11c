import { LineRate } from './line-rate.js';

it('admits a number of lines per second, and counts those between', () => {
  const rate = new LineRate(2);
  expect([0, 1, 2, 999].map((ms) => rate.admit(ms))).toEqual([0, 0, undefined, undefined]);
  expect([1000, 1001, 1002].map((ms) => rate.admit(ms))).toEqual([2, 0, undefined]);
  expect(rate.admit(5000)).toBe(1);
});
