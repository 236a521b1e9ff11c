import { asFields, asItems, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { apiregistrationVersion } from '../../modules/apiregistration/apiregistration.resources.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { followNames } from '../follow.js';
import type { Reconciler } from '../reconciler.js';

/**
 * Tells users of an APIService with a Service behind it that it is not available: this server does not forward requests.
 * A condition that is there stays: a kube-apiserver on the same store, which does forward them, knows better.
 */
export const remoteAvailability: Reconciler = {
  name: 'apiservice-remote-availability',
  start({ config, registry, client, clock, queue: makeQueue }) {
    const { group, version } = apiregistrationVersion(config.naming);
    const served = registry.find(group, version, 'apiservices');
    if (served?.type !== 'stored') return { stop: async () => undefined };
    const queue = makeQueue('apiservice_remote_availability', async (name, signal) => {
      const place = { served, namespace: '', name };
      const current = await client.live(place, signal);
      if (!current || conditionsAfter(current, '') === conditionsOf(current)) return;
      const now = objectTime(clock.now());
      const change = (it: KubeObject) => ({
        ...it,
        status: { ...asFields(it['status']), conditions: conditionsAfter(it, now) },
      });
      await client.change(place, change, {
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
};

function conditionsOf(service: KubeObject): readonly Fields[] | undefined {
  return asFields(service['status'])['conditions'] as readonly Fields[] | undefined;
}

/** The same list where nothing is to be said. */
function conditionsAfter(service: KubeObject, now: string): readonly Fields[] | undefined {
  const conditions = conditionsOf(service);
  const isRemote = isSet(asFields(service['spec'])['service']);
  const known = asItems(conditions).some(({ type }) => type === 'Available');
  return isRemote && !known ? [...asItems(conditions), { ...notForwarded, lastTransitionTime: now }] : conditions;
}

const notForwarded = {
  type: 'Available',
  status: 'False',
  reason: 'NotForwarded',
  message: 'this server does not forward requests to extension API servers',
} as const;
