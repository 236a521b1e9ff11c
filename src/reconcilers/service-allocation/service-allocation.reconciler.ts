import { ownerOf } from '../../service-allocation/claims.js';
import { defineReconciler } from '../reconciler.js';
import { ServiceRepair } from './service-repair.js';

/** Interval of kube-apiserver's repair loops. */
const passIntervalMs = 180_000;
/** Collects several deletions of claims into one pass. */
const gatherMs = 1000;

/**
 * Repairs the claims of cluster IPs and node ports after changes by others, and after a start on an older store. The
 * server itself takes and frees them together with their Service.
 */
export const serviceAllocationReconciler = defineReconciler({
  name: 'service-allocation',
  runs: 'always',
  runsOn: 'every server',
  async start({ registry, clock, logger, serviceAllocation, queue: makeQueue }) {
    const services = registry.require('', 'v1', 'services').store;
    const repair = new ServiceRepair({ allocation: serviceAllocation, services, clock, logger });
    const queue = makeQueue('service-allocation', async (_item, signal) => {
      await repair.pass(signal);
      return { againInMs: passIntervalMs };
    });
    const passSoon = () => queue.addAfter('all', gatherMs);
    const end = serviceAllocation.addresses.ledger.store.cache.observe({
      changed({ previous, current }) {
        if (current || !previous || previous.corruption) return;
        const owner = ownerOf(previous.parse());
        // A Service is deleted before its claims, so that this is not the deletion of a Service.
        if (owner && services.cache.get(services.keyOf(owner.namespace, owner.name))) passSoon();
      },
      reset: passSoon,
    });
    // Runs before the server is ready, so that no address is allocated that an older store has no claim of.
    await repair.pass(new AbortController().signal).then(
      () => queue.addAfter('all', passIntervalMs),
      () => queue.add('all'),
    );
    return {
      async stop() {
        end();
        await queue.stop();
      },
    };
  },
});
