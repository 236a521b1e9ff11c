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
  /** What the name has when the write was made. */
  readonly after: (revision: Revision) => EncodedObject | undefined;
}

/**
 * Objects that are made and removed together with the one that they are for; and node ports, which are taken before its
 * write and given back after it.
 */
export class Booking implements Reservation {
  private readonly steps: Step[] = [];
  private readonly portsTaken = new Set<number>();
  private portsLeft: readonly number[] = [];
  private outcome: 'notSent' | 'sent' | 'made' | 'lost' = 'notSent';

  constructor(private readonly nodePorts?: NodePortMap) {}

  get isEmpty(): boolean {
    return this.steps.length === 0 && this.portsTaken.size === 0 && this.portsLeft.length === 0;
  }
  get compares(): readonly Compare[] {
    return this.steps.map(({ compare }) => compare);
  }
  get writes(): readonly Write[] {
    this.outcome = 'sent';
    return this.steps.map(({ write }) => write);
  }

  take(ledger: Ledger, object: KubeObject): void {
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

  /** The port is in the map already. */
  tookPort(port: number): void {
    this.portsTaken.add(port);
  }

  givesBackPorts(ports: readonly number[]): void {
    this.portsLeft = ports;
  }

  async committed(revision: Revision): Promise<void> {
    this.outcome = 'made';
    for (const { ledger, name, after } of this.steps) ledger.learn(name, after(revision), revision);
    // A port that stays in the map is freed by the repair: the write itself is done.
    if (this.portsLeft.length > 0) await this.free(this.portsLeft).catch(() => undefined);
  }

  conflicted(current: readonly (KeyValue | undefined)[], revision: Revision): void {
    this.outcome = 'lost';
    for (const [index, { ledger, name }] of this.steps.entries()) {
      const item = current[index];
      ledger.learn(name, item && ledger.store.codec.decode(item), revision);
    }
  }

  end(): void {
    for (const { ledger, name, write } of this.steps) if (write.type === 'put') ledger.release(name);
    // Of a write whose answer was lost nobody knows: the repair frees what no Service has in the end.
    if (this.outcome === 'made' || this.outcome === 'sent' || this.portsTaken.size === 0) return;
    this.free([...this.portsTaken]).catch(() => undefined);
  }

  private async free(ports: readonly number[]): Promise<void> {
    await this.nodePorts?.change((taken) => ports.forEach((port) => taken.delete(port)));
  }
}
