import { ensureObject } from '../boot/ensure-object.js';
import { tokenTracking } from '../boot/token-tracking-object.js';
import { followNames } from '../follow.js';
import type { Reconciler } from '../reconciler.js';

/** Keeps the day that a start noted: made again when somebody takes it away, or writes what is no day. */
export const tokenTrackingDay: Reconciler = {
  name: 'legacy-service-account-token-tracking',
  start({ config, registry, clock, queue: makeQueue }) {
    const configMaps = registry.require('', 'v1', 'configmaps');
    const wanted = () => tokenTracking(config, clock.now());
    const { name = '', namespace = '' } = wanted().object.metadata;
    const queue = makeQueue('legacy_token_tracking', () => ensureObject(registry, wanted()));
    const end = followNames(configMaps, (foundNamespace, found) => {
      if (found === name && foundNamespace === namespace) queue.add(name);
    });
    return {
      async stop() {
        end();
        await queue.stop();
      },
    };
  },
};
