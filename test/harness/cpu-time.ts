/** CPU time of the calibration loop on a quiet machine of the kind that bounds in specs were chosen on. */
const quietLoopMs = 7;
/** Shared cores and caches make the same work dearer; more than this is another machine. */
const slownessMax = 8;

/**
 * CPU time that `work` costs this process, in milliseconds of a quiet machine: it is divided by how much slower than
 * there a loop of known cost runs beside it, so that bounds hold on a busy machine too.
 */
export function cpuMsOf(work: () => void): number {
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

// The first runs of the loop pay for its compilation.
for (let warmUp = 0; warmUp < 3; warmUp++) calibrationLoop();

/** Makes, keeps and finds small texts, which is what codecs do. */
function calibrationLoop(): void {
  const seen = new Map<string, number>();
  for (let index = 0; index < 60_000; index++) seen.set(`field-${index % 20_000}`, index);
}
