import type { JwtMeters } from '../auth/jwt-issuers/jwt-meters.js';
import type { Clock } from '../std/clock.js';
import { Buckets, family, type Labels, type MetricFamily, type Sample } from './metric-family.js';
import { ReloadMetrics, type ReloadResult } from './reload-metrics.js';
import { sha256Label } from './sha256-label.js';

const latencyBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Result = 'success' | 'failure';

interface Fetches {
  readonly lastSeconds: Partial<Record<Result, number>>;
  /** Digest of the last fetched key set. */
  hash?: string;
}

/** Metrics of JSON Web Tokens and of the file that configures their issuers, as in kube-apiserver. */
export class JwtMetrics implements JwtMeters {
  private readonly latencies = new Map<string, Partial<Record<Result, Buckets>>>();
  private readonly fetches = new Map<string, Fetches>();
  private readonly reloads: ReloadMetrics;

  constructor(private readonly clock: Clock) {
    this.reloads = new ReloadMetrics('authentication', clock);
  }

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  tokenChecked(issuer: string, result: Result, beginMs: number): void {
    let ofIssuer = this.latencies.get(issuer);
    if (!ofIssuer) this.latencies.set(issuer, (ofIssuer = {}));
    (ofIssuer[result] ??= new Buckets(latencyBounds)).observe((this.nowMs - beginMs) / 1000);
  }

  keysFetched(issuer: string, body: Buffer | undefined): void {
    let ofIssuer = this.fetches.get(issuer);
    if (!ofIssuer) this.fetches.set(issuer, (ofIssuer = { lastSeconds: {} }));
    ofIssuer.lastSeconds[body ? 'success' : 'failure'] = this.clock.now() / 1000;
    if (body) ofIssuer.hash = sha256Label(body);
  }

  issuerRemoved(issuer: string): void {
    this.latencies.delete(issuer);
    this.fetches.delete(issuer);
  }

  configurationUsed(text: string): void {
    this.reloads.used(text);
  }

  configurationReloaded(result: ReloadResult): void {
    this.reloads.reloaded(result);
  }

  /** `serverId` returns the id of this server: the name of its identity Lease. */
  families(serverId: () => string): MetricFamily[] {
    const server = () => ({ apiserver_id_hash: sha256Label(serverId()) });
    const tokens = 'apiserver_authentication_jwt_authenticator';
    return [
      family(
        `${tokens}_latency_seconds`,
        'histogram',
        '[ALPHA] Time to verify a token that is not cached, in seconds, by issuer and result.',
        () => this.latencySamples(),
      ),
      family(
        `${tokens}_jwks_fetch_last_timestamp_seconds`,
        'gauge',
        '[ALPHA] Time of the last fetch of the keys of an issuer, by issuer and result.',
        () => this.fetchSamples(server()),
      ),
      family(
        `${tokens}_jwks_fetch_last_key_set_info`,
        'gauge',
        '[ALPHA] Hash of the last fetched keys of an issuer.',
        () => this.keySetSamples(server()),
      ),
      ...this.reloads.families(serverId),
    ];
  }

  private *latencySamples(): Iterable<Sample> {
    for (const [issuer, ofIssuer] of this.latencies) {
      for (const [result, buckets] of Object.entries(ofIssuer)) {
        yield* buckets.samples({ result, jwt_issuer_hash: sha256Label(issuer) });
      }
    }
  }

  private *fetchSamples(server: Labels): Iterable<Sample> {
    for (const [issuer, { lastSeconds }] of this.fetches) {
      for (const [result, value] of Object.entries(lastSeconds)) {
        yield { labels: { result, jwt_issuer_hash: sha256Label(issuer), ...server }, value };
      }
    }
  }

  private *keySetSamples(server: Labels): Iterable<Sample> {
    for (const [issuer, { hash }] of this.fetches) {
      if (hash !== undefined) yield { labels: { jwt_issuer_hash: sha256Label(issuer), ...server, hash }, value: 1 };
    }
  }
}
