import { setMaxListeners } from 'node:events';

/**
 * An AbortController whose signal any number of calls may listen to at once: a request that deletes a collection, or a
 * start that loads all resources, works on many objects side by side. Each call takes its listener off when it is done,
 * so that Node's warning at the eleventh would be a false one.
 */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
