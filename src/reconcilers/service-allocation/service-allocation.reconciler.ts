import { ownerOf } from '../../service-allocation/claims.js';
import type { ServiceAllocation } from '../../service-allocation/service-allocation.js';
import type { Reconciler } from '../reconciler.js';
import { ServiceRepair } from './service-repair.js';

/** As often as the reference looks. */
const passIntervalMs = 180_000;
/** A claim that somebody deletes is made again soon; others may go with it. */
const gatherMs = 1000;

/**
 * Addresses and node ports are taken and given back with their services. What others do to the objects that say so, or
 * have done before this server came, is put right here.
 */
export function serviceAllocation(allocation: ServiceAllocation): Reconciler {
  return {
    name: 'service-allocation',
    async start({ registry, clock, logger, queue: makeQueue }) {
      const services = registry.require('', 'v1', 'services').store;
      const repair = new ServiceRepair({ allocation, services, clock, logger });
      const queue = makeQueue('service-allocation', async (_item, signal) => {
        await repair.pass(signal);
        return { againInMs: passIntervalMs };
      });
      const look = () => queue.addAfter('all', gatherMs);
      const ends = [allocation.addresses.ledger].map(({ store: { cache } }) =>
        cache.observe({
          changed({ previous, current }) {
            if (current || !previous || previous.corruption) return;
            const owner = ownerOf(previous.parse());
            // The service is gone before its claims are.
            if (owner && services.cache.get(services.keyOf(owner.namespace, owner.name))) look();
          },
          reset: look,
        }),
      );
      // Before the server is ready, so that nothing is given away that an older store has no claim of.
      await repair.pass(new AbortController().signal).then(
        () => queue.addAfter('all', passIntervalMs),
        () => queue.add('all'),
      );
      return {
        async stop() {
          for (const end of ends) end();
          await queue.stop();
        },
      };
    },
  };
}
