import { readFile } from 'node:fs/promises';
import { FlagError } from '../config/flag-error.js';
import type { ServerConfig } from '../config/server-config.js';
import { FaultInjector } from '../faults/fault-injector.js';
import { parseFaultPlan } from '../faults/fault-plan.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { ShiftedClock } from '../std/shifted-clock.js';

interface Faults {
  readonly injector: FaultInjector | undefined;
  /** The clock of the server, which a plan may shift. */
  readonly clock: Clock;
}

/** Reads --fault-plan-file. Rejects with a FlagError. */
export async function openFaults(
  { faults: { allowed, planFile } }: ServerConfig,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<Faults> {
  if (!allowed) return { injector: undefined, clock };
  logger.warn(
    'faults are allowed: requests may fail on purpose; never use --allow-faults for a cluster that is needed',
  );
  const shifted = new ShiftedClock(clock);
  const injector = new FaultInjector(({ clockOffsetMs }) => void (shifted.offsetMs = clockOffsetMs));
  if (planFile !== undefined) {
    try {
      injector.setPlan(parseFaultPlan(await readFile(planFile, 'utf8')));
    } catch (error) {
      throw new FlagError('fault-plan-file', [error instanceof Error ? error.message : String(error)], planFile);
    }
  }
  return { injector, clock: shifted };
}
