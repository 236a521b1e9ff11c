import { validFromMs, validToMs } from '../../certificates/pem.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import { RetryDelay } from '../node/retry-delay.js';
import type { CertificateFiles, StoredPair } from './certificate-files.js';
import { isExpired, type CertificateSigning } from './certificate-signing.js';
import { satisfies, type CertificateTemplate } from './certificate-template.js';

/** The clock and the names of the certificate are compared at least this often: a clock may be set. */
const checkMsMax = 60_000;
/** A certificate is renewed after 70 to 90 % of its lifetime, so that nodes do not renew together. */
const renewalShareMin = 0.7;
const renewalSharePermille = 200;

interface RotationOptions {
  readonly files: CertificateFiles;
  readonly signing: CertificateSigning;
  /** The subject and names, which may change; rejects while they are unknown. */
  readonly template: () => Promise<CertificateTemplate>;
  readonly purpose: 'client' | 'serving';
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly onRenewed?: (pair: StoredPair) => void;
}

/** Keeps a certificate valid: requests the first one, and a new one before it expires or when its names change. */
export class CertificateRotation {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private deadline: { readonly of: StoredPair['certificate']; readonly atMs: number } | undefined;
  private current: StoredPair | undefined;
  private loggedExpiry: StoredPair | undefined;

  constructor(private readonly options: RotationOptions) {}

  start(): void {
    this.running ??= this.run().catch((error: unknown) => {
      if (this.stopping.signal.aborted) return;
      const { logger, purpose } = this.options;
      logger.error(`the rotation of the ${purpose} certificate ended; restart the agent`, { error });
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('the agent stops'));
    await this.running;
  }

  /** Requests a certificate and resolves when it is written. */
  async renew(): Promise<StoredPair> {
    const { signal } = this.stopping;
    const { files, signing, template, clock, rng, logger, purpose, onRenewed } = this.options;
    await files.checkLink();
    const delay = new RetryDelay(rng, expiredMsMax);
    for (;;) {
      const wanted = await template();
      const key = await files.pendingKey();
      const pem = await signing.certificateFor(wanted, key, signal);
      if (pem === undefined) {
        logger.warn('an issued certificate has already expired; set the clock of this machine', { purpose });
        await files.discardPendingKey();
        await sleep(clock, delay.next(), signal);
        continue;
      }
      const pair = await files.replace(pem, key, clock.now());
      this.current = pair;
      logger.info(`wrote a new ${purpose} certificate`, { file: files.currentPath, expires: pair.leaf.validTo });
      onRenewed?.(pair);
      return pair;
    }
  }

  private async run(): Promise<void> {
    const { clock, files } = this.options;
    const { signal } = this.stopping;
    this.current = await files.current();
    for (;;) {
      if (await this.isDue()) await this.renew();
      const leftMs = this.current ? this.deadlineOf(this.current) - clock.now() : 0;
      await sleep(clock, Math.min(Math.max(leftMs, renewalPauseMs), checkMsMax), signal);
    }
  }

  private async isDue(): Promise<boolean> {
    const { clock, template, logger, purpose } = this.options;
    const pair = this.current;
    if (!pair) return true;
    const nowMs = clock.now();
    if (isExpired(pair.leaf, nowMs) && this.loggedExpiry !== pair) {
      this.loggedExpiry = pair;
      logger.error(`the ${purpose} certificate has expired; the agent requests another`, {
        expired: pair.leaf.validTo,
      });
    }
    if (nowMs >= this.deadlineOf(pair)) return true;
    const wanted = await template().catch(() => undefined);
    return wanted !== undefined && !satisfies(pair.leaf, wanted);
  }

  /**
   * Counts from the time of the file, since signers backdate certificates: otherwise one of a few minutes would be due at
   * once.
   */
  private deadlineOf(pair: StoredPair): number {
    if (this.deadline?.of !== pair.certificate) {
      const endMs = validToMs(pair.leaf);
      const beginMs = Math.min(Math.max(validFromMs(pair.leaf), pair.writtenMs), endMs);
      const share = renewalShareMin + this.options.rng.below(renewalSharePermille + 1) / 1000;
      this.deadline = { of: pair.certificate, atMs: beginMs + (endMs - beginMs) * share };
    }
    return this.deadline.atMs;
  }
}

/** A clock that is wrong does not fill the server with requests. */
const expiredMsMax = 5 * 60_000;
/** The least time between two certificates. */
const renewalPauseMs = 1_000;
