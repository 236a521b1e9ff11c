import type { Revision } from '../machinery/revision.js';
import type { StoreEvent } from '../storage/kv-store.js';

interface Delivery {
  readonly events: readonly StoreEvent[];
  /** The position after all events have been applied. */
  readonly revision: Revision;
}

interface InboxOptions {
  /** Events applied before the event loop continues. The current revision is always completed. */
  readonly sliceEvents: number;
  apply(event: StoreEvent): void;
  /** Called when all events up to this revision have been applied. */
  applied(revision: Revision): void;
  failed(error: unknown): void;
}

/** Events that the store has delivered and the caches have not yet applied. Empty except after bursts. */
export class Inbox {
  private deliveries: Delivery[] = [];
  private done = 0;
  /** True while deliveries are being applied or scheduled. */
  private isBusy = false;
  private generation = 0;

  constructor(private readonly options: InboxOptions) {}

  /** Empties the inbox and returns the generation whose deliveries are accepted from now on. */
  open(): number {
    this.shut();
    return this.generation;
  }

  isOpen(generation: number): boolean {
    return generation === this.generation;
  }

  shut(): void {
    this.generation++;
    this.deliveries = [];
    this.done = 0;
  }

  put(generation: number, events: readonly StoreEvent[], revision: Revision): void {
    if (!this.isOpen(generation)) return;
    this.deliveries.push({ events, revision });
    if (!this.isBusy) this.drain();
  }

  private drain(): void {
    this.isBusy = true;
    try {
      for (let budget = this.options.sliceEvents; this.deliveries.length > 0;) {
        if (budget <= 0) return void setImmediate(() => this.drain());
        budget -= this.applySlice(this.deliveries[0]!, budget);
      }
    } catch (error) {
      this.options.failed(error);
    }
    this.isBusy = false;
  }

  /** Applies about `budget` events, in whole revisions. Returns the number applied. */
  private applySlice(delivery: Delivery, budget: number): number {
    const { events } = delivery;
    const start = this.done;
    while (this.done < events.length) {
      const event = events[this.done]!;
      const { revision } = event;
      if (this.done - start >= budget && this.done > 0 && events[this.done - 1]!.revision !== revision) {
        this.options.applied((revision - 1) as Revision);
        return this.done - start;
      }
      this.options.apply(event);
      this.done++;
    }
    this.deliveries.shift();
    this.done = 0;
    this.options.applied(delivery.revision);
    return Math.max(1, events.length - start);
  }
}
