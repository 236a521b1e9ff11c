import type { AdmissionObserver, AdmissionStep } from '../admission/admission-chain.js';
import type { AdmissionOperation } from '../admission/admission-operation.js';
import type { Clock } from '../std/clock.js';
import { Buckets, family, type Labels, type MetricFamily, type Sample } from './metric-family.js';

// Buckets of kube-apiserver.
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

interface Unconcerned {
  readonly step: AdmissionStep;
  readonly operation: AdmissionOperation;
  requests: number;
}

interface Series {
  readonly labels: Labels;
  readonly buckets: Buckets;
}

/** The series of a plug-in or of all, at outcomeIndex(). */
type SeriesByOutcome = (Series | undefined)[];

/** Metrics of admission: durations by plug-in and step, and whether the request was rejected. */
export class AdmissionMetrics implements AdmissionObserver {
  private readonly ofPlugins = new Map<string, SeriesByOutcome>();
  private readonly ofSteps: SeriesByOutcome = [];
  /** Requests by the plug-ins that were not called for them, at outcomeIndex(). */
  private readonly unconcerned = new Map<readonly string[], Unconcerned[]>();

  constructor(readonly clock: Clock) {}

  plugin(name: string, step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void {
    this.seriesOf(name, step, operation, isRefused).buckets.observe(seconds);
  }

  unconcernedPlugins(names: readonly string[], step: AdmissionStep, operation: AdmissionOperation): void {
    let counts = this.unconcerned.get(names);
    if (!counts) this.unconcerned.set(names, (counts = []));
    (counts[outcomeIndex(step, operation, false)] ??= { step, operation, requests: 0 }).requests++;
  }

  step(step: AdmissionStep, operation: AdmissionOperation, seconds: number, isRefused: boolean): void {
    const index = outcomeIndex(step, operation, isRefused);
    const series = (this.ofSteps[index] ??= newSeries(labelsOf(step, operation, isRefused)));
    series.buckets.observe(seconds);
  }

  families(): MetricFamily[] {
    return [
      family(
        'apiserver_admission_controller_admission_duration_seconds',
        'histogram',
        '[STABLE] Duration of an admission plug-in in seconds, by operation and result.',
        () => this.samplesOfPlugins(),
      ),
      family(
        'apiserver_admission_step_admission_duration_seconds',
        'histogram',
        '[STABLE] Duration of all admission plug-ins of a step in seconds, by operation and result.',
        () => samplesOf(this.ofSteps),
      ),
    ];
  }

  private samplesOfPlugins(): Sample[] {
    for (const [names, counts] of this.unconcerned) {
      counts.forEach(({ step, operation, requests }) => {
        for (const name of names) this.seriesOf(name, step, operation, false).buckets.observe(0, requests);
      });
    }
    this.unconcerned.clear();
    return [...this.ofPlugins.values()].flatMap(samplesOf);
  }

  private seriesOf(name: string, step: AdmissionStep, operation: AdmissionOperation, isRefused: boolean): Series {
    let ofPlugin = this.ofPlugins.get(name);
    if (!ofPlugin) this.ofPlugins.set(name, (ofPlugin = []));
    const index = outcomeIndex(step, operation, isRefused);
    return (ofPlugin[index] ??= newSeries({ name, ...labelsOf(step, operation, isRefused) }));
  }
}

const labelsOf = (type: AdmissionStep, operation: AdmissionOperation, isRefused: boolean): Labels => ({
  type,
  operation,
  rejected: String(isRefused),
});

const operations: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** Returns a small number: a Pod's write observes some forty plug-ins, and a text as key would be built and hashed each time. */
function outcomeIndex(step: AdmissionStep, operation: AdmissionOperation, isRefused: boolean): number {
  return (operations.indexOf(operation) * 2 + (step === 'admit' ? 0 : 1)) * 2 + (isRefused ? 1 : 0);
}

const newSeries = (labels: Labels): Series => ({ labels, buckets: new Buckets(bounds) });

const samplesOf = (series: SeriesByOutcome): Sample[] =>
  series.flatMap((each) => (each ? [...each.buckets.samples(each.labels)] : []));
