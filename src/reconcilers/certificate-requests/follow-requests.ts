import type { ObjectRef } from '../../client/loopback-client.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import type { ReconcilerParts, RunningReconciler } from '../reconciler.js';

const workersMax = 4;

/** Looks at each CertificateSigningRequest as the cache has it: writes hold only while it stays so. */
export function followRequests(
  parts: ReconcilerParts,
  queueName: string,
  look: (request: KubeObject, place: ObjectRef, signal: AbortSignal) => Promise<void | { readonly againInMs: number }>,
): RunningReconciler {
  const group = parts.config.naming.group('certificates');
  const served = findStored(parts.registry, group, 'v1', 'certificatesigningrequests');
  if (!served) return { stop: async () => undefined };
  const { store } = served;
  const queue = parts.queue(
    queueName,
    async (name, signal) => {
      const found = store.cache.get(store.keyOf('', name));
      if (found && !found.corruption) return look(found.parse(), { served, namespace: '', name }, signal);
    },
    { workersMax },
  );
  const end = followNames(served, (_namespace, name) => queue.add(name));
  return {
    async stop() {
      end();
      await queue.stop();
    },
  };
}
