import { dealHand, hashOfFlow } from './shuffle-sharding.js';
import type { FlowSeries } from './flow-series.js';

interface Deck {
  readonly queues: number;
  readonly handSize: number;
}

/** The uids that a response names: of the FlowSchema and of the PriorityLevelConfiguration. */
interface FlowUids {
  readonly schema: string;
  readonly level: string;
}

/** Bounds on the time that a request is charged with, of which the greater one counts. */
const outlierSeconds = 0.00025;
const outlierFactor = 4;
/** Weight of a request in the usual time of its flow. */
const smoothing = 1 / 8;

/** The requests of one FlowSchema with one distinguisher: a user, a namespace, or ''. */
export class Flow {
  private hand: readonly number[] | undefined = undefined;
  private deck: Deck | undefined = undefined;
  /** Smoothed time for which its requests of one seat use the event loop; 0 before the first one. */
  usualSeconds = 0;
  /** Equal for all objects of one flow: each connection of a user with a certificate has one of its own. */
  readonly key: string;

  constructor(
    readonly schemaName: string,
    readonly distinguisher: string,
    readonly uids: FlowUids,
    readonly series: FlowSeries,
  ) {
    this.key = `${schemaName}\0${distinguisher}`;
  }

  isSame(other: Flow): boolean {
    return this === other || this.key === other.key;
  }

  /**
   * Returns the time that a request of one seat is charged with. A measured time can contain a garbage collection, or
   * work of other requests that continued then: a request that takes much longer than usual is charged with less.
   */
  chargedSeconds(measured: number): number {
    const usual = this.usualSeconds;
    const charged = usual === 0 ? measured : Math.min(measured, Math.max(outlierSeconds, usual * outlierFactor));
    this.usualSeconds = usual === 0 ? charged : usual + (charged - usual) * smoothing;
    return charged;
  }

  /** Returns the queues from which the queue of each request is chosen. Dealt once. */
  handOf(deck: Deck): readonly number[] {
    if (this.hand && this.deck === deck) return this.hand;
    this.deck = deck;
    this.hand = dealHand(hashOfFlow(this.schemaName, this.distinguisher), deck.queues, deck.handSize);
    return this.hand;
  }
}
