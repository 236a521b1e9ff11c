/**
 * Resolves after a whole turn of the event loop: other requests that have arrived are read, and those that can be
 * answered at once are. One `setImmediate` would resume the work between reading such a request and sending its
 * answer, since answers leave at the end of a turn: the other request would wait for two stages of the work.
 *
 * Where several pieces of work wait, each turn resumes one of them, in the order in which they came: their stages
 * together would hold the event loop as long as if none of them had waited.
 */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) afterTurn(resumeFirst);
  });
}

const waiting: (() => void)[] = [];

function afterTurn(run: () => void): void {
  setImmediate(() => setImmediate(run));
}

/** The first one stays in the list until it is resumed, so that the next one waits for a turn of its own. */
function resumeFirst(): void {
  waiting[0]!();
  waiting.shift();
  if (waiting.length > 0) afterTurn(resumeFirst);
}
