import type { Secret } from '../../catalog/types/core.v1.js';
import { bootstrapTokenEndMs } from '../../auth/bootstrap-tokens.js';
import { defineReconciler } from '../reconciler.js';
import { followTokenSecrets, tokenSecretFilter } from './follow-token-secrets.js';

const workersMax = 4;

/** Deletes Secrets of bootstrap tokens when they expire. */
export const tokenCleaner = defineReconciler({
  name: 'token-cleaner-controller',
  runs: 'if enabled',
  runsOn: 'leader',
  role: 'token-cleaner',
  yieldsToUpstream: true,
  start(dependencies) {
    const { config, registry, client, clock } = dependencies;
    const served = registry.require('', 'v1', 'secrets');
    const { store } = served;
    const namespace = config.naming.systemNamespace('system');
    const isToken = tokenSecretFilter(config.naming);
    const queue = dependencies.queue(
      'token_cleaner',
      async (name, signal) => {
        const found = store.cache.get(store.keyOf(namespace, name));
        if (!found || !isToken(found)) return;
        const secret: Secret = found.parse();
        const leftMs = deletionTimeMs(secret) - clock.now();
        if (leftMs === Infinity) return;
        if (leftMs > 0) return { againInMs: leftMs };
        const { uid, resourceVersion } = secret.metadata;
        await client.delete({ served, namespace, name }, { preconditions: { uid, resourceVersion } }, signal);
      },
      { workersMax },
    );
    const end = followTokenSecrets(served, config.naming, (name) => queue.add(name));
    return {
      async stop() {
        end();
        await queue.stop();
      },
    };
  },
});

/** Returns the time at which a token Secret is to be deleted; Infinity if it stays. */
export function deletionTimeMs(secret: Secret): number {
  return secret.metadata.deletionTimestamp === undefined ? bootstrapTokenEndMs(secret) : Infinity;
}
