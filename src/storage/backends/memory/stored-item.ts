import type { Revision } from '../../../machinery/revision.js';
import type { KeyValue, ValueKeeper, Write } from '../../kv-store.js';

const noBytes = Buffer.alloc(0);

/** A value of the memory store: its bytes, or a keeper that has them too, so that they are in memory once. */
export class StoredItem implements KeyValue {
  readonly key: string;
  readonly createRevision: Revision;
  /** The size of the value. */
  readonly byteLength: number;
  private bytes: Buffer | undefined;
  private keeper: ValueKeeper | undefined = undefined;

  constructor(
    { key, value }: Write & { type: 'put' },
    previous: KeyValue | undefined,
    readonly modRevision: Revision,
  ) {
    this.key = key;
    this.createRevision = previous?.createRevision ?? modRevision;
    this.byteLength = value.length;
    this.bytes = Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }

  get value(): Buffer {
    return this.bytes ?? this.keeper!.storedValue();
  }

  /** A copy without connection to the store. */
  get snapshot(): KeyValue {
    const { key, value, createRevision, modRevision } = this;
    return { key, value, createRevision, modRevision };
  }

  /** A copy whose value is read when somebody needs it, if a keeper has it, which may have compressed it. */
  get deferredSnapshot(): KeyValue {
    if (!this.keeper) return this.snapshot;
    const { key, createRevision, modRevision, byteLength } = this;
    const deferred = { length: byteLength, read: () => this.value };
    return { key, value: noBytes, createRevision, modRevision, deferred };
  }

  keepIn(keeper: ValueKeeper): void {
    keeper.hold();
    this.drop();
    this.keeper = keeper;
    this.bytes = undefined;
  }

  /** Called when the store no longer has the item. */
  drop(): void {
    this.keeper?.release();
  }
}

/** Returns an item of another store with a copy of its value, which may share its memory with others. */
export const copiedItem = (item: KeyValue): StoredItem =>
  new StoredItem({ type: 'put', key: item.key, value: Buffer.from(item.value) }, item, item.modRevision);
