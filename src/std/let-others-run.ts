/** Work that goes on in one turn of the event loop begins within this time; long work is alone in its turn. */
const turnMs = 5;
/** Of short work, as hundreds of requests at once have, at most so much goes on in one turn. */
const resumedPerTurnMax = 256;

/**
 * Resolves after a whole turn of the event loop: other requests that have arrived are read, and those that can be
 * answered at once are. One `setImmediate` would resume the work between reading such a request and sending its
 * answer, since answers leave at the end of a turn: the other request would wait for two stages of the work.
 *
 * Several pieces of work that wait are resumed in the order in which they came, for a few milliseconds a turn:
 * long stages together would hold the event loop as long as if none of them had waited.
 */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!isScheduled) schedule();
  });
}

const waiting: (() => void)[] = [];
let isScheduled = false;

function schedule(): void {
  isScheduled = true;
  setImmediate(resumeNextTurn);
}

/** Each gets a callback of its own: what it resumes runs before the next callback, which then sees the time. */
function resumeNextTurn(): void {
  let beganAt: number | undefined;
  let left = Math.min(waiting.length, resumedPerTurnMax);
  const resume = (): void => {
    beganAt ??= performance.now();
    if (performance.now() - beganAt < turnMs) waiting.shift()!();
    if (--left > 0) return;
    isScheduled = false;
    if (waiting.length > 0) schedule();
  };
  for (let count = left; count > 0; count--) setImmediate(resume);
}
