/** Signs of life of a node: times that the node writes, only compared with earlier ones, since its clock may be wrong. */
interface LifeSigns {
  /** lastHeartbeatTime of the condition Ready; undefined without the condition. */
  readonly heartbeat: string | undefined;
  /** renewTime of its Lease; undefined without a Lease. */
  readonly renewed: string | undefined;
}

interface Seen extends LifeSigns {
  /** Time of the last new sign, by the clock of this server. */
  readonly signMs: number;
}

interface Patience {
  /** --node-monitor-grace-period */
  readonly graceMs: number;
  /** --node-startup-grace-period, for a Node without the condition Ready. */
  readonly startupGraceMs: number;
}

/** Remembers the last sign of life of each node. Times are monotonic. */
export class NodeHealth {
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly patience: Patience) {}

  /** `ageMs` is the age of the Node: without the condition Ready, its patience begins with its creation. */
  observe(name: string, signs: LifeSigns, { nowMs, ageMs }: { readonly nowMs: number; readonly ageMs: number }): void {
    const before = this.seen.get(name);
    let signMs = before?.signMs ?? nowMs;
    if (!before && signs.heartbeat === undefined) signMs = nowMs - ageMs;
    const isNew = before && signs.heartbeat !== before.heartbeat;
    if (isNew || (signs.renewed !== undefined && signs.renewed !== before?.renewed)) signMs = nowMs;
    this.seen.set(name, { heartbeat: signs.heartbeat, renewed: signs.renewed ?? before?.renewed, signMs });
  }

  isSilent(name: string, nowMs: number): boolean {
    return this.remainingMs(name, nowMs) < 0;
  }

  /** The time until the node is silent, if it gives no further sign; negative if it is. Infinity for an unknown node. */
  remainingMs(name: string, nowMs: number): number {
    const seen = this.seen.get(name);
    if (!seen) return Infinity;
    const { graceMs, startupGraceMs } = this.patience;
    return seen.signMs + (seen.heartbeat === undefined ? startupGraceMs : graceMs) - nowMs;
  }

  /** True if these are the last signs that were seen. */
  hasSeen(name: string, { heartbeat, renewed }: LifeSigns): boolean {
    const seen = this.seen.get(name);
    return seen?.heartbeat === heartbeat && (renewed === undefined || seen?.renewed === renewed);
  }

  forget(name: string): void {
    this.seen.delete(name);
  }

  /** Begins all patience anew: after a time in which no sign could arrive. */
  restart(nowMs: number): void {
    for (const [name, seen] of this.seen) this.seen.set(name, { ...seen, signMs: nowMs });
  }

  names(): Iterable<string> {
    return this.seen.keys();
  }
}
