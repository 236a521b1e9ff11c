import { isLongRunning, type RequestInfo } from '../machinery/request-info.js';
import { subresourceOf } from '../registry/definition/resource-definition.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import {
  Buckets,
  family,
  latencyBounds,
  single,
  type Labels,
  type MetricFamily,
  type Sample,
} from './metric-family.js';
import { Series, type RequestOutcome } from './request-series.js';
import {
  bodyVerbs,
  dryRunOf,
  fieldValidationOf,
  isRead,
  knownPaths,
  scopeOf,
  verbNames,
  type FieldValidation,
} from './request-labels.js';

// Buckets up to the largest body that is read.
const bodyBounds = [50_000, 1e5, 2.5e5, 5e5, 1e6, 1.5e6, 2e6, 2.5e6, 3e6];
const validationBounds = latencyBounds.slice(2);
const tooManyRequests = 429;
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/**
 * Counts requests with the labels of kube-apiserver. The number of series is bounded: requests with unknown verbs,
 * resources and paths are counted in one series.
 */
export class RequestMetrics {
  private readonly series = new Map<string, Series>();
  private readonly unknown: Series = this.make({ verb: 'other', scope: '', component: '' }, '');
  private readonly validations = new Map<FieldValidation, Buckets>();
  tlsHandshakeErrors = 0;
  private readsInFlight = 0;
  private writesInFlight = 0;

  constructor(private readonly registry: ResourceRegistry) {
    registry.onChange(() => this.foldGone());
  }

  /** Counts a request as in flight. The result must be passed to end(). */
  begin(info: RequestInfo, contentType: string | undefined): Series | undefined {
    if (isLongRunning(info)) {
      const series = this.seriesOf(info, contentType);
      series.running++;
      return series;
    }
    if (isRead(info)) this.readsInFlight++;
    else this.writesInFlight++;
    return undefined;
  }

  end(info: RequestInfo, contentType: string | undefined, running: Series | undefined, outcome: RequestOutcome): void {
    const series = running ?? this.seriesOf(info, contentType);
    if (running) running.running--;
    else if (isRead(info)) this.readsInFlight--;
    else this.writesInFlight--;
    series.count(outcome.code);
    series.durations.observe(outcome.seconds);
    if ((info.verb === 'get' || info.verb === 'list') && info.isResourceRequest) {
      (series.sizes ??= new Buckets(sizeBounds)).observe(outcome.sentBytes);
    }
    if (outcome.isExpired || outcome.code === tooManyRequests) {
      series.terminations.set(outcome.code, (series.terminations.get(outcome.code) ?? 0) + 1);
    }
    const { receivedBytes } = outcome;
    if (receivedBytes === undefined || !info.isResourceRequest || series === this.unknown) return;
    (series.bodies ??= new Buckets(bodyBounds)).observe(receivedBytes);
    const validation = fieldValidationOf(info);
    if (validation === undefined) return;
    let durations = this.validations.get(validation);
    if (!durations) this.validations.set(validation, (durations = new Buckets(validationBounds)));
    durations.observe(outcome.seconds);
  }

  families(): MetricFamily[] {
    return [...this.finishedFamilies(), ...this.openFamilies()];
  }

  /** Metrics of requests that have ended. */
  private finishedFamilies(): MetricFamily[] {
    return [
      family(
        'apiserver_request_total',
        'counter',
        '[STABLE] Finished requests, by verb, resource, scope and status code.',
        () => this.totals(),
      ),
      family(
        'apiserver_request_duration_seconds',
        'histogram',
        '[STABLE] Time from the head of a request to the end of its response, in seconds.',
        () => this.each(({ durations, labels, dryRun }) => durations.samples({ ...labels, dry_run: dryRun })),
      ),
      family(
        'apiserver_request_sli_duration_seconds',
        'histogram',
        '[ALPHA] Duration of requests in seconds, without watches and connect requests, for service level indicators.',
        () => this.objectives(),
      ),
      family(
        'apiserver_response_sizes',
        'histogram',
        '[STABLE] Size of response bodies of get and list, in bytes.',
        () => this.each(({ sizes, labels }) => sizes?.samples(labels) ?? []),
      ),
      family('apiserver_request_body_size_bytes', 'histogram', '[ALPHA] Size of request bodies, in bytes.', () =>
        this.bodySizes(),
      ),
      family(
        'apiserver_request_terminations_total',
        'counter',
        '[ALPHA] Requests that the server rejected with 429 or ended at their deadline.',
        () =>
          this.each(({ terminations, labels }) =>
            Array.from(terminations, ([code, value]) => ({ labels: { ...labels, code: String(code) }, value })),
          ),
      ),
      family(
        'field_validation_request_duration_seconds',
        'histogram',
        '[ALPHA] Duration of writes in seconds, by fieldValidation.',
        () =>
          [...this.validations].flatMap(([value, durations]) => [...durations.samples({ field_validation: value })]),
      ),
    ];
  }

