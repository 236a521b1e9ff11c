import type { TokenCacheObserver } from '../auth/token-cache-observer.js';
import type { Clock } from '../std/clock.js';
import { Buckets, family, type MetricFamily, type Sample } from './metric-family.js';

// Default buckets of Prometheus, as in kube-apiserver.
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Metrics of the caches of token results. As in kube-apiserver, the cache of all tokens and that of the token webhook
 * are counted together.
 */
export class TokenCacheMetrics implements TokenCacheObserver {
  private readonly hits = new Buckets(bounds);
  private readonly misses = new Buckets(bounds);
  private readonly fetched = { ok: 0, error: 0 };
  private readonly active = { in_flight: 0, blocked: 0 };

  constructor(private readonly clock: Clock) {}

  hit(): void {
    // A hit takes less than a millisecond, which kube-apiserver counts as zero.
    this.hits.observe(0);
  }

  miss(): () => void {
    const beginMs = this.clock.monotonicMs();
    this.active.blocked++;
    return () => {
      this.active.blocked--;
      this.misses.observe((this.clock.monotonicMs() - beginMs) / 1000);
    };
  }

  fetch(): (isOk: boolean) => void {
    this.active.in_flight++;
    return (isOk) => {
      this.active.in_flight--;
      this.fetched[isOk ? 'ok' : 'error']++;
    };
  }

  families(): MetricFamily[] {
    return [
      family(
        'authentication_token_cache_request_total',
        'counter',
        '[ALPHA] Requests with a token, by whether its result was cached.',
        () => [...this.series()].map(([status, { count }]) => ({ labels: { status }, value: count })),
      ),
      family(
        'authentication_token_cache_request_duration_seconds',
        'histogram',
        '[ALPHA] Duration of requests for the result of a token in seconds, by whether it was cached.',
        () => [...this.series()].flatMap(([status, buckets]) => [...buckets.samples({ status })]),
      ),
      family(
        'authentication_token_cache_fetch_total',
        'counter',
        '[ALPHA] Tokens that authenticators were asked for, by success of the call.',
        () => samplesOf(this.fetched),
      ),
      family(
        'authentication_token_cache_active_fetch_count',
        'gauge',
        '[ALPHA] Running calls of authenticators (in_flight), and requests that wait for them (blocked).',
        () => samplesOf(this.active),
      ),
    ];
  }

  private *series(): Iterable<readonly [status: string, buckets: Buckets]> {
    if (this.hits.count > 0) yield ['hit', this.hits];
    if (this.misses.count > 0) yield ['miss', this.misses];
  }
}

function samplesOf(values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([status, value]) => ({ labels: { status }, value }));
}
