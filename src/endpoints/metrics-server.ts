import type { Release } from '../config/version.js';
import type { DeclaredValidation } from '../registry/declared-validation.js';
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.js';
import type { HealthChecks } from './health-checks.js';
import { single, type Labels, type MetricFamily } from './metrics-family.js';
import type { VersionDocument } from './version-document.js';

/** What is known of the caches when somebody asks: nobody counts along. */
export function cacheFamilies(registry: ResourceRegistry): MetricFamily[] {
  const gauge = (
    name: string,
    help: string,
    labelled: (resource: Labels, served: ServedResource) => { labels: Labels; value: number },
    deprecatedVersion?: Release,
  ): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    ...(deprecatedVersion && { deprecatedVersion }),
    samples: () =>
      registry.storedResources().map((served) => {
        const { group, plural } = served.definition;
        return labelled({ group, resource: plural }, served);
      }),
  });
  const size = ({ store }: ServedResource) => store.cache.snapshot().size;
  return [
    gauge('apiserver_resource_objects', '[ALPHA] Objects that are stored, by resource.', (labels, served) => ({
      labels,
      value: size(served),
    })),
    gauge(
      'apiserver_storage_objects',
      '[STABLE] Objects that are stored, by resource and group in one name.',
      ({ group, resource }, served) => ({
        labels: { resource: group === '' ? resource! : `${resource}.${group}` },
        value: size(served),
      }),
      '1.34',
    ),
    gauge(
      'apiserver_watch_cache_resource_version',
      '[ALPHA] The revision that the cache reflects.',
      (labels, { store }) => ({
        labels,
        value: store.parts.feed.position,
      }),
    ),
    gauge('keelson_cache_history_events', 'Events that the cache can replay to watches.', (labels, { store }) => ({
      labels,
      value: store.cache.historySize.events,
    })),
    gauge('keelson_cache_history_bytes', 'Bytes that only the history of the cache holds.', (labels, { store }) => ({
      labels,
      value: store.cache.historySize.bytes,
    })),
    gauge('keelson_cache_watchers', 'Watches that the cache serves.', (labels, { store }) => ({
      labels,
      value: store.cache.watchCount,
    })),
  ];
}

export function buildFamilies({
  major,
  minor,
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
  return [
    {
      name: 'kubernetes_build_info',
      type: 'gauge',
      help: '[BETA] Always 1: the labels tell which build runs.',
      samples: () => [{ labels, value: 1 }],
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
