import { ManualClock } from './clock.js';
import { TimerWheel } from './timer-wheel.js';

describe('TimerWheel', () => {
  const setUp = () => {
    const clock = new ManualClock();
    const startMs = clock.now();
    const fired: [string, number][] = [];
    const wheel = new TimerWheel(clock, 50);
    const set = (name: string, delayMs: number) =>
      wheel.after(delayMs, () => fired.push([name, clock.now() - startMs]));
    return { clock, wheel, fired, set };
  };

  it.each([0, 1, 49, 50, 51, 75_000, 10_000_000])(
    'fires a timeout of %d ms once, never early, a tick late at most',
    (ms) => {
      const { clock, fired, set } = setUp();
      clock.advance(13);
      set('a', ms);
      clock.advance(ms + 100);
      expect(fired).toHaveLength(1);
      const lateMs = fired[0]![1] - 13 - ms;
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThanOrEqual(50);
    },
  );

  it('fires in order of due times, except cancelled timeouts', () => {
    const { clock, fired, set } = setUp();
    set('c', 300);
    const b = set('b', 200);
    set('a', 100);
    b.cancel();
    b.cancel();
    clock.advance(1000);
    expect(fired.map(([name]) => name)).toEqual(['a', 'c']);
  });

  it('lets a task cancel another of the same tick and set a third', () => {
    const { clock, wheel, fired, set } = setUp();
    const victims = [1, 2].map((n) =>
      wheel.after(100, () => {
        fired.push([`t${n}`, 0]);
        victims[2 - n]!.cancel();
        set('x', 10);
      }),
    );
    clock.advance(1000);
    expect(fired.map(([name]) => name[0])).toEqual(['t', 'x']);
  });

  it('fires all due timeouts after a long pause of the process', () => {
    const { clock, fired, set } = setUp();
    for (let n = 0; n < 600; n++) set(`t${n}`, n * 60);
    jest.spyOn(clock, 'monotonicMs').mockReturnValue(clock.monotonicMs() + 3_600_000);
    clock.advance(60);
    expect(fired).toHaveLength(600);
  });

  it('sets no timer without timeouts', () => {
    const { clock, set } = setUp();
    const after = jest.spyOn(clock, 'after');
    set('a', 100).cancel();
    clock.advance(10_000);
    expect(after).toHaveBeenCalledTimes(1);
  });
});
