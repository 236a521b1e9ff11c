/** CPU time of the calibration loop on a quiet machine of the kind on which the limits in specs were chosen. */
const quietLoopMs = 7;
/** Shared cores and caches slow the same work down; beyond this factor it is another machine. */
const slownessMax = 8;

/** Compilation, garbage collection and other processes slow single runs down. */
const attempts = 4;

/**
 * Least CPU time of some runs of `work`, in milliseconds of a quiet machine: divided by the slowdown of a calibration
 * loop that runs beside it, so that limits also hold on a busy machine. A run below the limit of the caller is the last.
 */
export function cpuMsOf(work: () => void, limitMs = 0): number {
  let least = Infinity;
  for (let run = 0; run < attempts && least >= limitMs; run++) least = Math.min(least, oneRunMs(work));
  return least;
}

function oneRunMs(work: () => void): number {
  const slownessBefore = slowness();
  const ms = spentMs(work);
  return ms / Math.max(slownessBefore, slowness());
}

function slowness(): number {
  return Math.min(slownessMax, Math.max(1, spentMs(calibrationLoop) / quietLoopMs));
}

function spentMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

// The first runs include compilation.
for (let warmUp = 0; warmUp < 3; warmUp++) calibrationLoop();

/** Creates, keeps and finds short strings, as codecs do. */
function calibrationLoop(): void {
  const seen = new Map<string, number>();
  for (let index = 0; index < 60_000; index++) seen.set(`field-${index % 20_000}`, index);
}
