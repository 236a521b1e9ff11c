import { ManualClock } from './clock.js';
import { atOnce } from './steps.js';

it('runs all steps and returns the result', () => {
  const clock = new ManualClock();
  const begin = clock.monotonicMs();
  const work = function* (): Generator<void, string> {
    clock.advance(100);
    yield;
    clock.advance(100);
    yield;
    return 'done';
  };
  expect(atOnce(work())).toBe('done');
  expect(clock.monotonicMs() - begin).toBe(200);
});
