import { ensureObject } from '../boot/ensure-object.js';
import { tokenTracking } from '../boot/token-tracking-object.js';
import { followNames } from '../follow.js';
import { defineReconciler } from '../reconciler.js';

/** Keeps the ConfigMap with the start of token tracking: writes it again if it is deleted or its day is invalid. */
export const tokenTrackingDay = defineReconciler({
  name: 'legacy-service-account-token-tracking',
  runs: 'always',
  runsOn: 'every server',
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
});
