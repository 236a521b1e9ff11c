/** Waiting work is resumed within this time per event loop tick; long work runs alone in its tick. */
const tickMs = 5;
/** Maximum number of resumed callers per tick, for short work of hundreds of concurrent requests. */
const resumedPerTickMax = 256;

/**
 * Resolves after a full tick of the event loop, in which other requests are read and those that can be answered at once
 * are answered. A single `setImmediate` would resume between reading such a request and sending its response, since
 * responses are sent at the end of a tick.
 *
 * Several callers are resumed in order, for a few milliseconds per tick: together, long stages would otherwise block
 * the event loop as long as without yielding.
 */
export function yieldEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!isScheduled) schedule();
  });
}

const waiting: (() => void)[] = [];
let isScheduled = false;

function schedule(): void {
  isScheduled = true;
  setImmediate(resumeNextTick);
}

/** Resumes each caller in a callback of its own: its work runs before the next callback, which then checks the time. */
function resumeNextTick(): void {
  let beganAt: number | undefined;
  let left = Math.min(waiting.length, resumedPerTickMax);
  const resume = (): void => {
    beganAt ??= performance.now();
    if (performance.now() - beganAt < tickMs) waiting.shift()!();
    if (--left > 0) return;
    isScheduled = false;
    if (waiting.length > 0) schedule();
  };
  for (let count = left; count > 0; count--) setImmediate(resume);
}
