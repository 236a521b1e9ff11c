import type { EncodedObject } from '../../cache/encoded-object.js';
import { every } from '../../std/clock.js';
import { ensureObject } from '../boot/ensure-object.js';
import { inTime, partingMs } from '../in-time.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
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
  silenceMsMax,
  type Identity,
  type ServerAddress,
} from './identity-lease.js';

/** Tells in a lease that this server is there, and writes all servers that are into the endpoints of their Service. */
export const serverIdentity: Reconciler = {
  name: 'server-identity',
  async start(parts) {
    const running = new ServerIdentity(parts);
    await running.begin();
    return running;
  },
};

class ServerIdentity implements RunningReconciler {
  private readonly leases;
  private readonly identity: Identity;
  private readonly queue;
  /** When each lease was last seen to be renewed, by this server's own clock. */
  private readonly seenMs = new Map<string, number>();
  private readonly ends: (() => void)[] = [];

  constructor(private readonly parts: ReconcilerParts) {
    const { config, registry, rng, server } = parts;
    const { advertiseAddress: ip } = config.serving;
    this.leases = registry.require(config.naming.group('coordination'), 'v1', 'leases');
    this.identity = {
      hostName: server.hostName,
      address: `${ip.includes(':') ? `[${ip}]` : ip}:${server.port}`,
      uuid: rng.uuid(),
    };
    this.queue = parts.queue('server_identity', (_, signal) => this.reconcile(signal));
  }

  async begin(): Promise<void> {
    const { clock } = this.parts;
    const { store } = this.leases;
    const own = this.place(this.leaseName);
    await this.renew();
    if (!isReachable(this.ownAddress) && writesEndpoints(this.parts)) {
      this.parts.logger.warn(
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
    // By the queue, which logs a failure and tries again.
    this.queue.add(ownName);
  }

  /** The others go on without it; what the last one wrote stays for when it comes back. */
  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
    const others = this.aliveServers();
    try {
      await inTime(this.parts.clock, partingMs, async (signal) => {
        await this.parts.client.delete(this.place(this.leaseName), {}, signal);
        await ensureEndpoints(this.parts, others);
      });
    } catch (error) {
      this.parts.logger.warn('could not delete the identity Lease of this server; its address stays until it expires', {
        lease: this.leaseName,
        error,
      });
    }
  }

  private async reconcile(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.parts;
    const own = this.cachedLease(this.leaseName);
    // Somebody took it away.
    if (!own) await this.renew(signal);
    await ensureEndpoints(this.parts, [...this.aliveServers(), this.ownAddress].filter(isReachable));
    for (const lease of this.serverLeases()) {
      const object = lease.parse();
      const { resourceVersion } = object.metadata;
      if (resourceVersion === undefined || !hasExpired(object, clock.now())) continue;
      await client.delete(this.place(lease.attributes.name), { preconditions: { resourceVersion } }, signal);
    }
  }

  private async renew(signal?: AbortSignal): Promise<void> {
    const { client, clock, config, logger } = this.parts;
    const wanted = identityLease(config.naming, this.identity, clock.now());
    const { labels, annotations } = wanted.metadata;
    try {
      const place = this.place(this.leaseName);
      const renewed = await client.change(
        place,
        (current) => ({
          ...current,
          metadata: {
            ...current.metadata,
            labels: { ...current.metadata.labels, ...labels },
            annotations: { ...current.metadata.annotations, ...annotations },
          },
          spec: wanted['spec'],
        }),
        signal && { signal },
      );
      if (!renewed) await client.create(this.leases, wanted, signal);
    } catch (error) {
      // The store may be away for a while; the next turn tries again.
      logger.warn('could not renew the identity Lease of this server; retrying', { lease: this.leaseName, error });
    }
  }

  /** The others that were heard of lately. */
  private aliveServers(): ServerAddress[] {
    const { clock, config } = this.parts;
    return [...this.serverLeases()].flatMap((lease) => {
      if (lease.attributes.name === this.leaseName) return [];
      const object = lease.parse();
      const seenMs = this.seenMs.get(lease.key);
      const silentMs = seenMs === undefined ? clock.now() - renewedMs(object) : clock.monotonicMs() - seenMs;
      const address = silentMs <= silenceMsMax ? addressOf(config.naming, object) : undefined;
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
    const [key, value] = identityLabel(this.parts.config.naming);
    return !corruption && attributes.namespace === this.namespace && attributes.labels?.[key] === value;
  }

  private cachedLease(name: string): EncodedObject | undefined {
    const { store } = this.leases;
    return store.cache.get(store.keyOf(this.namespace, name));
  }

  private place(name: string) {
    return { served: this.leases, namespace: this.namespace, name };
  }

  private get namespace(): string {
    return this.parts.config.naming.systemNamespace('system');
  }

  private get leaseName(): string {
    return leaseNameOf(this.identity);
  }

  private get ownAddress(): ServerAddress {
    return { ip: this.parts.config.serving.advertiseAddress, port: this.parts.server.port };
  }
}

/** The one name in the queue: there is one thing to look at. */
const ownName = 'endpoints';

const writesEndpoints = ({ config }: ReconcilerParts) => config.network.endpointReconciler !== 'none';

/** Without any server the last ones stay, for when they come back. */
async function ensureEndpoints(parts: ReconcilerParts, servers: readonly ServerAddress[]): Promise<void> {
  if (!writesEndpoints(parts) || servers.length === 0) return;
  for (const object of serverEndpoints(parts.config.naming, servers)) await ensureObject(parts.registry, object);
}
