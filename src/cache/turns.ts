/**
 * Work that is done a slice at a time so that the event loop stays free: whoever has more to do queues up again
 * behind all others.
 */
export interface Pump {
  pump(): void;
}

const pumpsPerTurn = 8;

export class Turns {
  private queue: Pump[] = [];
  private isScheduled = false;

  add(pump: Pump): void {
    this.queue.push(pump);
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.run);
  }

  private readonly run = (): void => {
    for (const pump of this.queue.splice(0, pumpsPerTurn)) pump.pump();
    this.isScheduled = this.queue.length > 0;
    if (this.isScheduled) setImmediate(this.run);
  };
}
