import { ManualClock } from './clock.js';
import { LoopYieldTimer } from './loop-yield-timer.js';

/** A clock that each step of a loop moves on, and that counts how often it is read. */
class StepClock extends ManualClock {
  reads = 0;
  override monotonicMs(): number {
    this.reads++;
    return super.monotonicMs();
  }
}

async function slicesOf(steps: number, stepMs: (step: number) => number) {
  const clock = new StepClock();
  const timer = new LoopYieldTimer(clock, 2);
  const slicesMs: number[] = [];
  let spentMs = 0;
  for (let step = 0; step < steps; step++) {
    clock.advance(stepMs(step));
    spentMs += stepMs(step);
    if (!timer.isDue()) continue;
    slicesMs.push(spentMs);
    spentMs = 0;
    await timer.yield();
  }
  return { slicesMs, reads: clock.reads };
}

describe('LoopYieldTimer', () => {
  it('reads the clock seldom while steps are short', async () => {
    const { slicesMs, reads } = await slicesOf(16_000, () => 1 / 1024);
    expect(reads).toBeLessThan(16_000 / 10);
    for (const sliceMs of slicesMs) expect(sliceMs).toBeCloseTo(2, 1);
  });

  it('ends a slice of long steps after the step that fills it', async () => {
    const { slicesMs } = await slicesOf(40, () => 0.5);
    expect(slicesMs).toEqual(Array.from({ length: 10 }, () => 2));
  });

  it('reads the clock after each step once steps become long', async () => {
    const { slicesMs } = await slicesOf(1000, (step) => (step < 900 ? 0 : 1));
    for (const sliceMs of slicesMs.slice(1)) expect(sliceMs).toBe(2);
  });
});
