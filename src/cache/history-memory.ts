/** A history whose memory is limited together with that of others. */
export interface LimitedHistory {
  readonly bytesUsed: number;
  /** False if only the last event is left. */
  readonly canDrop: boolean;
  /** Drops the oldest events until that many bytes are free. */
  dropOldest(bytes: number): void;
}

/** Part of the limit that is freed at once, so that the largest history is not searched for with every event. */
const freedPart = 1 / 16;

/** The memory of the histories of all resources. Beyond the limit the largest history drops its oldest events. */
export class HistoryMemory {
  private readonly histories = new Set<LimitedHistory>();
  private bytes = 0;

  constructor(private readonly bytesMax: number) {}

  add(history: LimitedHistory): void {
    this.histories.add(history);
  }

  remove(history: LimitedHistory): void {
    if (this.histories.delete(history)) this.bytes -= history.bytesUsed;
  }

  hasRoomFor(bytes: number): boolean {
    return this.bytes + bytes < this.bytesMax;
  }

  /** Accounts for memory that a history has added, or freed if negative. */
  change(history: LimitedHistory, bytes: number): void {
    if (!this.histories.has(history)) return;
    this.bytes += bytes;
    if (this.bytes > this.bytesMax) this.free();
  }

  private free(): void {
    const target = this.bytesMax * (1 - freedPart);
    while (this.bytes > target) {
      let largest: LimitedHistory | undefined;
      for (const history of this.histories) {
        if (history.canDrop && (!largest || history.bytesUsed > largest.bytesUsed)) largest = history;
      }
      if (!largest) return;
      largest.dropOldest(this.bytes - target);
    }
  }
}
