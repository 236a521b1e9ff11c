import type { APIService, APIServiceCondition } from '../../catalog/types/apiregistration.v1.js';
import { apiregistrationVersion } from '../../modules/apiregistration/apiregistration.resources.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { defineReconciler, idle } from '../reconciler.js';

/**
 * Sets the condition Available of APIServices with a Service to False: this server does not forward requests. An existing
 * condition is kept: it is from a kube-apiserver on the same store, which does.
 */
export const remoteAvailability = defineReconciler({
  name: 'apiservice-remote-availability',
  runs: 'always',
  runsOn: 'every server',
  start({ config, registry, client, clock, queue: makeQueue }) {
    const { group, version } = apiregistrationVersion(config.naming);
    const served = findStored(registry, group, version, 'apiservices');
    if (!served) return idle;
    const queue = makeQueue('apiservice_remote_availability', async (name, signal) => {
      const ref = { served, namespace: '', name };
      const current: APIService | undefined = await client.live(ref, signal);
      if (!current || conditionsAfter(current, '') === current.status?.conditions) return;
      const now = objectTime(clock.now());
      const change = (service: APIService) => ({
        ...service,
        status: { ...service.status, conditions: conditionsAfter(service, now) },
      });
      await client.change(ref, change, {
        subresource: 'status',
        preconditions: { uid: current.metadata.uid },
        signal,
      });
    });
    const end = followNames(served, (_, name) => queue.add(name));
    return {
      async stop() {
        end();
        await queue.stop();
      },
    };
  },
});

/** Returns the same list if nothing has to be added. */
function conditionsAfter({ spec, status }: APIService, now: string): readonly APIServiceCondition[] | undefined {
  const conditions = status?.conditions;
  const isKnown = (conditions ?? []).some(({ type }) => type === 'Available');
  if (spec?.service === undefined || isKnown) return conditions;
  return [...(conditions ?? []), { ...notForwarded, lastTransitionTime: now }];
}

const notForwarded = {
  type: 'Available',
  status: 'False',
  reason: 'NotForwarded',
  message: 'this server does not forward requests to extension API servers',
} as const;
