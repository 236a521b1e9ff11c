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

// Buckets up to the largest body that is read.
const bodyBounds = [50_000, 1e5, 2.5e5, 5e5, 1e6, 1.5e6, 2e6, 2.5e6, 3e6];
const validationBounds = latencyBounds.slice(2);
const tooManyRequests = 429;
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/** First segments of non-resource paths that have a series of their own. */
const knownPaths = new Set([
  '',
  '.well-known',
  'api',
  'apis',
  'debug',
  'flagz',
  'healthz',
  'livez',
  'metrics',
  'openapi',
  'openid',
  'readyz',
  'statusz',
  'version',
]);

// Maps, since a client can send any name as the method of HTTP/2, also `constructor`.
const verbNames: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['apply', 'APPLY'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
  ['proxy', 'PROXY'],
  ['head', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
]);

/** Verbs in the labels of apiserver_request_body_size_bytes. */
const bodyVerbs: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['APPLY', 'patch'],
]);

const fieldValidations = ['Ignore', 'Warn', 'Strict'] as const;
type FieldValidation = (typeof fieldValidations)[number];

export interface RequestOutcome {
  /** 0 if the client closed the connection before anything was sent. */
  readonly code: number;
  readonly seconds: number;
  readonly sentBytes: number;
  /** Undefined if no body was read. */
  readonly receivedBytes?: number | undefined;
  /** True if the deadline of the request ended it. */
  readonly isExpired?: boolean;
}

/** Counts of one combination of labels. */
export class Series {
  readonly durations = new Buckets(latencyBounds);
  sizes: Buckets | undefined = undefined;
  bodies: Buckets | undefined = undefined;
  /** Requests that were rejected with 429 or that timed out, by status code. */
  readonly terminations = new Map<number, number>();
  running = 0;
  /** An array, since a search in a few entries is faster than a map. */
  readonly outcomes: { readonly code: number; count: number }[] = [];

  constructor(
    readonly labels: Labels,
    readonly dryRun: string,
  ) {}

  count(code: number, times = 1): void {
    const { outcomes } = this;
    for (let at = 0; at < outcomes.length; at++) {
      const outcome = outcomes[at]!;
      if (outcome.code === code) {
        outcome.count += times;
        return;
      }
    }
    outcomes.push({ code, count: times });
  }

  /** Adds what is common to all series; sizes of bodies are kept by resource alone. */
  add(other: Series): void {
    this.durations.add(other.durations);
    for (const { code, count } of other.outcomes) this.count(code, count);
    for (const [code, count] of other.terminations) {
      this.terminations.set(code, (this.terminations.get(code) ?? 0) + count);
    }
  }
}

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

function isRead({ verb }: RequestInfo): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch' || verb === 'head' || verb === 'options';
}

function scopeOf({ verb, name, namespace }: RequestInfo): string {
  return name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster';
}

/** Returns the fieldValidation of create, update and patch; undefined for other verbs and for invalid values. */
function fieldValidationOf({ verb, query }: RequestInfo): FieldValidation | undefined {
  if (verb !== 'create' && verb !== 'update' && verb !== 'patch') return undefined;
  const requested = (query.raw === '' ? undefined : query.first('fieldValidation')) || 'Warn';
  return fieldValidations.find((known) => known === requested);
}

function dryRunOf({ query }: RequestInfo): string {
  const values = query.all('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}
