import { ManualClock } from './clock.js';
import { YieldTimer } from './yield-timer.js';

describe('the yield timer', () => {
  it('is due after a slice of work, and not again until another slice has passed', async () => {
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

  it('lets what waits for the event loop run', async () => {
    const seen: string[] = [];
    setImmediate(() => seen.push('other request'));
    await new YieldTimer(new ManualClock()).yield();
    seen.push('after');
    expect(seen).toEqual(['other request', 'after']);
  });
});
