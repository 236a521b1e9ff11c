/** Rates of evictions, in Nodes per second for each zone. */
interface EvictionRates {
  /** --node-eviction-rate */
  readonly normal: number;
  /** --secondary-node-eviction-rate, for a zone with many unhealthy Nodes. */
  readonly reduced: number;
  /** --large-cluster-size-threshold: smaller zones with many unhealthy Nodes evict nothing. */
  readonly largeZoneMin: number;
  /** --unhealthy-zone-threshold: share of Nodes that are not ready. */
  readonly unhealthyShare: number;
}

interface ZoneHealth {
  readonly ready: number;
  readonly unready: number;
}

type ZoneState = 'normal' | 'partly disrupted' | 'disrupted';

function stateOf({ ready, unready }: ZoneHealth, { unhealthyShare }: EvictionRates): ZoneState {
  if (ready === 0 && unready > 0) return 'disrupted';
  return unready > 2 && unready / (unready + ready) >= unhealthyShare ? 'partly disrupted' : 'normal';
}

/**
 * Health of the zones, as in kube-controller-manager: many Nodes that are silent at once are rather a broken network than
 * broken Nodes. If no Node of any zone is ready, all evictions stop.
 */
export class Zones {
  private isHalted = false;

  constructor(private readonly rates: EvictionRates) {}

  /** True while no Node of any zone is ready. */
  get areHalted(): boolean {
    return this.isHalted;
  }

  /** Returns the rate of each zone. */
  update(zones: ReadonlyMap<string, ZoneHealth>): Map<string, number> {
    const states = [...zones].map(([zone, health]) => [zone, health, stateOf(health, this.rates)] as const);
    this.isHalted = states.length > 0 && states.every(([, , state]) => state === 'disrupted');
    return new Map(states.map(([zone, health, state]) => [zone, this.rateOf(health, state)]));
  }

  private rateOf({ ready, unready }: ZoneHealth, state: ZoneState): number {
    const { normal, reduced, largeZoneMin } = this.rates;
    if (this.isHalted) return 0;
    if (state !== 'partly disrupted') return normal;
    return ready + unready > largeZoneMin ? reduced : 0;
  }
}
