import type { UnavailableVersions } from '../aggregation/unavailable-versions.js';
import { family, type MetricFamily } from './metric-family.js';

/** Metrics of aggregated API servers, as in kube-apiserver. */
export function aggregationFamilies(unavailable: UnavailableVersions): MetricFamily[] {
  return [
    family(
      'aggregator_unavailable_apiservice',
      'gauge',
      '[ALPHA] 1 for an APIService that is unavailable, by its name.',
      () =>
        [...unavailable.current].map(([name, isUnavailable]) => ({ labels: { name }, value: Number(isUnavailable) })),
    ),
    family(
      'aggregator_unavailable_apiservice_total',
      'counter',
      '[ALPHA] APIServices that became unavailable, by name and reason.',
      () =>
        [...unavailable.changes].flatMap(([name, reasons]) =>
          [...reasons].map(([reason, value]) => ({ labels: { name, reason }, value })),
        ),
    ),
  ];
}
