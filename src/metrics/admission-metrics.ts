import type { AdmissionObserver, AdmissionStep } from '../admission/admission-chain.js';
import type { AdmissionOperation } from '../admission/admission-operation.js';
import type { Clock } from '../std/clock.js';
import { Buckets, family, type Labels, type MetricFamily, type Sample } from './metric-family.js';

// Buckets of kube-apiserver.
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

interface Series {
  readonly labels: Labels;
  readonly buckets: Buckets;
}

/** Metrics of admission: durations by plug-in and step, and whether the request was rejected. */
export class AdmissionMetrics implements AdmissionObserver {
  private readonly ofPlugins = new Map<string, Series>();
  private readonly ofSteps = new Map<string, Series>();

  constructor(readonly clock: Clock) {}

  plugin(name: string, step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void {
    const key = `${name} ${step} ${operation} ${isRefused}`;
    observe(this.ofPlugins, key, seconds, () => ({ name, ...labelsOf(step, operation, isRefused) }));
  }

  step(step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void {
    const key = `${step} ${operation} ${isRefused}`;
    observe(this.ofSteps, key, seconds, () => labelsOf(step, operation, isRefused));
  }

  families(): MetricFamily[] {
    return [
      family(
        'apiserver_admission_controller_admission_duration_seconds',
        'histogram',
        '[STABLE] Duration of an admission plug-in in seconds, by operation and result.',
        () => samplesOf(this.ofPlugins),
      ),
      family(
        'apiserver_admission_step_admission_duration_seconds',
        'histogram',
        '[STABLE] Duration of all admission plug-ins of a step in seconds, by operation and result.',
        () => samplesOf(this.ofSteps),
      ),
    ];
  }
}

const labelsOf = (type: AdmissionStep, operation: AdmissionOperation, isRefused: boolean): Labels => ({
  type,
  operation,
  rejected: String(isRefused),
});

function observe(series: Map<string, Series>, key: string, seconds: number, labels: () => Labels): void {
  let found = series.get(key);
  if (!found) series.set(key, (found = { labels: labels(), buckets: new Buckets(bounds) }));
  found.buckets.observe(seconds);
}

const samplesOf = (series: ReadonlyMap<string, Series>): Sample[] =>
  [...series.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]);
