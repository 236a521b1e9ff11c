import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../scripts/simulation/ledger.js';

const patienceMs = 30_000;
const quietMs = 1_500;

/** Asks until it is so: a busy machine gets the time that it needs, and a quiet one does not wait. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs / 1_000} s: ${what}`);
    await sleep(20);
  }
}

/** Resolves when all that watches have to tell has been told: they have been quiet for a while. */
export async function allIsTold({ watches }: Ledger): Promise<void> {
  const told = () => watches.reduce((sum, { steps }) => sum + steps.length, 0);
  for (let before = -1; before !== told();) {
    before = told();
    await sleep(quietMs);
  }
}
