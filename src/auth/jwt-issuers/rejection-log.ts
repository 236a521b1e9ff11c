import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rejection } from './rejection.js';

/** Time between two entries for one issuer and kind, so that forged tokens do not fill the log. */
const intervalMs = 60_000;

interface Entry {
  atMs: number;
  /** Tokens that were rejected since the last entry. */
  count: number;
}

/** Logs rejected tokens. Entries have no claims: tokens of users are personal data. */
export class RejectionLog {
  /** By issuer and kind. */
  private readonly entries = new Map<string, Map<string, Entry>>();

  constructor(private readonly dependencies: { readonly clock: Clock; readonly logger: Logger }) {}

  log(issuer: string, { kind, reason }: Rejection): void {
    const { clock, logger } = this.dependencies;
    const nowMs = clock.monotonicMs();
    let ofIssuer = this.entries.get(issuer);
    if (!ofIssuer) this.entries.set(issuer, (ofIssuer = new Map<string, Entry>()));
    let entry = ofIssuer.get(kind);
    if (!entry) ofIssuer.set(kind, (entry = { atMs: -Infinity, count: 0 }));
    entry.count++;
    if (nowMs - entry.atMs < intervalMs) return;
    logger.warn('tokens of an issuer were rejected (401); compare them with its entry in the configuration', {
      issuer,
      reason,
      tokens: entry.count,
    });
    entry.atMs = nowMs;
    entry.count = 0;
  }

  forget(issuer: string): void {
    this.entries.delete(issuer);
  }
}
