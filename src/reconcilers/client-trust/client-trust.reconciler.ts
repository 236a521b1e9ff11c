import { every } from '../../std/clock.js';
import { clientTrustName, ensureClientTrust } from '../boot/client-trust.js';
import { followNames } from '../follow.js';
import type { Reconciler } from '../reconciler.js';

/** Certificates that have expired are taken out in time. */
const lookAgainMs = 600_000;

/** Keeps the ConfigMap extension-apiserver-authentication as the certificates and flags of this server say. */
export const clientTrustReconciler: Reconciler = {
  name: 'cluster-authentication-trust-controller',
  start({ config, registry, clock, server, queue: makeQueue }) {
    const { naming } = config;
    const system = naming.systemNamespace('system');
    const queue = makeQueue('cluster_authentication_trust', () =>
      ensureClientTrust(registry, naming, server.clientTrust.current(), clock.now()),
    );
    const look = () => queue.add(clientTrustName);
    const ends = [
      followNames(registry.require('', 'v1', 'configmaps'), (namespace, name) => {
        if (name === clientTrustName && namespace === system) look();
      }),
      server.clientTrust.onChange(look),
    ];
    const timer = every(clock, lookAgainMs, look);
    return {
      async stop() {
        timer.cancel();
        for (const end of ends) end();
        await queue.stop();
      },
    };
  },
};
