import { Counters, Histograms } from './labelled-series.js';
import { family, type Labels, type MetricFamily } from './metric-family.js';

// Buckets of kube-apiserver.
const bounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** Metrics of matchConditions of webhooks and policies, by their name. */
export class MatchConditionMetrics {
  private readonly durations = new Histograms(bounds);
  private readonly errors = new Counters();
  private readonly exclusions = new Counters();

  evaluated(labels: Labels, seconds: number): void {
    this.durations.observe(labels, seconds);
  }

  failed(labels: Labels): void {
    this.errors.add(labels);
  }

  excluded(labels: Labels): void {
    this.exclusions.add(labels);
  }

  families(): MetricFamily[] {
    return [
      family(
        'apiserver_admission_match_condition_evaluation_seconds',
        'histogram',
        '[ALPHA] Duration of the evaluation of matchConditions in seconds, by name and operation.',
        () => this.durations.samples(),
      ),
      family(
        'apiserver_admission_match_condition_evaluation_errors_total',
        'counter',
        '[ALPHA] Evaluations of matchConditions that failed, by name and operation.',
        () => this.errors.samples(),
      ),
      family(
        'apiserver_admission_match_condition_exclusions_total',
        'counter',
        '[ALPHA] Requests that matchConditions exclude, by name and operation.',
        () => this.exclusions.samples(),
      ),
    ];
  }
}
