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

/** The requests of one FlowSchema with one distinguisher: a user, a namespace, or ''. */
export class Flow {
  private hand: readonly number[] | undefined = undefined;
  private deck: Deck | undefined = undefined;

  constructor(
    readonly schemaName: string,
    readonly distinguisher: string,
    readonly uids: FlowUids,
    readonly series: FlowSeries,
  ) {}

  /** Returns the queues from which the queue of each request is chosen. Dealt once. */
  handOf(deck: Deck): readonly number[] {
    if (this.hand && this.deck === deck) return this.hand;
    this.deck = deck;
    this.hand = dealHand(hashOfFlow(this.schemaName, this.distinguisher), deck.queues, deck.handSize);
    return this.hand;
  }
}
