import { ManualClock } from './clock.js';
import type { Steps } from './steps.js';
import { YieldTimer } from './yield-timer.js';

describe('YieldTimer', () => {
  it('is due after a slice, and again after another slice', async () => {
    const clock = new ManualClock();
    const timer = new YieldTimer(clock);
    expect(timer.isDue()).toBe(false);
    clock.advance(11);
    expect(timer.isDue()).toBe(true);
    await timer.yield();
    expect(timer.isDue()).toBe(false);
    clock.advance(11);
    expect(timer.isDue()).toBe(true);
  });

  it('yield() lets other work run', async () => {
    const seen: string[] = [];
    setImmediate(() => seen.push('other request'));
    await new YieldTimer(new ManualClock()).yield();
    seen.push('after');
    expect(seen).toEqual(['other request', 'after']);
  });

  it('run() returns no promise for short steps', () => {
    expect(new YieldTimer(new ManualClock()).run(steps(3, () => undefined))).toBe(3);
  });

  it('run() yields between long steps, and rejects with their error', async () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    const work = steps(3, (at) => {
      seen.push(`step ${at}`);
      clock.advance(20);
      setImmediate(() => seen.push(`other ${at}`));
    });
    expect(await new YieldTimer(clock).run(work)).toBe(3);
    expect(seen).toEqual(['step 0', 'other 0', 'step 1', 'other 1', 'step 2', 'other 2']);
    const failing = steps(2, (at) => {
      clock.advance(20);
      if (at === 1) throw new Error('late');
    });
    await expect(new YieldTimer(clock).run(failing)).rejects.toThrow('late');
  });
});

function* steps(count: number, step: (at: number) => void): Steps<number> {
  for (let at = 0; at < count; at++) {
    step(at);
    yield;
  }
  return count;
}
