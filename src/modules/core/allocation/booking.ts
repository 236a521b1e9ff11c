import type { EncodedObject } from '../../../cache/encoded-object.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { noRevision, type Revision } from '../../../machinery/revision.js';
import type { Reservation } from '../../../registry/reservation.js';
import type { Compare, KeyValue, Write } from '../../../storage/kv-store.js';
import type { Ledger } from './ledger.js';

interface Step {
  readonly ledger: Ledger;
  readonly name: string;
  readonly compare: Compare;
  readonly write: Write;
  /** What the name has when the write was made. */
  readonly after: (revision: Revision) => EncodedObject | undefined;
}

/** Objects that are made and removed together with the one that they are for. */
export class Booking implements Reservation {
  private readonly steps: Step[] = [];

  get isEmpty(): boolean {
    return this.steps.length === 0;
  }
  get compares(): readonly Compare[] {
    return this.steps.map(({ compare }) => compare);
  }
  get writes(): readonly Write[] {
    return this.steps.map(({ write }) => write);
  }

  take(ledger: Ledger, object: KubeObject): void {
    const name = object.metadata.name!;
    const key = ledger.store.keyOf('', name);
    const { codec } = ledger.store;
    const final = ledger.store.canonical(object);
    const value = codec.encode(final);
    ledger.hold(name);
    this.steps.push({
      ledger,
      name,
      compare: { key, modRevision: noRevision },
      write: { type: 'put', key, value },
      after: (revision) => codec.written(final, key, value, revision),
    });
  }

  /** Only if it is still what it was. */
  giveBack(ledger: Ledger, name: string, { key, revision }: EncodedObject): void {
    this.steps.push({
      ledger,
      name,
      compare: { key, modRevision: revision },
      write: { type: 'delete', key },
      after: () => undefined,
    });
  }

  made(revision: Revision): void {
    for (const { ledger, name, after } of this.steps) ledger.learn(name, after(revision), revision);
  }

  lost(current: readonly (KeyValue | undefined)[], revision: Revision): void {
    for (const [index, { ledger, name }] of this.steps.entries()) {
      const item = current[index];
      ledger.learn(name, item && ledger.store.codec.decode(item), revision);
    }
  }

  end(): void {
    for (const { ledger, name, write } of this.steps) if (write.type === 'put') ledger.release(name);
  }
}
