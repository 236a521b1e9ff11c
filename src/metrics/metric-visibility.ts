import { minorsSince, servedRelease, type Release } from '../config/version.js';
import { family, type MetricFamily, type Sample } from './metric-family.js';

/** Number of releases after which a deprecated metric is hidden, unless --show-hidden-metrics-for-version is set. */
const releasesUntilHidden = 3;

export function isHidden({ deprecatedVersion }: MetricFamily, release: Release = servedRelease): boolean {
  return deprecatedVersion !== undefined && minorsSince(deprecatedVersion, release) >= releasesUntilHidden;
}

/** Returns the help text with a deprecation note after the stability: `[STABLE] (Deprecated from 1.34) Objects …`. */
export function helpOf({ help, deprecatedVersion }: MetricFamily, release: Release = servedRelease): string {
  if (deprecatedVersion === undefined || minorsSince(deprecatedVersion, release) < 0) return help;
  return help.replace(/^(\[[A-Z]+\] )?/, `$1(Deprecated from ${deprecatedVersion}) `);
}

/** Returns the metrics about registered and hidden metrics. */
export function visibilityFamilies(registered: readonly MetricFamily[], hiddenCount: number): MetricFamily[] {
  return [
    family(
      'registered_metrics_total',
      'counter',
      '[BETA] Registered metrics, by stability and by the release that deprecated them.',
      () => countByStability(registered),
    ),
    family(
      'hidden_metrics_total',
      'counter',
      '[BETA] Metrics hidden because they were deprecated several releases ago.',
      () => [{ labels: {}, value: hiddenCount }],
    ),
  ];
}

function countByStability(families: readonly MetricFamily[]): Iterable<Sample> {
  const counts = new Map<string, { labels: Sample['labels']; value: number }>();
  for (const { help, deprecatedVersion = '' } of families) {
    const stability = /^\[([A-Z]+)\]/.exec(help)?.[1];
    if (stability === undefined) continue;
    const labels = { stability_level: stability, deprecated_version: deprecatedVersion };
    const key = Object.values(labels).join(' ');
    const count = counts.get(key) ?? { labels, value: 0 };
    count.value++;
    counts.set(key, count);
  }
  return counts.values();
}
