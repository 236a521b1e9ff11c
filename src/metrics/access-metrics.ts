import type { Authorization, AuthorizationAttributes, Authorizer } from '../auth/authorizer.js';
import type { Clock } from '../std/clock.js';
import { Buckets, family, type MetricFamily, type Sample } from './metric-family.js';

// As kube-apiserver: 1 ms, 2 ms, 4 ms, …
const durationBounds = Array.from({ length: 15 }, (_, n) => 0.001 * 2 ** n);

type AuthenticationResult = 'success' | 'failure' | 'error';
type AuthorizationResult = 'allowed' | 'denied' | 'no-opinion' | 'error';

/** User names with a series of their own, as in kube-apiserver; others are counted together to bound the labels. */
const knownUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

const resultOf = { allow: 'allowed', deny: 'denied', 'no opinion': 'no-opinion' } as const;

interface Decisions {
  readonly labels: { readonly type: string; readonly name: string };
  allowed: number;
  denied: number;
}

/** Metrics of authentication and authorization. */
export class AccessMetrics {
  private readonly authentications = new Map<AuthenticationResult, Buckets>();
  private readonly authorizations = new Map<AuthorizationResult, Buckets>();
  private readonly users = new Map<string, number>();
  private readonly decisions = new Map<string, Decisions>();

  constructor(private readonly clock: Clock) {}

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  /** Returns the present time, so that the caller need not read the clock. */
  authenticated(result: AuthenticationResult, beginMs: number, userName = ''): number {
    const { nowMs } = this;
    bucketsOf(this.authentications, result).observe((nowMs - beginMs) / 1000);
    if (result !== 'success') return nowMs;
    const name = knownUsers.has(userName) ? userName : userName.includes('@') ? 'email_id' : 'other';
    this.users.set(name, (this.users.get(name) ?? 0) + 1);
    return nowMs;
  }

  /** Returns the present time. */
  authorized(decision: Authorization['decision'] | 'error', beginMs: number): number {
    const result = decision === 'error' ? decision : resultOf[decision];
    const { nowMs } = this;
    bucketsOf(this.authorizations, result).observe((nowMs - beginMs) / 1000);
    return nowMs;
  }

  /**
   * Wraps an authorizer so that its decisions are counted, together with those of others with its type and name: a
   * reloaded configuration replaces authorizers.
   */
  counted(authorizer: Authorizer): Authorizer {
    const decided = this.decisionsOf(authorizer);
    const note = (answer: Authorization): Authorization => {
      if (answer.decision === 'allow') decided.allowed++;
      else if (answer.decision === 'deny') decided.denied++;
      return answer;
    };
    const rulesFor = authorizer.rulesFor?.bind(authorizer);
    const grantFor = authorizer.grantFor?.bind(authorizer);
    return {
      name: authorizer.name,
      ...(authorizer.type !== undefined && { type: authorizer.type }),
      ...(rulesFor && { rulesFor }),
      ...(grantFor && { grantFor }),
      authorize(attributes: AuthorizationAttributes) {
        const answer = authorizer.authorize(attributes);
        return answer instanceof Promise ? answer.then(note) : note(answer);
      },
    };
  }

  families(): MetricFamily[] {
    const { authentications, authorizations } = this;
    return [
      family('authentication_attempts', 'counter', '[ALPHA] Authentication attempts, by result.', () =>
        totals(authentications),
      ),
      family(
        'authentication_duration_seconds',
        'histogram',
        '[ALPHA] Duration of authentication in seconds, by result.',
        () => spread(authentications),
      ),
      family('authenticated_user_requests', 'counter', '[ALPHA] Authenticated requests, by user.', () =>
        Array.from(this.users, ([username, value]) => ({ labels: { username }, value })),
      ),
      family('authorization_attempts_total', 'counter', '[ALPHA] Authorization attempts, by result.', () =>
        totals(authorizations),
      ),
      family(
        'authorization_duration_seconds',
        'histogram',
        '[ALPHA] Duration of authorization in seconds, by result.',
        () => spread(authorizations),
      ),
      family(
        'apiserver_authorization_decisions_total',
        'counter',
        '[ALPHA] Decisions of each authorizer, allowed or denied.',
        () => this.decided(),
      ),
    ];
  }

  private *decided(): Iterable<Sample> {
    for (const { labels, allowed, denied } of this.decisions.values()) {
      if (allowed > 0) yield { labels: { ...labels, decision: 'allowed' }, value: allowed };
      if (denied > 0) yield { labels: { ...labels, decision: 'denied' }, value: denied };
    }
  }

  private decisionsOf({ name, type }: Authorizer): Decisions {
    const labels = type === undefined ? { type: name, name: name.toLowerCase() } : { type, name };
    const key = `${labels.type}/${labels.name}`;
    let decided = this.decisions.get(key);
    if (!decided) this.decisions.set(key, (decided = { labels, allowed: 0, denied: 0 }));
    return decided;
  }
}

function bucketsOf<Key>(map: Map<Key, Buckets>, key: Key): Buckets {
  let found = map.get(key);
  if (!found) map.set(key, (found = new Buckets(durationBounds)));
  return found;
}

const totals = (map: ReadonlyMap<string, Buckets>): Sample[] =>
  Array.from(map, ([result, buckets]) => ({ labels: { result }, value: buckets.count }));

const spread = (map: ReadonlyMap<string, Buckets>): Sample[] =>
  [...map].flatMap(([result, buckets]) => [...buckets.samples({ result })]);
