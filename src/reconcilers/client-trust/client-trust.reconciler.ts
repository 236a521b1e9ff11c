import { every } from '../../std/clock.js';
import { clientTrustName, ensureClientTrust } from '../boot/client-trust.js';
import { followNames } from '../follow.js';
import { defineReconciler } from '../reconciler.js';

/** Interval in which expired certificates are removed. */
const recheckMs = 600_000;

/** Keeps the ConfigMap extension-apiserver-authentication up to date with the certificates and flags of this server. */
export const clientTrustReconciler = defineReconciler({
  name: 'cluster-authentication-trust-controller',
  runs: 'always',
  runsOn: 'every server',
  start({ config, registry, clock, server, queue: makeQueue }) {
    const { naming } = config;
    const system = naming.systemNamespace('system');
    const queue = makeQueue('cluster_authentication_trust', () =>
      ensureClientTrust(registry, naming, server.clientTrust.current(), clock.now()),
    );
    const check = () => queue.add(clientTrustName);
    const ends = [
      followNames(registry.require('', 'v1', 'configmaps'), (namespace, name) => {
        if (name === clientTrustName && namespace === system) check();
      }),
      server.clientTrust.onChange(check),
    ];
    const timer = every(clock, recheckMs, check);
    return {
      async stop() {
        timer.cancel();
        for (const end of ends) end();
        await queue.stop();
      },
    };
  },
});
