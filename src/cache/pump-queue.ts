/** Work done in slices, so that the event loop stays free. A pump with more work adds itself to the queue again. */
export interface Pump {
  pump(): void;
}

const pumpsPerTick = 8;

export class PumpQueue {
  private queue: Pump[] = [];
  private isScheduled = false;

  add(pump: Pump): void {
    this.queue.push(pump);
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.run);
  }

  private readonly run = (): void => {
    for (const pump of this.queue.splice(0, pumpsPerTick)) pump.pump();
    this.isScheduled = this.queue.length > 0;
    if (this.isScheduled) setImmediate(this.run);
  };
}
