import type { EncodedObject } from '../../cache/encoded-object.js';
import { every } from '../../std/clock.js';
import { ensureObject } from '../boot/ensure-object.js';
import { inTime, lastWriteMs } from '../in-time.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { serverEndpoints } from './endpoints.js';
import {
  addressOf,
  hasExpired,
  identityLabel,
  identityLease,
  isReachable,
  leaseNameOf,
  renewedMs,
  renewMs,
  renewalAgeMsMax,
  type Identity,
  type ServerAddress,
} from './identity-lease.js';

/** Renews the identity Lease of this server, and keeps the Endpoints of the Service `kubernetes` with all live servers. */
export const serverIdentity = defineReconciler({
  name: 'server-identity',
  runs: 'always',
  runsOn: 'every server',
  async start(dependencies) {
    const running = new ServerIdentity(dependencies);
    await running.begin();
    return running;
  },
});

class ServerIdentity implements RunningReconciler {
  private readonly leases;
  private readonly identity: Identity;
  private readonly queue;
  /** Time by the clock of this server at which it last saw each Lease renewed. */
  private readonly seenMs = new Map<string, number>();
  private readonly ends: (() => void)[] = [];

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { config, registry, rng, server } = dependencies;
    const { advertiseAddress: ip } = config.serving;
    this.leases = registry.require(config.naming.group('coordination'), 'v1', 'leases');
    this.identity = {
      hostName: server.hostName,
      address: `${ip.includes(':') ? `[${ip}]` : ip}:${server.port}`,
      uuid: rng.uuid(),
    };
    this.queue = dependencies.queue('server_identity', (_, signal) => this.reconcile(signal));
  }

  async begin(): Promise<void> {
    const { clock } = this.dependencies;
    const { store } = this.leases;
    const own = this.ref(this.leaseName);
    await this.renew();
    if (!isReachable(this.ownAddress) && writesEndpoints(this.dependencies)) {
      this.dependencies.logger.warn(
        'the address of this server is not allowed in Endpoints, so Pods cannot reach it; set --advertise-address',
        { address: this.ownAddress.ip },
      );
    }
    const ends = store.cache.observe({
      changed: ({ current, previous }) => {
        const lease = (current ?? previous)!;
        if (!this.isOfServer(lease)) return;
        if (current) this.seenMs.set(lease.key, clock.monotonicMs());
        else this.seenMs.delete(lease.key);
        const isOwn = lease.key === store.keyOf(own.namespace, own.name);
        if (!current || (!previous && !isOwn)) this.queue.add(ownName);
      },
      reset: () => this.seenMs.clear(),
    });
    const timer = every(clock, renewMs, async () => {
      await this.renew();
      this.queue.add(ownName);
    });
    this.ends.push(ends, () => timer.cancel());
    // Through the queue, which logs failures and retries.
    this.queue.add(ownName);
  }

  /** Removes this server from the Endpoints. The last server stays in them, for its next start. */
  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
    const others = this.aliveServers();
    try {
      await inTime(this.dependencies.clock, lastWriteMs, async (signal) => {
        await this.dependencies.client.delete(this.ref(this.leaseName), {}, signal);
        await ensureEndpoints(this.dependencies, others);
      });
    } catch (error) {
      this.dependencies.logger.warn(
        'could not delete the identity Lease of this server; its address stays until it expires',
        {
          lease: this.leaseName,
          error,
        },
      );
    }
  }

  private async reconcile(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.dependencies;
    const own = this.cachedLease(this.leaseName);
    // The Lease was deleted by others.
    if (!own) await this.renew(signal);
    await ensureEndpoints(this.dependencies, [...this.aliveServers(), this.ownAddress].filter(isReachable));
    for (const lease of this.serverLeases()) {
      const object = lease.parse();
      const { resourceVersion } = object.metadata;
      if (resourceVersion === undefined || !hasExpired(object, clock.now())) continue;
      await client.delete(this.ref(lease.attributes.name), { preconditions: { resourceVersion } }, signal);
    }
  }

  private async renew(signal?: AbortSignal): Promise<void> {
    const { client, clock, config, logger } = this.dependencies;
    const wanted = identityLease(config.naming, this.identity, clock.now());
    const { labels, annotations } = wanted.metadata;
    try {
      const ref = this.ref(this.leaseName);
      const renewed = await client.change(
        ref,
        (current) => ({
          ...current,
          metadata: {
            ...current.metadata,
            labels: { ...current.metadata.labels, ...labels },
            annotations: { ...current.metadata.annotations, ...annotations },
          },
          spec: wanted.spec,
        }),
        signal && { signal },
      );
      if (!renewed) await client.create(this.leases, wanted, signal);
    } catch (error) {
      // The store may be unavailable; the next renewal tries again.
      logger.warn('could not renew the identity Lease of this server; retrying', { lease: this.leaseName, error });
    }
  }

  /** Returns the addresses of other servers with a recent renewal. */
  private aliveServers(): ServerAddress[] {
    const { clock, config } = this.dependencies;
    return [...this.serverLeases()].flatMap((lease) => {
      if (lease.attributes.name === this.leaseName) return [];
      const object = lease.parse();
      const seenMs = this.seenMs.get(lease.key);
      const renewalAgeMs = seenMs === undefined ? clock.now() - renewedMs(object) : clock.monotonicMs() - seenMs;
      const address = renewalAgeMs <= renewalAgeMsMax ? addressOf(config.naming, object) : undefined;
      return address ? [address] : [];
    });
  }

  private *serverLeases(): Generator<EncodedObject> {
    const { store } = this.leases;
    for (const lease of store.cache.snapshot().range(store.scopeOf(this.namespace))) {
      if (this.isOfServer(lease)) yield lease;
    }
  }

  private isOfServer({ attributes, corruption }: EncodedObject): boolean {
    const [key, value] = identityLabel(this.dependencies.config.naming);
    return !corruption && attributes.namespace === this.namespace && attributes.labels?.[key] === value;
  }

  private cachedLease(name: string): EncodedObject | undefined {
    const { store } = this.leases;
    return store.cache.get(store.keyOf(this.namespace, name));
  }

  private ref(name: string) {
    return { served: this.leases, namespace: this.namespace, name };
  }

  private get namespace(): string {
    return this.dependencies.config.naming.systemNamespace('system');
  }

  private get leaseName(): string {
    return leaseNameOf(this.identity);
  }

  private get ownAddress(): ServerAddress {
    return { ip: this.dependencies.config.serving.advertiseAddress, port: this.dependencies.server.port };
  }
}

/** The only item of the queue. */
const ownName = 'endpoints';

const writesEndpoints = ({ config }: ReconcilerDependencies) => config.network.endpointReconciler !== 'none';

/** Does nothing without servers, so that the last server stays in the Endpoints. */
async function ensureEndpoints(dependencies: ReconcilerDependencies, servers: readonly ServerAddress[]): Promise<void> {
  if (!writesEndpoints(dependencies) || servers.length === 0) return;
  for (const object of serverEndpoints(dependencies.config.naming, servers))
    await ensureObject(dependencies.registry, object);
}
