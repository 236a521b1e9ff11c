import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/**
 * Collects the garbage of the whole heap, in one pause in which nothing else runs. Only for a process that has dropped much
 * memory and then does little: V8 collects when a process allocates, and does not know that others need the memory.
 */
export function collectGarbage(): void {
  if (!collect) {
    // Node gives scripts this function only if the flag is set when their context is created.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  collect();
}
