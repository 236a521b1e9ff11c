import type { Release } from '../config/version.js';
import type { CacheCounts } from '../cache/cache-counts.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import { family, type Labels, type MetricFamily, type Sample } from './metric-family.js';

/** Returns metrics of the watch caches, computed at scrape time; the hot path updates nothing. */
export function cacheFamilies(registry: ResourceRegistry): MetricFamily[] {
  const perResource = familiesOf(registry);
  return [
    ...sizeFamilies(perResource),
    ...eventFamilies(perResource),
    consistentReadFamily(registry),
    ...listFamilies(perResource),
    ...historyFamilies(perResource),
  ];
}

/** Functions that make a family with one sample per resource. */
interface PerResource {
  readonly gauge: (
    name: string,
    help: string,
    sampleOf: (resource: Labels, store: ResourceStore) => Sample,
    deprecatedVersion?: Release,
  ) => MetricFamily;
  readonly counter: (
    name: string,
    help: string,
    read: (counts: CacheCounts) => number,
    labels?: Labels,
  ) => MetricFamily;
}

function familiesOf(registry: ResourceRegistry): PerResource {
  const gauge: PerResource['gauge'] = (name, help, sampleOf, deprecatedVersion) => ({
    name,
    help,
    type: 'gauge',
    ...(deprecatedVersion && { deprecatedVersion }),
    samples: () => storesOf(registry).map((store) => sampleOf({ ...store.groupResource }, store)),
  });
  return {
    gauge,
    counter: (name, help, read, labels = {}) => ({
      ...gauge(name, help, (resource, { cache }) => ({
        labels: { ...resource, ...labels },
        value: read(cache.counts),
      })),
      type: 'counter',
    }),
  };
}

/** Objects in the caches, the revision that they have reached, and their capacity. */
function sizeFamilies({ gauge }: PerResource): MetricFamily[] {
  const size = ({ cache }: ResourceStore) => cache.snapshot().size;
  return [
    gauge('apiserver_resource_objects', '[ALPHA] Stored objects, by resource.', (labels, store) => ({
      labels,
      value: size(store),
    })),
    gauge(
      'apiserver_storage_objects',
      '[STABLE] Stored objects, by resource and group in one label.',
      ({ group, resource }, store) => ({
        labels: { resource: group === '' ? resource! : `${resource}.${group}` },
        value: size(store),
      }),
      '1.34',
    ),
    gauge(
      'apiserver_watch_cache_resource_version',
      '[ALPHA] Resource version that the cache has reached.',
      (labels, { dependencies }) => ({
        labels,
        value: dependencies.feed.position,
      }),
    ),
    gauge(
      'watch_cache_capacity',
      '[ALPHA] Maximum number of events that the cache keeps for replay.',
      (labels, { cache }) => ({
        labels,
        value: cache.historySize.eventsMax,
      }),
    ),
  ];
}

/** Events and objects from the store. */
function eventFamilies({ counter }: PerResource): MetricFamily[] {
  return [
    counter(
      'apiserver_watch_cache_events_received_total',
      '[ALPHA] Events that the cache received from the store.',
      ({ events }) => events,
    ),
    counter(
      'apiserver_watch_cache_events_dispatched_total',
      '[ALPHA] Events that the cache dispatched to watches.',
      ({ events }) => events,
    ),
    counter(
      'apiserver_watch_cache_initializations_total',
      '[ALPHA] Number of times that the cache was filled from the store.',
      ({ loads }) => loads,
    ),
    counter(
      'apiserver_storage_decode_errors_total',
      '[ALPHA] Stored objects that could not be decoded, counted on load and on change.',
      ({ unreadable }) => unreadable,
    ),
  ];
}

function consistentReadFamily(registry: ResourceRegistry): MetricFamily {
  return family(
    'apiserver_watch_cache_consistent_read_total',
    'counter',
    '[ALPHA] Consistent reads from the cache, which wait for the revision of the store.',
    () => storesOf(registry).flatMap(consistentReads),
  );
}

/** Lists from the caches and from the store. */
function listFamilies({ counter }: PerResource): MetricFamily[] {
  return [
    counter('apiserver_cache_list_total', '[ALPHA] Lists served from the cache.', ({ lists }) => lists.count, {
      index: '',
    }),
    counter(
      'apiserver_cache_list_fetched_objects_total',
      '[ALPHA] Objects read from the cache for lists.',
      ({ lists }) => lists.fetched,
      { index: '' },
    ),
    counter(
      'apiserver_cache_list_returned_objects_total',
      '[ALPHA] Objects returned by lists from the cache.',
      ({ lists }) => lists.returned,
    ),
    counter(
      'apiserver_storage_list_total',
      '[ALPHA] Lists served from the store: those of an old resource version.',
      ({ storeLists }) => storeLists.count,
    ),
    counter(
      'apiserver_storage_list_fetched_objects_total',
      '[ALPHA] Objects read from the store for lists.',
      ({ storeLists }) => storeLists.fetched,
    ),
    counter(
      'apiserver_storage_list_evaluated_objects_total',
      '[ALPHA] Objects from the store that were matched against the selectors of lists.',
      ({ storeLists }) => storeLists.fetched,
    ),
    counter(
      'apiserver_storage_list_returned_objects_total',
      '[ALPHA] Objects returned by lists from the store.',
      ({ storeLists }) => storeLists.returned,
    ),
  ];
}

/** Histories of the caches, and the watches that read them. */
function historyFamilies({ gauge }: PerResource): MetricFamily[] {
  return [
    gauge(
      'keelson_cache_history_events',
      'Events in the history of the cache, which can be replayed to watches.',
      (labels, { cache }) => ({
        labels,
        value: cache.historySize.events,
      }),
    ),
    gauge(
      'keelson_cache_history_bytes',
      'Memory that only the history of the cache references, in bytes.',
      (labels, { cache }) => ({
        labels,
        value: cache.historySize.bytes,
      }),
    ),
    gauge('keelson_cache_watchers', 'Open watches of the cache.', (labels, { cache }) => ({
      labels,
      value: cache.watchCount,
    })),
  ];
}

/** Returns the stores, each once: all versions of a resource share one. */
function storesOf(registry: ResourceRegistry): ResourceStore[] {
  return [...new Set(registry.storedResources().map(({ store }) => store))];
}

function consistentReads({ groupResource, cache }: ResourceStore): Sample[] {
  const labels = { ...groupResource, fallback: 'false' };
  const { consistentReads, staleReads } = cache.counts;
  return [
    ...(consistentReads > 0 ? [{ labels: { ...labels, success: 'true' }, value: consistentReads }] : []),
    ...(staleReads > 0 ? [{ labels: { ...labels, success: 'false' }, value: staleReads }] : []),
  ];
}
