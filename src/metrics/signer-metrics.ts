import type { SignerObserver } from '../auth/external-signer/external-signer.js';
import { Buckets, family, type MetricFamily, type Sample } from './metric-family.js';

/** As kube-apiserver, in seconds. */
const durationBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of an external signer of service account tokens. Methods and codes are few, so their series are. */
export class SignerMetrics implements SignerObserver {
  private readonly durations = new Map<string, { labels: { method: string; code: string }; buckets: Buckets }>();
  private readonly signatures = new Map<string, number>();
  private readonly fetches = new Map<string, number>();
  private succeeded: { readonly nowSeconds: number; readonly dataSeconds: number } | undefined;

  called(method: string, code: string, seconds: number): void {
    const key = `${method} ${code}`;
    let found = this.durations.get(key);
    if (!found) this.durations.set(key, (found = { labels: { method, code }, buckets: new Buckets(durationBounds) }));
    found.buckets.observe(seconds);
  }

  signed(code: string): void {
    count(this.signatures, code);
  }

  keysFetched(code: string): void {
    count(this.fetches, code);
  }

  keysReplaced(nowSeconds: number, dataSeconds: number): void {
    this.succeeded = { nowSeconds, dataSeconds };
  }

  families(): MetricFamily[] {
    const named = (name: string) => `apiserver_externaljwt_${name}`;
    const { signatures, fetches } = this;
    return [
      family(named('sign_request_total'), 'counter', '[ALPHA] Calls that sign a token, by code.', () =>
        byCode(signatures),
      ),
      family(named('fetch_keys_request_total'), 'counter', '[ALPHA] Calls that fetch public keys, by code.', () =>
        byCode(fetches),
      ),
      family(
        named('fetch_keys_success_timestamp'),
        'gauge',
        '[ALPHA] Unix time of the last successful call that fetched public keys.',
        () => this.timestamp(({ nowSeconds }) => nowSeconds),
      ),
      family(
        named('fetch_keys_data_timestamp'),
        'gauge',
        '[ALPHA] data_timestamp of the last successful call that fetched public keys.',
        () => this.timestamp(({ dataSeconds }) => dataSeconds),
      ),
      family(
        named('request_duration_seconds'),
        'histogram',
        '[ALPHA] Duration of calls of the external signer in seconds, by method and code.',
        () => [...this.durations.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]),
      ),
    ];
  }

  private timestamp(read: (succeeded: NonNullable<SignerMetrics['succeeded']>) => number): Sample[] {
    return this.succeeded ? [{ labels: {}, value: read(this.succeeded) }] : [];
  }
}

function count(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}

const byCode = (counts: ReadonlyMap<string, number>): Sample[] =>
  Array.from(counts, ([code, value]) => ({ labels: { code }, value }));
