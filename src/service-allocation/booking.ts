import type { EncodedObject } from '../cache/encoded-object.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import type { Reservation } from '../registry/write/reservation.js';
import type { Compare, KeyValue, Write } from '../storage/kv-store.js';
import type { Ledger } from './ledger.js';
import type { NodePortMap } from './node-port-map.js';

interface Step {
  readonly ledger: Ledger;
  readonly name: string;
  readonly compare: Compare;
  readonly write: Write;
  /** Returns the object with that name after the write. */
  readonly after: (revision: Revision) => EncodedObject | undefined;
}

/**
 * The reservation of a write of a Service: IPAddress objects that are created and deleted in the same transaction, and node
 * ports that are allocated before the transaction and released after it.
 */
export class Booking implements Reservation {
  private readonly steps: Step[] = [];
  private readonly allocatedPorts = new Set<number>();
  private unusedPorts: readonly number[] = [];
  private outcome: 'notSent' | 'sent' | 'committed' | 'conflicted' = 'notSent';

  constructor(private readonly nodePorts?: NodePortMap) {}

  get isEmpty(): boolean {
    return this.steps.length === 0 && this.allocatedPorts.size === 0 && this.unusedPorts.length === 0;
  }
  get compares(): readonly Compare[] {
    return this.steps.map(({ compare }) => compare);
  }
  get writes(): readonly Write[] {
    this.outcome = 'sent';
    return this.steps.map(({ write }) => write);
  }

  /** Creates the object in the transaction, if none with its name exists. */
  createObject(ledger: Ledger, object: KubeObject): void {
    const name = object.metadata.name!;
    const key = ledger.store.keyOf('', name);
    const { codec } = ledger.store;
    const final = ledger.store.canonical(object);
    const value = codec.encode(final, key);
    ledger.hold(name);
    this.steps.push({
      ledger,
      name,
      compare: { key, modRevision: noRevision },
      write: codec.put(key, value),
      after: (revision) => codec.written(final, key, value, revision),
    });
  }

  /** Deletes the object in the transaction, if its revision is unchanged. */
  deleteObject(ledger: Ledger, name: string, { key, revision }: EncodedObject): void {
    this.steps.push({
      ledger,
      name,
      compare: { key, modRevision: revision },
      write: { type: 'delete', key },
      after: () => undefined,
    });
  }

  /** Records a port that the node port map already has, so that end() can release it. */
  portAllocated(port: number): void {
    this.allocatedPorts.add(port);
  }

  /** Releases the ports after the transaction. */
  releasePorts(ports: readonly number[]): void {
    this.unusedPorts = ports;
  }

  async committed(revision: Revision): Promise<void> {
    this.outcome = 'committed';
    for (const { ledger, name, after } of this.steps) ledger.learn(name, after(revision), revision);
    // The Service is written: an error here leaves the ports in the map until the repair releases them.
    if (this.unusedPorts.length > 0) await this.free(this.unusedPorts).catch(() => undefined);
  }

  conflicted(current: readonly (KeyValue | undefined)[], revision: Revision): void {
    this.outcome = 'conflicted';
    for (const [index, { ledger, name }] of this.steps.entries()) {
      const item = current[index];
      ledger.learn(name, item && ledger.store.codec.decode(item), revision);
    }
  }

  end(): void {
    for (const { ledger, name, write } of this.steps) if (write.type === 'put') ledger.release(name);
    // If the response of the transaction was lost, the Service may have the ports; the repair releases unused ones.
    if (this.outcome === 'committed' || this.outcome === 'sent' || this.allocatedPorts.size === 0) return;
    this.free([...this.allocatedPorts]).catch(() => undefined);
  }

  private async free(ports: readonly number[]): Promise<void> {
    await this.nodePorts?.change((taken) => ports.forEach((port) => taken.delete(port)));
  }
}