  /** Metrics of connections, and of requests that have not ended. */
  private openFamilies(): MetricFamily[] {
    return [
      single(
        'apiserver_tls_handshake_errors_total',
        'counter',
        '[ALPHA] Connections whose TLS handshake failed.',
        () => this.tlsHandshakeErrors,
      ),
      family(
        'apiserver_longrunning_requests',
        'gauge',
        '[STABLE] Open long-running requests: watches and connect requests.',
        () =>
          this.each(({ running, labels }) =>
            running > 0 || labels['verb'] === 'WATCH' ? [{ labels, value: running }] : [],
          ),
      ),
      family(
        'apiserver_current_inflight_requests',
        'gauge',
        '[STABLE] Requests in flight, without long-running ones.',
        () => [
          { labels: { request_kind: 'readOnly' }, value: this.readsInFlight },
          { labels: { request_kind: 'mutating' }, value: this.writesInFlight },
        ],
      ),
    ];
  }

  /** Adds the series of resources that are no longer served to the series `unknown`: custom kinds may come and go without end. */
  private foldGone(): void {
    for (const [key, series] of this.series) {
      const { group = '', version = '', resource = '' } = series.labels;
      if (resource === '' || series.running > 0 || this.registry.find(group, version, resource)) continue;
      this.unknown.add(series);
      this.series.delete(key);
    }
  }

  private *each(samplesOf: (series: Series) => Iterable<Sample>): Iterable<Sample> {
    for (const series of [...this.series.values(), this.unknown]) {
      if (series.outcomes.length > 0 || series.running > 0) yield* samplesOf(series);
    }
  }

  private totals(): Iterable<Sample> {
    return this.each(({ outcomes, labels, dryRun }) =>
      outcomes.map(({ code, count }) => ({
        labels: { ...labels, dry_run: dryRun, system_client: '', code: String(code) },
        value: count,
      })),
    );
  }

  /** Yields durations without watches and proxy requests, added up over dry_run. */
  private *objectives(): Iterable<Sample> {
    const sums = new Map<string, { labels: Labels; buckets: Buckets }>();
    for (const { labels, durations, outcomes } of this.series.values()) {
      if (outcomes.length === 0 || labels['verb'] === 'WATCH' || labels['verb'] === 'PROXY') continue;
      const key = Object.values(labels).join(' ');
      let sum = sums.get(key);
      if (!sum) sums.set(key, (sum = { labels, buckets: new Buckets(latencyBounds) }));
      sum.buckets.add(durations);
    }
    for (const { labels, buckets } of sums.values()) yield* buckets.samples(labels);
  }

  /** Yields body sizes by verb and resource, added up over versions, subresources and scopes. */
  private *bodySizes(): Iterable<Sample> {
    const sums = new Map<string, { labels: Labels; buckets: Buckets }>();
    for (const { labels, bodies } of this.series.values()) {
      if (!bodies) continue;
      const { verb = '', group = '', resource = '' } = labels;
      const key = `${verb} ${group}/${resource}`;
      let sum = sums.get(key);
      const own = { group, resource, verb: bodyVerbs.get(verb) ?? verb.toLowerCase() };
      if (!sum) sums.set(key, (sum = { labels: own, buckets: new Buckets(bodyBounds) }));
      sum.buckets.add(bodies);
    }
    for (const { labels, buckets } of sums.values()) yield* buckets.samples(labels);
  }

  private seriesOf(info: RequestInfo, contentType: string | undefined): Series {
    if (!info.isResourceRequest) return this.pathSeries(info);
    const isApply =
      info.verb === 'patch' && contentType !== undefined && contentType.startsWith('application/apply-patch');
    const verb = isApply ? 'apply' : info.verb;
    const dryRun = info.query.raw === '' || isRead(info) ? '' : dryRunOf(info);
    const key = `${verb} ${info.group}/${info.version}/${info.resource}/${info.subresource} ${scopeOf(info)} ${dryRun}`;
    // resourceSeries() does not store unknown resources in the map, which bounds it.
    return this.series.get(key) ?? this.resourceSeries(key, info, verbNames.get(verb) ?? 'other', dryRun);
  }

  private resourceSeries(key: string, info: RequestInfo, verb: string, dryRun: string): Series {
    const served = this.registry.find(info.group, info.version, info.resource);
    const knowsSubresource =
      info.subresource === '' ||
      (served?.type === 'stored' && subresourceOf(served.definition, info.subresource) !== undefined);
    if (!served || !knowsSubresource) return this.unknown;
    const { group, version, resource, subresource } = info;
    const series = this.make(
      { verb, group, version, resource, subresource, scope: scopeOf(info), component: 'apiserver' },
      dryRun,
    );
    this.series.set(key, series);
    return series;
  }

  private pathSeries({ verb, path }: RequestInfo): Series {
    const end = path.indexOf('/', 1);
    const word = end < 0 ? path.slice(1) : path.slice(1, end);
    if (!knownPaths.has(word)) return this.unknown;
    const name = verbNames.get(verb) ?? 'other';
    const key = `${name} /${word}`;
    let series = this.series.get(key);
    if (!series) {
      series = this.make({ verb: name, subresource: `/${word}`, scope: '', component: '' }, '');
      this.series.set(key, series);
    }
    return series;
  }

  private make(labels: { verb: string; scope: string; component: string } & Labels, dryRun: string): Series {
    return new Series({ group: '', version: '', resource: '', subresource: '', ...labels }, dryRun);
  }
}
