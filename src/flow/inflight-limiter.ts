import type { RequestInfo } from '../machinery/request-info.js';
import { privilegedGroup, type UserInfo } from '../machinery/user-info.js';

export interface InflightLimits {
  /** 0 disables the limit. */
  readonly readsMax: number;
  readonly writesMax: number;
  /** Limits of watches and of connections to pods and nodes: in total, and per user. */
  readonly longRunningMax: number;
  readonly longRunningPerUserMax: number;
}

/** `release` must be called once, when the request has ended. */
type InflightVerdict =
  | { readonly isAdmitted: true; readonly release?: () => void }
  | { readonly isAdmitted: false; readonly reason: string };

const longRunningSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

const exempt: InflightVerdict = { isAdmitted: true };
const tooMany: InflightVerdict = { isAdmitted: false, reason: 'Too many requests, please try again later.' };

/**
 * Limits concurrent requests (--max-requests-inflight). Reads and writes have separate limits, so that a flood of one
 * leaves room for the other. Long-running requests are also limited per user, so that one user cannot take all of them.
 * Members of system:masters are exempt, so that an operator can end a flood.
 */
export class InflightLimiter {
  private reads = 0;
  private writes = 0;
  private longRunning = 0;
  private readonly longRunningByUser = new Map<string, number>();
  private readonly admittedRead: InflightVerdict = { isAdmitted: true, release: () => void this.reads-- };
  private readonly admittedWrite: InflightVerdict = { isAdmitted: true, release: () => void this.writes-- };

  constructor(private readonly limits: InflightLimits) {}

  admit(info: RequestInfo, user: UserInfo): InflightVerdict {
    const { verb } = info;
    if (user.groups.includes(privilegedGroup)) return exempt;
    if (verb === 'watch' || verb === 'proxy' || longRunningSubresources.has(info.subresource)) {
      return this.admitLongRunning(user.name);
    }
    if (verb === 'get' || verb === 'list') {
      if (this.limits.readsMax > 0 && this.reads >= this.limits.readsMax) return tooMany;
      this.reads++;
      return this.admittedRead;
    }
    if (this.limits.writesMax > 0 && this.writes >= this.limits.writesMax) return tooMany;
    this.writes++;
    return this.admittedWrite;
  }

  get inflight(): { readonly reads: number; readonly writes: number; readonly longRunning: number } {
    return { reads: this.reads, writes: this.writes, longRunning: this.longRunning };
  }

  private admitLongRunning(userName: string): InflightVerdict {
    const { longRunningMax, longRunningPerUserMax } = this.limits;
    const ofUser = this.longRunningByUser.get(userName) ?? 0;
    if (longRunningPerUserMax > 0 && ofUser >= longRunningPerUserMax) {
      return {
        isAdmitted: false,
        reason: `The user has ${ofUser} watches open, which is the limit; close some first.`,
      };
    }
    if (longRunningMax > 0 && this.longRunning >= longRunningMax) {
      return { isAdmitted: false, reason: 'Too many watches are open on this server, please try again later.' };
    }
    this.longRunning++;
    this.longRunningByUser.set(userName, ofUser + 1);
    return { isAdmitted: true, release: () => this.releaseLongRunning(userName) };
  }

  private releaseLongRunning(userName: string): void {
    this.longRunning--;
    const left = this.longRunningByUser.get(userName)! - 1;
    if (left > 0) this.longRunningByUser.set(userName, left);
    else this.longRunningByUser.delete(userName);
  }
}
