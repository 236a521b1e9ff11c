import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import type { AgentDependencies } from '../agent-dependencies.js';
import { readHostAmounts } from './host-amounts.js';
import { readHostFacts } from './host-facts.js';
import { nodeAddresses } from './node-addresses.js';
import { NodeLease } from './node-lease.js';
import { NodeLoop } from './node-loop.js';
import { nodeSettings } from './node-settings.js';
import type { RuntimeInformation } from './runtime-information.js';
import { StatusObserver } from './status-observer.js';

interface AgentNodeOptions extends AgentDependencies {
  readonly client: KubeconfigClient;
  readonly runtime: RuntimeInformation;
  /** Port of the HTTPS server. */
  readonly port: number;
}

/**
 * Registers the Node of this machine, and keeps its Lease and its status up to date until the agent stops. The server
 * finds out by itself that a stopped node is silent.
 */
export async function startNode(dependencies: AgentNodeOptions): Promise<void> {
  const settings = nodeSettings(dependencies.options, dependencies.port);
  const facts = await readHostFacts();
  const observer = new StatusObserver({
    ...dependencies,
    settings,
    host: {
      facts,
      amounts: () => readHostAmounts(settings.rootDirectory),
      addresses: () => nodeAddresses(settings),
    },
  });
  const node = new NodeLoop({ ...dependencies, settings, observer, facts });
  const lease = new NodeLease({ ...dependencies, settings, ownerUid: () => node.uid });
  node.start();
  lease.start();
  dependencies.undo.add(async () => {
    await Promise.all([lease.stop(), node.stop()]);
  });
}
