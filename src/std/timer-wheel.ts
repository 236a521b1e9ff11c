import type { Clock, Timer } from './clock.js';

/**
 * One clock timer for thousands of timeouts that may fire a tick late. Setting and cancelling are O(1).
 *
 *   slot  0    1    2   ...  511       a timeout is in slot (its tick mod 512), in a linked list;
 *         |    |                       each tick visits one slot and fires what is due,
 *         t3   t1 - t2                 the rest of the list waits for another round
 *
 * Timeouts never fire early. Once all timeouts were cancelled the clock runs for one more tick: most are cancelled within
 * a tick, and setting a timer of the clock for each group of them costs more than the timeouts.
 */
const slotCount = 512;

class Timeout implements Timer {
  previous: Timeout | undefined;
  next: Timeout | undefined;
  isSet = true;

  constructor(
    readonly dueTick: number,
    readonly task: () => void,
    private readonly wheel: TimerWheel,
  ) {}

  cancel(): void {
    this.wheel.remove(this);
  }
}

export class TimerWheel {
  private readonly heads = new Array<Timeout | undefined>(slotCount).fill(undefined);
  private readonly startMs: number;
  private tick = 0;
  private count = 0;
  private ticking: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly tickMs = 50,
  ) {
    this.startMs = clock.monotonicMs();
  }

  /** `nowMs` is for callers that have just read the clock. */
  after(delayMs: number, task: () => void, nowMs = this.clock.monotonicMs()): Timer {
    const elapsedTicks = this.ticksUntil(nowMs);
    if (!this.ticking) this.tick = Math.floor(elapsedTicks);
    const dueTick = Math.max(Math.ceil(elapsedTicks + delayMs / this.tickMs), this.tick + 1);
    const timeout = new Timeout(dueTick, task, this);
    const slot = dueTick % slotCount;
    const head = this.heads[slot];
    timeout.next = head;
    if (head) head.previous = timeout;
    this.heads[slot] = timeout;
    this.count++;
    this.ticking ??= this.arm();
    return timeout;
  }

  remove(timeout: Timeout): void {
    if (!timeout.isSet) return;
    timeout.isSet = false;
    if (timeout.previous) timeout.previous.next = timeout.next;
    else this.heads[timeout.dueTick % slotCount] = timeout.next;
    if (timeout.next) timeout.next.previous = timeout.previous;
    timeout.previous = timeout.next = undefined;
    this.count--;
  }

  private elapsedTicks(): number {
    return this.ticksUntil(this.clock.monotonicMs());
  }

  private ticksUntil(nowMs: number): number {
    return (nowMs - this.startMs) / this.tickMs;
  }

  private arm(): Timer {
    const untilNextMs = (this.tick + 1 - this.elapsedTicks()) * this.tickMs;
    return this.clock.after(Math.max(untilNextMs, 0), () => this.advance());
  }

  private advance(): void {
    const due: Timeout[] = [];
    const now = Math.floor(this.elapsedTicks());
    // After a long pause of the process one round visits every slot.
    for (let tick = Math.max(this.tick + 1, now - slotCount + 1); tick <= now; tick++) {
      for (let timeout = this.heads[tick % slotCount]; timeout; timeout = timeout.next) {
        if (timeout.dueTick <= now) due.push(timeout);
      }
    }
    this.tick = Math.max(this.tick, now);
    due.sort((a, b) => a.dueTick - b.dueTick);
    this.ticking = undefined;
    for (const timeout of due) {
      // An earlier task may have cancelled it.
      if (!timeout.isSet) continue;
      this.remove(timeout);
      timeout.task();
    }
    if (this.count > 0) this.ticking ??= this.arm();
  }
}
