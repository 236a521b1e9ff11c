import type { Release } from '../config/version.js';
import type { DeclaredValidation } from '../registry/declared-validation.js';
import type { CacheCounts } from '../cache/cache-counts.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { HealthChecks } from './health-checks.js';
import { single, type Labels, type MetricFamily, type Sample } from './metrics-family.js';
import type { VersionDocument } from './version-document.js';

/** What is known of the caches when somebody asks: nobody counts along. */
export function cacheFamilies(registry: ResourceRegistry): MetricFamily[] {
  const gauge = (
    name: string,
    help: string,
    labelled: (resource: Labels, store: ResourceStore) => { labels: Labels; value: number },
    deprecatedVersion?: Release,
  ): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    ...(deprecatedVersion && { deprecatedVersion }),
    samples: () => storesOf(registry).map((store) => labelled({ ...store.groupResource }, store)),
  });
  const counter = (name: string, help: string, read: (counts: CacheCounts) => number, labels: Labels = {}) => ({
    ...gauge(name, help, (resource, { cache }) => ({ labels: { ...resource, ...labels }, value: read(cache.counts) })),
    type: 'counter' as const,
  });
  const size = ({ cache }: ResourceStore) => cache.snapshot().size;
  return [
    gauge('apiserver_resource_objects', '[ALPHA] Objects that are stored, by resource.', (labels, store) => ({
      labels,
      value: size(store),
    })),
    gauge(
      'apiserver_storage_objects',
      '[STABLE] Objects that are stored, by resource and group in one name.',
      ({ group, resource }, store) => ({
        labels: { resource: group === '' ? resource! : `${resource}.${group}` },
        value: size(store),
      }),
      '1.34',
    ),
    gauge(
      'apiserver_watch_cache_resource_version',
      '[ALPHA] The revision that the cache reflects.',
      (labels, { parts }) => ({
        labels,
        value: parts.feed.position,
      }),
    ),
    gauge('watch_cache_capacity', '[ALPHA] Events that the cache may keep for replay.', (labels, { cache }) => ({
      labels,
      value: cache.historySize.eventsMax,
    })),
    counter(
      'apiserver_watch_cache_events_received_total',
      '[ALPHA] Events of the store that the cache has taken in.',
      ({ events }) => events,
    ),
    counter(
      'apiserver_watch_cache_events_dispatched_total',
      '[ALPHA] Events that were handed on to those watches that they concern.',
      ({ events }) => events,
    ),
    counter(
      'apiserver_watch_cache_initializations_total',
      '[ALPHA] How often the cache was filled from the store.',
      ({ loads }) => loads,
    ),
    counter(
      'apiserver_storage_decode_errors_total',
      '[ALPHA] Stored objects that could not be read, counted as they were loaded and as they changed.',
      ({ unreadable }) => unreadable,
    ),
    {
      ...counter('apiserver_watch_cache_consistent_read_total', '', () => 0),
      help: '[ALPHA] Reads from the cache that first asked the store how far it is.',
      samples: () => storesOf(registry).flatMap(consistentReads),
    },
    counter('apiserver_cache_list_total', '[ALPHA] Lists from the cache.', ({ lists }) => lists.count, { index: '' }),
    counter(
      'apiserver_cache_list_fetched_objects_total',
      '[ALPHA] Objects of the cache that were looked at for lists.',
      ({ lists }) => lists.fetched,
      { index: '' },
    ),
    counter(
      'apiserver_cache_list_returned_objects_total',
      '[ALPHA] Objects that lists from the cache showed.',
      ({ lists }) => lists.returned,
    ),
    counter(
      'apiserver_storage_list_total',
      '[ALPHA] Lists of old states, which the store was asked for.',
      ({ storeLists }) => storeLists.count,
    ),
    counter(
      'apiserver_storage_list_fetched_objects_total',
      '[ALPHA] Objects of the store that were read for lists.',
      ({ storeLists }) => storeLists.fetched,
    ),
    counter(
      'apiserver_storage_list_evaluated_objects_total',
      '[ALPHA] Objects of the store that were held against the selectors of lists.',
      ({ storeLists }) => storeLists.fetched,
    ),
    counter(
      'apiserver_storage_list_returned_objects_total',
      '[ALPHA] Objects that lists from the store showed.',
      ({ storeLists }) => storeLists.returned,
    ),
    gauge('keelson_cache_history_events', 'Events that the cache can replay to watches.', (labels, { cache }) => ({
      labels,
      value: cache.historySize.events,
    })),
    gauge('keelson_cache_history_bytes', 'Bytes that only the history of the cache holds.', (labels, { cache }) => ({
      labels,
      value: cache.historySize.bytes,
    })),
    gauge('keelson_cache_watchers', 'Watches that the cache serves.', (labels, { cache }) => ({
      labels,
      value: cache.watchCount,
    })),
  ];
}

/** Several versions of a resource have one store. */
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

export function buildFamilies({
  major,
  minor,
  emulationMajor,
  emulationMinor,
  minCompatibilityMajor,
  minCompatibilityMinor,
  gitVersion,
  gitCommit,
  gitTreeState,
  buildDate,
  goVersion,
  compiler,
  platform,
}: VersionDocument): MetricFamily[] {
  const labels = {
    major,
    minor,
    git_version: gitVersion,
    git_commit: gitCommit,
    git_tree_state: gitTreeState,
    build_date: buildDate,
    go_version: goVersion,
    compiler,
    platform,
  };
  const versions = {
    binary: `${major}.${minor}`,
    component: 'kube',
    emulation: `${emulationMajor}.${emulationMinor}`,
    min_compat: `${minCompatibilityMajor}.${minCompatibilityMinor}`,
  };
  return [
    {
      name: 'kubernetes_build_info',
      type: 'gauge',
      help: '[BETA] Always 1: the labels tell which build runs.',
      samples: () => [{ labels, value: 1 }],
    },
    {
      name: 'version_info',
      type: 'gauge',
      help: '[ALPHA] Always 1: the labels tell which releases the server is, acts as, and goes with.',
      samples: () => [{ labels: versions, value: 1 }],
    },
  ];
}

/** For /metrics/slis: how the checks went whenever somebody asked for them. */
export function healthFamilies(checks: HealthChecks): MetricFamily[] {
  return [
    {
      name: 'kubernetes_healthcheck',
      type: 'gauge',
      help: '[STABLE] Whether a check passed the last time: 1 or 0.',
      samples: () =>
        Array.from(checks.records(), ({ name, endpoint, lastPassed }) => ({
          labels: { name, type: endpoint },
          value: lastPassed ? 1 : 0,
        })),
    },
    {
      name: 'kubernetes_healthchecks_total',
      type: 'counter',
      help: '[STABLE] How often a check passed and failed.',
      samples: () =>
        [...checks.records()].flatMap(({ name, endpoint, passed, failed }) => [
          { labels: { name, type: endpoint, status: 'success' }, value: passed },
          { labels: { name, type: endpoint, status: 'error' }, value: failed },
        ]),
    },
  ];
}

export function declaredValidationFamilies(validation: DeclaredValidation): MetricFamily[] {
  const help = '[BETA] How often rules that types declare and those that are written by hand did not find the same.';
  return [single('declarative_validation_mismatch_total', 'counter', help, () => validation.mismatches)];
}
