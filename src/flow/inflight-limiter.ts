import type { RequestInfo } from '../machinery/request-info.js';
import { privilegedGroup, type UserInfo } from '../machinery/user-info.js';

export interface InflightLimits {
  /** 0: no bound. */
  readonly readsMax: number;
  readonly writesMax: number;
}

const longRunningSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/**
 * Bounds the requests under way, reads and writes apart, so that one flood leaves room for the other. Watches and
 * connections to pods last as long as their client likes and are not counted; the operator is never locked out.
 */
export class InflightLimiter {
  private reads = 0;
  private writes = 0;
  private readonly endRead = (): void => void this.reads--;
  private readonly endWrite = (): void => void this.writes--;

  constructor(private readonly limits: InflightLimits) {}

  /** What to call, once, when the request has ended; undefined when there is no room for it. */
  admit(info: RequestInfo, user: UserInfo): (() => void) | 'exempt' | undefined {
    const { verb } = info;
    if (verb === 'watch' || verb === 'proxy' || longRunningSubresources.has(info.subresource)) return 'exempt';
    if (user.groups.includes(privilegedGroup)) return 'exempt';
    if (verb === 'get' || verb === 'list') {
      if (this.limits.readsMax > 0 && this.reads >= this.limits.readsMax) return undefined;
      this.reads++;
      return this.endRead;
    }
    if (this.limits.writesMax > 0 && this.writes >= this.limits.writesMax) return undefined;
    this.writes++;
    return this.endWrite;
  }

  get inflight(): { readonly reads: number; readonly writes: number } {
    return { reads: this.reads, writes: this.writes };
  }
}
