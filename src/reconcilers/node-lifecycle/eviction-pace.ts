import type { Clock, Timer } from '../../std/clock.js';

interface Zone {
  readonly waiting: Set<string>;
  rate: number;
  /** Part of the next grant that has been saved up, at most 1, and when that was computed. */
  saved: number;
  atMs: number;
  timer: Timer | undefined;
}

/** Grants evictions to Nodes of one zone one after another, at the rate of the zone. */
export class EvictionPace {
  private readonly zones = new Map<string, Zone>();
  private readonly grants = new Set<string>();

  constructor(
    private readonly clock: Clock,
    private readonly granted: (name: string) => void,
  ) {}

  /** Sets the rates of all zones. A zone without a rate grants nothing. */
  setRates(rates: ReadonlyMap<string, number>): void {
    for (const name of this.zones.keys()) if (!rates.has(name)) this.setRate(name, 0);
    for (const [name, rate] of rates) this.setRate(name, rate);
  }

  /** Asks for the eviction of a Node; `granted` is called with its name, once. */
  request(zone: string, name: string): void {
    if (this.grants.has(name)) return;
    const { waiting } = this.zoneOf(zone);
    if (waiting.has(name)) return;
    waiting.add(name);
    this.grantNext(this.zoneOf(zone));
  }

  isGranted(name: string): boolean {
    return this.grants.has(name);
  }

  withdraw(name: string): void {
    this.grants.delete(name);
    for (const { waiting } of this.zones.values()) waiting.delete(name);
  }

  withdrawAll(): void {
    this.grants.clear();
    for (const { waiting } of this.zones.values()) waiting.clear();
  }

  stop(): void {
    for (const { timer } of this.zones.values()) timer?.cancel();
    this.zones.clear();
  }

  private setRate(name: string, rate: number): void {
    const zone = this.zoneOf(name);
    if (zone.rate === rate) return;
    this.save(zone);
    zone.rate = rate;
    this.grantNext(zone);
  }

  private zoneOf(name: string): Zone {
    let zone = this.zones.get(name);
    if (!zone) {
      zone = { waiting: new Set(), rate: 0, saved: 1, atMs: this.clock.monotonicMs(), timer: undefined };
      this.zones.set(name, zone);
    }
    return zone;
  }

  private save(zone: Zone): void {
    const nowMs = this.clock.monotonicMs();
    zone.saved = Math.min(1, zone.saved + ((nowMs - zone.atMs) / 1000) * zone.rate);
    zone.atMs = nowMs;
  }

  private grantNext(zone: Zone): void {
    zone.timer?.cancel();
    zone.timer = undefined;
    if (zone.rate <= 0) return;
    this.save(zone);
    // Rounding of the time must not delay a grant by another timer.
    const [next] = zone.waiting;
    if (next !== undefined && zone.saved > 1 - 1e-6) {
      zone.saved = 0;
      zone.waiting.delete(next);
      this.grants.add(next);
      this.granted(next);
    }
    if (zone.waiting.size === 0) return;
    const waitMs = ((1 - zone.saved) / zone.rate) * 1000;
    zone.timer = this.clock.after(Math.max(1, Math.ceil(waitMs)), () => this.grantNext(zone));
  }
}
