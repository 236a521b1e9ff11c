import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../scripts/simulation/ledger.js';

/** Long, since a busy machine takes twenty times as long as a quiet one, and some components retry only after 10 s. */
const patienceMs = 120_000;
const quietMs = 1_500;

/** Polls until the condition holds. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs / 1_000} s: ${what}`);
    await sleep(20);
  }
}

/** Resolves when watches have been quiet for a while. */
export async function watchesAreQuiet({ watches }: Ledger): Promise<void> {
  const told = () => watches.reduce((sum, { steps }) => sum + steps.length, 0);
  for (let before = -1; before !== told();) {
    before = told();
    await sleep(quietMs);
  }
}
