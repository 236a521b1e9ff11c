import { decodeJson, encodeJson } from '../codec/json.js';
import { isProtobuf } from '../codec/protobuf.js';
import { asText } from '../machinery/fields.js';
import { isJsonObject } from '../machinery/kube-object.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import type { StoreDependencies } from '../registry/resource-store.js';
import { fromStore } from '../registry/storage-to-api-error.js';
import type { KeyValue } from '../storage/kv-store.js';
import type { PortRange } from './node-port-pool.js';

type Parts = Pick<StoreDependencies, 'kv' | 'root' | 'protobuf' | 'storageMediaType'>;

/** The map as it was in the store at a revision. */
export interface StoredPorts {
  readonly ports: ReadonlySet<number>;
  readonly revision: Revision;
  /** The key is missing, cannot be read, or is of another range: what services have must be put into it again. */
  readonly needsRepair: boolean;
}

/** Decides on a copy of the map, which it may change. It may run several times, on newer and newer maps. */
export type PortChange<T> = (ports: Set<number>) => T;

interface Waiting {
  readonly run: (ports: Set<number>) => void;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * The node ports that are taken, in the one key in which kube-apiserver keeps them, so that servers of both kinds share
 * them: `ranges/servicenodeports`, a RangeAllocation whose data is a whole number with a bit for each port.
 *
 *   range "30000-32767", data 01 01  ->  30000 and 30008
 *
 * Changes are made by compare-and-set. Those of one server that come at once are made together, in one write; another
 * server's write in between makes them decide again on what it has left.
 */
export class NodePortMap {
  readonly key: string;
  private known: StoredPorts | undefined;
  private waiting: Waiting[] = [];
  private isRunning = false;

  constructor(
    private readonly parts: Parts,
    readonly range: PortRange,
    /** The ports that all Services have, for a map that is missing or cannot be read. */
    private readonly portsInUse: (signal?: AbortSignal) => Promise<ReadonlySet<number>>,
  ) {
    this.key = `${parts.root}ranges/servicenodeports`;
  }

  includes(port: number): boolean {
    return port >= this.range.first && port <= this.range.last;
  }

  /** The map as this server last saw it: a guess. */
  get guess(): ReadonlySet<number> {
    return this.known?.ports ?? new Set();
  }

  async read(signal?: AbortSignal): Promise<StoredPorts> {
    const { item } = await fromStore(this.parts.kv.get(this.key, signal && { signal }));
    return (this.known = this.decode(item));
  }

  /** Resolves with what `decide` says of the map that it was made on. */
  change<T>(decide: PortChange<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let outcome: T;
      this.waiting.push({
        run: (ports) => void (outcome = decide(ports)),
        settle: () => resolve(outcome),
        fail: reject,
      });
      if (!this.isRunning) void this.run();
    });
  }

  /** Puts a whole map in the place of the one that was read; false when it has changed since. */
  async replace(ports: ReadonlySet<number>, { revision }: StoredPorts): Promise<boolean> {
    return (await this.write(ports, revision)) === 'written';
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.settle(batch);
        for (const { settle } of batch) settle();
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.isRunning = false;
  }

  private async settle(batch: readonly Waiting[]): Promise<void> {
    let before = this.known ?? (await this.read());
    for (;;) {
      const ports = new Set(before.needsRepair ? await this.portsInUse() : before.ports);
      for (const { run } of batch) run(ports);
      const isSame = ports.size === before.ports.size && [...ports].every((port) => before.ports.has(port));
      if (!isSame) {
        if ((await this.write(ports, before.revision)) === 'written') return;
      } else {
        // Refusals are believed only when the map is the latest.
        const latest = await this.read();
        if (latest.revision === before.revision) return;
      }
      before = this.known ?? (await this.read());
    }
  }

  private async write(ports: ReadonlySet<number>, revision: Revision): Promise<'written' | 'lost'> {
    const { kv } = this.parts;
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
    return this.parts.storageMediaType === 'protobuf' ? this.parts.protobuf.encode(object) : encodeJson(object);
  }

  private decode(item: KeyValue | undefined): StoredPorts {
    if (!item) return { ports: new Set(), revision: noRevision, needsRepair: true };
    const found = this.readValue(item.value);
    return { ports: found ?? new Set(), revision: item.modRevision, needsRepair: found === undefined };
  }

  /** Undefined for what is no map of this range. */
  private readValue(value: Buffer): Set<number> | undefined {
    try {
      const object = isProtobuf(value) ? this.parts.protobuf.decode(value).object : decodeJson(value);
      if (!isJsonObject(object) || object['kind'] !== 'RangeAllocation') return undefined;
      if (asText(object['range']) !== `${this.range.first}-${this.range.last}`) return undefined;
      return portsOf(Buffer.from(asText(object['data']), 'base64'), this.range);
    } catch {
      return undefined;
    }
  }
}

/** A big-endian whole number without leading zeros: bit 0 of the last byte is the first port. */
export function portBits(ports: ReadonlySet<number>, { first, last }: PortRange): Buffer {
  const places = [...ports].map((port) => port - first).filter((place) => place >= 0 && place <= last - first);
  const length = places.length === 0 ? 0 : (Math.max(...places) >> 3) + 1;
  const bytes = Buffer.alloc(length);
  for (const place of places) bytes[length - 1 - (place >> 3)]! |= 1 << (place & 7);
  return bytes;
}

export function portsOf(bytes: Buffer, { first, last }: PortRange): Set<number> {
  const ports = new Set<number>();
  for (let place = 0; place <= last - first && place >> 3 < bytes.length; place++) {
    if ((bytes[bytes.length - 1 - (place >> 3)]! >> (place & 7)) & 1) ports.add(first + place);
  }
  return ports;
}
