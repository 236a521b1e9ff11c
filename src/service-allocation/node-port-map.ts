import { decodeJson, encodeJson } from '../codec/json.js';
import { isProtobuf } from '../codec/protobuf.js';
import { asText } from '../machinery/fields.js';
import { isJsonObject } from '../machinery/kube-object.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import type { StoreDependencies } from '../registry/resource-store.js';
import { fromStore } from '../registry/storage-to-api-error.js';
import type { KeyValue } from '../storage/kv-store.js';
import type { PortRange } from './node-port-pool.js';
import type { Cancellation } from '../std/cancellation.js';

type Dependencies = Pick<StoreDependencies, 'kv' | 'root' | 'protobuf' | 'storageMediaType'>;

/** The node port map at a revision of the store. */
export interface StoredPorts {
  readonly ports: ReadonlySet<number>;
  readonly revision: Revision;
  /** True if the key is missing, unreadable or of another port range, so that the map has to be computed from all Services. */
  readonly needsRepair: boolean;
}

/** Reads a copy of the map, and may change it. Called again with a newer map after a conflict. */
type PortChange<T> = (ports: Set<number>) => T;

interface WaitingChange {
  readonly run: (ports: Set<number>) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The allocated node ports, in the key that kube-apiserver uses, so that both servers can share one etcd:
 * `ranges/servicenodeports`, a RangeAllocation whose data is a big integer with one bit for each port.
 *
 *   range "30000-32767", data 01 01  ->  30000 and 30008
 *
 * Changes use compare-and-set. Concurrent changes of one server are combined in one write; after a conflict with another
 * server they are computed again from the new map.
 */
export class NodePortMap {
  readonly key: string;
  private known: StoredPorts | undefined;
  private waiting: WaitingChange[] = [];
  private isRunning = false;

  constructor(
    private readonly dependencies: Dependencies,
    readonly range: PortRange,
    /** Returns the ports of all Services, for a map that is missing or unreadable. */
    private readonly portsInUse: (signal?: Cancellation) => Promise<ReadonlySet<number>>,
  ) {
    this.key = `${dependencies.root}ranges/servicenodeports`;
  }

  includes(port: number): boolean {
    return port >= this.range.first && port <= this.range.last;
  }

  /** The map as this server last read it. Other servers may have changed it since. */
  get guess(): ReadonlySet<number> {
    return this.known?.ports ?? new Set();
  }

  async read(signal?: Cancellation): Promise<StoredPorts> {
    const { item } = await fromStore(this.dependencies.kv.get(this.key, signal && { signal }));
    return (this.known = this.decode(item));
  }

  /** Applies a change. Resolves with its result on the map that was written. */
  change<T>(decide: PortChange<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let outcome: T;
      this.waiting.push({
        run: (ports) => void (outcome = decide(ports)),
        resolve: () => resolve(outcome),
        reject,
      });
      if (!this.isRunning) void this.run();
    });
  }

  /** Replaces the whole map. Returns false if it has changed since it was read. */
  async replace(ports: ReadonlySet<number>, { revision }: StoredPorts): Promise<boolean> {
    return (await this.write(ports, revision)) === 'written';
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.apply(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }

  private async apply(batch: readonly WaitingChange[]): Promise<void> {
    let before = this.known ?? (await this.read());
    for (;;) {
      const ports = new Set(before.needsRepair ? await this.portsInUse() : before.ports);
      for (const { run } of batch) run(ports);
      const isSame = ports.size === before.ports.size && [...ports].every((port) => before.ports.has(port));
      if (!isSame) {
        if ((await this.write(ports, before.revision)) === 'written') return;
      } else {
        // No change: the map may be outdated, so compare its revision with the store.
        const latest = await this.read();
        if (latest.revision === before.revision) return;
      }
      before = this.known ?? (await this.read());
    }
  }

  private async write(ports: ReadonlySet<number>, revision: Revision): Promise<'written' | 'lost'> {
    const { kv } = this.dependencies;
    const value = this.encode(ports);
    this.known = undefined;
    const compares = [{ key: this.key, modRevision: revision }];
    const result = await fromStore(kv.txn(compares, [{ type: 'put', key: this.key, value }]));
    this.known = result.succeeded
      ? { ports: new Set(ports), revision: result.revision, needsRepair: false }
      : this.decode(result.current[0]);
    return result.succeeded ? 'written' : 'lost';
  }

  private encode(ports: ReadonlySet<number>): Buffer {
    const { first, last } = this.range;
    const object = {
      kind: 'RangeAllocation',
      apiVersion: 'v1',
      metadata: {},
      range: `${first}-${last}`,
      data: portBits(ports, this.range).toString('base64'),
    };
    return this.dependencies.storageMediaType === 'protobuf'
      ? this.dependencies.protobuf.encode(object)
      : encodeJson(object);
  }

  private decode(item: KeyValue | undefined): StoredPorts {
    if (!item) return { ports: new Set(), revision: noRevision, needsRepair: true };
    const found = this.portsIn(item.value);
    return { ports: found ?? new Set(), revision: item.modRevision, needsRepair: found === undefined };
  }

  /** Returns undefined if the value is not a RangeAllocation of this range. */
  private portsIn(value: Buffer): Set<number> | undefined {
    try {
      const object = isProtobuf(value) ? this.dependencies.protobuf.decode(value).object : decodeJson(value);
      if (!isJsonObject(object) || object['kind'] !== 'RangeAllocation') return undefined;
      if (asText(object['range']) !== `${this.range.first}-${this.range.last}`) return undefined;
      return portsOf(Buffer.from(asText(object['data']), 'base64'), this.range);
    } catch {
      return undefined;
    }
  }
}

/** Encodes ports as a big-endian integer without leading zeros: bit 0 of the last byte is the first port. */
export function portBits(ports: ReadonlySet<number>, { first, last }: PortRange): Buffer {
  const bits = [...ports].map((port) => port - first).filter((bit) => bit >= 0 && bit <= last - first);
  const length = bits.length === 0 ? 0 : (Math.max(...bits) >> 3) + 1;
  const bytes = Buffer.alloc(length);
  for (const bit of bits) bytes[length - 1 - (bit >> 3)]! |= 1 << (bit & 7);
  return bytes;
}

export function portsOf(bytes: Buffer, { first, last }: PortRange): Set<number> {
  const ports = new Set<number>();
  for (let bit = 0; bit <= last - first && bit >> 3 < bytes.length; bit++) {
    if ((bytes[bytes.length - 1 - (bit >> 3)]! >> (bit & 7)) & 1) ports.add(first + bit);
  }
  return ports;
}
