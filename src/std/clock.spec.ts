import { systemClock } from './clock.js';

/** The longest delay of setTimeout(). */
const timeoutMsMax = 2 ** 31 - 1;

describe('systemClock.after', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it.each([1, timeoutMsMax, timeoutMsMax + 1, 3 * timeoutMsMax, 2 ** 40])(
    'a task with a delay of %d ms runs once, after that time',
    (delayMs) => {
      const task = jest.fn();
      systemClock.after(delayMs, task);
      jest.advanceTimersByTime(delayMs - 1);
      expect(task).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(task).toHaveBeenCalledTimes(1);
      jest.advanceTimersByTime(timeoutMsMax);
      expect(task).toHaveBeenCalledTimes(1);
    },
  );

  it.each([0, timeoutMsMax])('a task that is cancelled after %d ms of a longer delay never runs', (afterMs) => {
    const task = jest.fn();
    const timer = systemClock.after(2 ** 33, task);
    jest.advanceTimersByTime(afterMs);
    timer.cancel();
    jest.advanceTimersByTime(2 ** 34);
    expect(task).not.toHaveBeenCalled();
  });
});
