import type { Clock, Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { RunningReconciler } from './reconciler.js';

const retryMs = 10_000;

/** Starts a reconciler and retries if that fails. Resolves after the first attempt, so that the server serves anyway. */
export async function startPersistently(
  name: string,
  start: () => Promise<RunningReconciler>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<RunningReconciler> {
  let running: RunningReconciler | undefined;
  let timer: Timer | undefined;
  let attempt: Promise<void> = Promise.resolve();
  let isStopped = false;
  const tryOnce = async () => {
    try {
      running = await start();
    } catch (error) {
      logger.warn('could not start a reconciler; retrying', {
        reconciler: name,
        error,
        retryInMs: retryMs,
      });
      if (!isStopped) timer = clock.after(retryMs, () => void (attempt = tryOnce()));
    }
  };
  await (attempt = tryOnce());
  return {
    async stop() {
      isStopped = true;
      timer?.cancel();
      await attempt;
      await running?.stop();
    },
  };
}
