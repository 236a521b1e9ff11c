import type { KmsObserver } from '../encryption/kms/kms-observer.js';
import type { ObserveConversion } from '../encryption/prefixed-transformer.js';
import type { Clock } from '../std/clock.js';
import { Buckets, family, single, type Labels, type MetricFamily, type Sample } from './metric-family.js';
import { sha256Label } from './sha256-label.js';

interface Conversions {
  ok: number;
  failed: number;
}

interface KeyUse {
  readonly labels: Labels;
  count: number;
  lastSeconds: number;
}

/** As in kube-apiserver: 0.1 ms to 52 s. */
const callBounds = Array.from({ length: 20 }, (_, power) => 0.0001 * 2 ** power);
/** Series of key ids; a plug-in may report any number of them. As in kube-apiserver. */
const keyIdsMax = 100;

/** Metrics of encryption at rest, with the names of kube-apiserver. */
export class EncryptionMetrics {
  private readonly conversions = new Map<string, { readonly labels: Labels; readonly counts: Conversions }>();
  private readonly calls = new Map<string, { readonly labels: Labels; readonly buckets: Buckets }>();
  private readonly keyUses = new Map<string, KeyUse>();
  private readonly reported = new Map<string, { readonly labels: Labels; lastSeconds: number }>();
  private readonly refused = new Map<string, { readonly labels: Labels; count: number }>();
  private readonly cached = new Map<string, number>();
  private misses = 0;

  constructor(private readonly clock: Clock) {}

  /** Returns an observer of the conversions of a resource, which the configuration names. */
  conversionsOf(resource: string): ObserveConversion {
    const byDirection = { from_storage: new Map<string, Conversions>(), to_storage: new Map<string, Conversions>() };
    return (direction, prefix, failed) => {
      let counts = byDirection[direction].get(prefix);
      if (!counts) byDirection[direction].set(prefix, (counts = this.countsOf(resource, direction, prefix)));
      if (failed) counts.failed++;
      else counts.ok++;
    };
  }

  observerOf(provider: string): KmsObserver {
    const labels = { provider_name: provider };
    return {
      called: (method, code, seconds) => {
        const more = { ...labels, method_name: method, grpc_status_code: code };
        found(this.calls, `${provider} ${method} ${code}`, () => ({
          labels: more,
          buckets: new Buckets(callBounds),
        })).buckets.observe(seconds);
      },
      missed: () => void this.misses++,
      keyUsed: (direction, keyId) => {
        const use = found(this.keyUses, `${provider} ${direction} ${keyId}`, () => ({
          labels: { transformation_type: direction, ...labels, key_id_hash: sha256Label(keyId) },
          count: 0,
          lastSeconds: 0,
        }));
        use.count++;
        use.lastSeconds = this.clock.now() / 1000;
      },
      keyIdReported: (keyId) => {
        const more = { ...labels, key_id_hash: sha256Label(keyId) };
        const entry = found(this.reported, `${provider} ${keyId}`, () => ({ labels: more, lastSeconds: 0 }));
        entry.lastSeconds = this.clock.now() / 1000;
      },
      keyIdRefused: (error) => {
        found(this.refused, `${provider} ${error}`, () => ({ labels: { ...labels, error }, count: 0 })).count++;
      },
      keysCached: (count) => void this.cached.set(provider, count),
    };
  }

  /** `serverId` returns the id of this server: the name of its identity Lease. */
  families(serverId: () => string): MetricFamily[] {
    const named = (name: string) => `apiserver_envelope_encryption_${name}`;
    const byServer = <T extends { readonly labels: Labels }>(
      entries: Map<string, T>,
      valueOf: (entry: T) => number,
    ) => {
      const server = { apiserver_id_hash: sha256Label(serverId()) };
      return Array.from(entries.values(), (entry) => ({
        labels: { ...entry.labels, ...server },
        value: valueOf(entry),
      }));
    };
    return [
      family(
        'apiserver_storage_transformation_operations_total',
        'counter',
        '[ALPHA] Conversions of stored values, by resource of the configuration, direction, provider and status.',
        () => this.conversionSamples(),
      ),
      single(
        'apiserver_storage_envelope_transformation_cache_misses_total',
        'counter',
        '[ALPHA] Data encryption keys that a KMS plug-in had to decrypt.',
        () => this.misses,
      ),
      family(
        named('kms_operations_latency_seconds'),
        'histogram',
        '[ALPHA] Duration of calls of KMS plug-ins in seconds, by provider, method and status.',
        () => [...this.calls.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]),
      ),
      family(named('key_id_hash_total'), 'counter', '[ALPHA] Uses of a key id, by direction and provider.', () =>
        byServer(this.keyUses, ({ count }) => count),
      ),
      family(
        named('key_id_hash_last_timestamp_seconds'),
        'gauge',
        '[ALPHA] Time of the last use of a key id, by direction and provider.',
        () => byServer(this.keyUses, ({ lastSeconds }) => lastSeconds),
      ),
      family(
        named('key_id_hash_status_last_timestamp_seconds'),
        'gauge',
        '[ALPHA] Time at which the Status call of a KMS plug-in last returned a key id.',
        () => byServer(this.reported, ({ lastSeconds }) => lastSeconds),
      ),
      family(
        named('invalid_key_id_from_status_total'),
        'counter',
        '[ALPHA] Invalid key ids that Status calls have returned, by error.',
        () => Array.from(this.refused.values(), ({ labels, count: value }) => ({ labels, value })),
      ),
      family(
        named('dek_source_cache_size'),
        'gauge',
        '[ALPHA] Decrypted data encryption keys and seeds in memory, by provider.',
        () => Array.from(this.cached, ([provider, value]) => ({ labels: { provider_name: provider }, value })),
      ),
    ];
  }

  private countsOf(resource: string, direction: string, prefix: string): Conversions {
    const labels = { resource, transformation_type: direction, transformer_prefix: prefix };
    return found(this.conversions, `${resource} ${direction} ${prefix}`, () => ({
      labels,
      counts: { ok: 0, failed: 0 },
    })).counts;
  }

  private *conversionSamples(): Iterable<Sample> {
    for (const { labels, counts } of this.conversions.values()) {
      if (counts.ok > 0) yield { labels: { ...labels, status: 'OK' }, value: counts.ok };
      if (counts.failed > 0) yield { labels: { ...labels, status: 'unknown-non-grpc' }, value: counts.failed };
    }
  }
}

/** Returns the entry, made if it is missing; beyond the limit the oldest is dropped. */
function found<T>(entries: Map<string, T>, key: string, make: () => T): T {
  let entry = entries.get(key);
  if (entry === undefined) {
    if (entries.size >= keyIdsMax) entries.delete(entries.keys().next().value!);
    entries.set(key, (entry = make()));
  }
  return entry;
}
