import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collects all garbage, also what weak references were asked for in this turn of the event loop. */
export async function collectGarbage(): Promise<void> {
  await setImmediate();
  collect();
}
