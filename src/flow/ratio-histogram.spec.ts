import { RatioHistogram } from './ratio-histogram.js';

it('a ratio histogram counts nanoseconds by ratio, across changes of the limit', () => {
  const histogram = new RatioHistogram([0, 0.5, 1], 0);
  histogram.setLimit(4, 0);
  histogram.set(2, 10);
  histogram.set(4, 13);
  histogram.setLimit(2, 15);
  histogram.fold(16);
  // 10 ms at 0, 3 ms at 0.5, 2 ms at 1, then 1 ms at 2.
  expect(histogram.counts).toEqual([10e6, 3e6, 2e6, 1e6]);
  expect(histogram.sum).toBe(1.5e6 + 2e6 + 2e6);
});
