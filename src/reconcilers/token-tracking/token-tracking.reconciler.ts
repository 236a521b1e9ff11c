import { ensureObject } from '../boot/ensure-object.js';
import { tokenTracking } from '../boot/token-tracking-object.js';
import { followNames } from '../follow.js';
import { defineReconciler } from '../reconciler.js';
import { LastUsedLabels } from './last-used.js';

/**
 * Tracks the use of service account tokens in Secrets. Keeps the ConfigMap with the start of the tracking: writes it
 * again if it is deleted or its day is invalid.
 */
export const tokenTrackingDay = defineReconciler({
  name: 'legacy-service-account-token-tracking',
  runs: 'always',
  runsOn: 'every server',
  start(dependencies) {
    const { config, registry, clock, queue: makeQueue } = dependencies;
    const configMaps = registry.require('', 'v1', 'configmaps');
    const wanted = () => tokenTracking(config, clock.now());
    const { name = '', namespace = '' } = wanted().object.metadata;
    const queue = makeQueue('legacy_token_tracking', () => ensureObject(registry, wanted()));
    const end = followNames(configMaps, (foundNamespace, found) => {
      if (found === name && foundNamespace === namespace) queue.add(name);
    });
    const labels = new LastUsedLabels(dependencies);
    return {
      async stop() {
        end();
        await Promise.all([queue.stop(), labels.stop()]);
      },
    };
  },
});
