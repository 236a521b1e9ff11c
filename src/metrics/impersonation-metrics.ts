import type { ImpersonationObserver } from '../auth/constrained-impersonation.js';
import { Buckets, family, type MetricFamily, type Sample } from './metric-family.js';

// As kube-apiserver: 1 ms, 2 ms, 4 ms, …
const durationBounds = Array.from({ length: 15 }, (_, n) => 0.001 * 2 ** n);

interface Series {
  readonly labels: { readonly mode: string; readonly decision: string };
  readonly buckets: Buckets;
}

/** Metrics of impersonation by mode and decision, which are few. */
export class ImpersonationMetrics implements ImpersonationObserver {
  private readonly attempts = new Map<string, Series>();
  private readonly checks = new Map<string, Series>();

  attempted(mode: string, decision: string, seconds: number): void {
    observe(this.attempts, mode, decision, seconds);
  }

  authorized(mode: string, decision: string, seconds: number): void {
    observe(this.checks, mode, decision, seconds);
  }

  families(): MetricFamily[] {
    const { attempts, checks } = this;
    const named = (name: string) => `apiserver_impersonation_${name}`;
    return [
      family(named('attempts_total'), 'counter', '[ALPHA] Attempts to impersonate, by mode and decision.', () =>
        totals(attempts),
      ),
      family(
        named('attempts_duration_seconds'),
        'histogram',
        '[ALPHA] Duration of attempts to impersonate in seconds, by mode and decision.',
        () => spread(attempts),
      ),
      family(
        named('authorization_attempts_total'),
        'counter',
        '[ALPHA] Authorization checks of impersonation, by mode and decision.',
        () => totals(checks),
      ),
      family(
        named('authorization_attempts_duration_seconds'),
        'histogram',
        '[ALPHA] Duration of authorization checks of impersonation in seconds, by mode and decision.',
        () => spread(checks),
      ),
    ];
  }
}

function observe(all: Map<string, Series>, mode: string, decision: string, seconds: number): void {
  const key = `${mode} ${decision}`;
  let found = all.get(key);
  if (!found) all.set(key, (found = { labels: { mode, decision }, buckets: new Buckets(durationBounds) }));
  found.buckets.observe(seconds);
}

const totals = (all: ReadonlyMap<string, Series>): Sample[] =>
  Array.from(all.values(), ({ labels, buckets }) => ({ labels, value: buckets.count }));

const spread = (all: ReadonlyMap<string, Series>): Sample[] =>
  [...all.values()].flatMap(({ labels, buckets }) => [...buckets.samples(labels)]);
