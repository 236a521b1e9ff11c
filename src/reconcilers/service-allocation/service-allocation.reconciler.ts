import { serviceRefOf } from '../../service-allocation/ip-addresses.js';
import { defineReconciler } from '../reconciler.js';
import { ServiceRepair } from './service-repair.js';

/** Interval of kube-apiserver's repair loops. */
const passIntervalMs = 180_000;
/** Collects several deletions of IPAddresses into one pass. */
const gatherMs = 1000;

/**
 * Repairs the allocations of cluster IPs and node ports after changes by others, and after a start on an older store. The
 * server itself allocates and releases them together with their Service.
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
        const service = serviceRefOf(previous.parse());
        // A Service is deleted before its IPAddresses, so that this is not the deletion of a Service.
        if (service && services.cache.get(services.keyOf(service.namespace, service.name))) passSoon();
      },
      reset: passSoon,
    });
    // Runs before the server is ready: a Service of an older store may have an address without an IPAddress.
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
