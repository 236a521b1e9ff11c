import { defineAuthenticator } from '../../src/index.js';
import { systemClock, type Clock } from '../../src/std/clock.js';

/** Time for which the server keeps the result of a token, and some more. */
const tokenCacheMs = 11_000;

/** Bearer tokens that a server accepts until they are revoked: token `a` is `user-a`, an administrator. */
export class RevocableTokens {
  private readonly accepted: Set<string>;
  private aheadMs = 0;

  constructor(...accepted: readonly string[]) {
    this.accepted = new Set(accepted);
  }

  readonly authenticator = defineAuthenticator({
    name: 'revocable',
    make: () => ({
      reads: 'bearer token',
      authenticate: ({ bearerToken = '' }) => {
        if (!this.accepted.has(bearerToken)) return undefined;
        const groups = ['system:masters', 'system:authenticated'];
        return { user: { name: `user-${bearerToken}`, uid: '', groups, extra: {} } };
      },
    }),
  });

  /** Clock for the server, which advance() sets forward. */
  readonly clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + this.aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + this.aheadMs,
  };

  advance(ms: number): void {
    this.aheadMs += ms;
  }

  accept(...tokens: readonly string[]): void {
    for (const token of tokens) this.accepted.add(token);
  }

  /** Revokes a token and lets the server forget its result. */
  revoke(token: string): void {
    this.accepted.delete(token);
    this.advance(tokenCacheMs);
  }
}
