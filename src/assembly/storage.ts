import { defaultCacheLimits, type CacheLimits } from '../cache/cache-limits.js';
import { Feed } from '../cache/feed.js';
import { catalogOf, type Catalog } from '../catalog/catalog.js';
import { StoredProtobuf } from '../codec/protobuf.js';
import { isGateOn } from '../config/feature-gates.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { StoreDependencies } from '../registry/resource-store.js';
import { DeclaredValidation } from '../registry/write/declared-validation.js';
import { ServiceAllocation } from '../service-allocation/service-allocation.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import type { KvStore } from '../storage/kv-store.js';
import type { ValueTransforms } from '../storage/value-transforms.js';
import { GatedFields } from '../typed/gated-fields.js';
import { partOf, type ServerProcess } from '../workers/server-processes.js';

interface Dependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly store: KvStore;
  readonly transforms: ValueTransforms | undefined;
  /** Prefix of all keys: `/registry/`. */
  readonly root: string;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly process: Pick<ServerProcess, 'index' | 'count'>;
}

/** Components that turn the bytes of the store into objects. */
export interface StorageComponents {
  readonly feed: Feed;
  readonly catalog: Catalog;
  readonly declaredValidation: DeclaredValidation;
  readonly storeDependencies: StoreDependencies;
  readonly serviceAllocation: ServiceAllocation;
}

export function makeStorage(dependencies: Dependencies): StorageComponents {
  const { config, registry, store, root, clock, logger } = dependencies;
  const feed = new Feed({ store, root, clock, logger, limits: cacheLimitsOf(dependencies) });
  const catalog = catalogOf(config.naming);
  const declaredValidation = declaredValidationOf(config, logger);
  const storeDependencies = storeDependenciesOf(dependencies, { feed, catalog, declaredValidation });
  const serviceAllocation = new ServiceAllocation({
    registry,
    storeDependencies,
    naming: config.naming,
    addressRanges: config.network.serviceClusterIpRanges,
    nodePorts: config.network.serviceNodePorts,
  });
  return { feed, catalog, declaredValidation, storeDependencies, serviceAllocation };
}

function declaredValidationOf({ naming, featureGates }: ServerConfig, logger: Logger): DeclaredValidation {
  const isEnabled = (gate: string) => featureGates[gate] === true;
  return new DeclaredValidation({
    isOn: isEnabled('DeclarativeValidation'),
    takesOver: isEnabled('DeclarativeValidationTakeover'),
    isEnabled,
    ownResourcePrefix: naming.label(''),
    logger,
  });
}

function storeDependenciesOf(
  { config, store, transforms, root, clock, rng }: Dependencies,
  { feed, catalog, declaredValidation }: Pick<StorageComponents, 'feed' | 'catalog' | 'declaredValidation'>,
): StoreDependencies {
  const { naming, limits } = config;
  return {
    types: catalog,
    protobuf: new StoredProtobuf(() => catalog),
    storageMediaType: config.storage.mediaType === naming.protobufMediaType ? 'protobuf' : 'json',
    declaredValidation,
    featureGates: config.featureGates,
    gatedFields: new GatedFields((gate) => !isGateOn(config.featureGates, gate)),
    naming,
    kv: store,
    transforms,
    describesCorruption: config.featureGates['AllowUnsafeMalformedObjectDeletion'] === true,
    feed,
    root,
    clock,
    rng,
    limits: {
      writersWaitingMax: limits.objectWritersWaitingMax,
      writeTurnMsMax: limits.objectWriteTurnMsMax,
      freshnessTimeoutMs: limits.freshnessWaitMsMax,
      generateNameRetriesMax: 8,
      jsonPatchOperationsMax: limits.jsonPatchOperationsMax,
      requestValuesMax: limits.requestValuesMax,
      historyPageItems: limits.storePageItems,
    },
  };
}

function cacheLimitsOf({ config: { limits }, process }: Pick<Dependencies, 'config' | 'process'>): CacheLimits {
  const { warmBytes } = defaultCacheLimits;
  return {
    ...defaultCacheLimits,
    // The processes of a server share what a single one would keep in memory.
    warmBytes: partOf(warmBytes, process),
    loadPageItems: limits.storePageItems,
    loadPageItemsMax: limits.storePageItems * loadPageGrowthMax,
    historyEventsMax: limits.historyEventsPerResourceMax,
    snapshotRetentionMs: limits.snapshotRetentionMs,
  };
}

/** etcd counts all remaining keys for each page. */
const loadPageGrowthMax = 8;
