import { setMaxListeners } from 'node:events';

/**
 * Returns an AbortController for any number of concurrent listeners (deletecollection, loading all resources). Each
 * call removes its listener when it is done, so Node's warning at the eleventh listener would be wrong.
 */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
