import type { CertificateSigningRequest } from '../../catalog/types/certificates.v1.js';
import type { ObjectRef } from '../../client/loopback-client.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';

const workersMax = 4;

/** Checks the outcome of one CertificateSigningRequest, read from the cache. Writes need its resourceVersion. */
export type CheckRequest = (
  request: CertificateSigningRequest,
  ref: ObjectRef,
  signal: AbortSignal,
) => Promise<void | { readonly againInMs: number }>;

/** Calls `check` for each CertificateSigningRequest and for each change of one. */
export function followRequests(
  dependencies: ReconcilerDependencies,
  queueName: string,
  check: CheckRequest,
): RunningReconciler {
  const group = dependencies.config.naming.group('certificates');
  const served = findStored(dependencies.registry, group, 'v1', 'certificatesigningrequests');
  if (!served) return idle;
  const { store } = served;
  const queue = dependencies.queue(
    queueName,
    async (name, signal) => {
      const found = store.cache.get(store.keyOf('', name));
      if (found && !found.corruption) return check(found.parse(), { served, namespace: '', name }, signal);
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
