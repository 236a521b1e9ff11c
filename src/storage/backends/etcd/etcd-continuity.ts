import type { Logger } from '../../../std/logger.js';
import { StorageError } from '../../storage-error.js';

/**
 * Detects that etcd is no longer the one that was read before: it lost its data, was restored from an old snapshot, or
 * a member of another cluster answers. Linearizable answers never go back:
 *
 *   member A answers at revision 500 → every call that is sent later must be answered at 500 or above
 *
 * Until that holds again nothing is read or written. What was derived from the lost history must be read again: the
 * generation changes, which ends all watches.
 */
export class EtcdContinuity {
  /** Changes when the history was found to be another one. */
  generation = 0;
  private highest = 0;
  private cluster = '';
  private isBroken = false;

  constructor(private readonly logger: Logger) {}

  /** The highest revision of all answers. Every call that is sent from now on must be answered at it or above. */
  get seen(): number {
    return this.highest;
  }

  /** Notes a revision that etcd has reported, in a watch too. */
  observe(revision: number): void {
    if (revision > this.highest) this.highest = revision;
  }

  /** Throws 'regressed' if a linearizable answer is older than what had been seen when its call was sent. */
  check(url: string, revision: number, seen: number): void {
    if (revision >= seen) return this.observe(revision);
    throw this.broken(`${url} is at revision ${revision}, but etcd had acknowledged revision ${seen}`, {
      server: url,
      revision,
      seen,
    });
  }

  /**
   * Admits a member that has connected. Throws 'regressed' if it lost what had been seen, or belongs to another cluster
   * than `others`, the members that are in use.
   */
  admit(member: { url: string; revision: number; clusterId: string }, seen: number, others: readonly string[]): void {
    const { url, revision, clusterId } = member;
    this.check(url, revision, seen);
    const isOther = clusterId !== '' && this.cluster !== '' && clusterId !== this.cluster;
    if (isOther && others.length > 0) {
      throw this.broken(`${url} belongs to another etcd cluster (${clusterId}) than ${others.join(', ')}`, {
        server: url,
        clusterId,
      });
    }
    if (isOther) this.replaced(`${url} belongs to a new etcd cluster (${clusterId}); everything is read again`);
    if (clusterId !== '') this.cluster = clusterId;
    if (!this.isBroken) return;
    this.isBroken = false;
    this.logger.info('etcd holds everything again that it had acknowledged; serving it', { server: url, revision });
  }

  /** Reports that the history differs from what a watch had delivered. Returns the error of that watch. */
  replaced(message: string): StorageError {
    this.generation++;
    this.logger.warn('the history of etcd is another one than before; reading everything again', { reason: message });
    return new StorageError('regressed', message);
  }

  private broken(message: string, details: object): StorageError {
    if (!this.isBroken) {
      this.isBroken = true;
      this.generation++;
      this.logger.error(
        'etcd lost acknowledged writes or is another cluster; restore it, or restart this server to serve what it has',
        { ...details, reason: message },
      );
    }
    return new StorageError('regressed', message);
  }
}
