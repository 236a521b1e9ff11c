import { RetryAfter } from './retry-after.js';

it('Retry-After doubles while rejections go on, up to 32 s, and falls when they become rare', () => {
  const retryAfter = new RetryAfter();
  const seen: number[] = [];
  for (let second = 1000; second < 1080; second++) {
    let seconds = 0;
    for (let count = 0; count < 100; count++) seconds = retryAfter.reject(second * 1000 + count);
    if (seconds !== seen.at(-1)) seen.push(seconds);
  }
  expect(seen).toEqual([1, 2, 4, 8, 16, 32]);
  expect(retryAfter.reject(2_000_000)).toBe(31);
  expect(retryAfter.reject(2_001_000)).toBe(30);
});

it('Retry-After stays 1 with one rejection a second', () => {
  const retryAfter = new RetryAfter();
  for (let second = 1000; second < 1100; second++) expect(retryAfter.reject(second * 1000)).toBe(1);
});
