import { asFields, asItems, asText } from '../../src/machinery/fields.js';
import { revisionOf, type Revision } from '../../src/machinery/revision.js';
import type { KvStore, StoreEvent } from '../../src/storage/kv-store.js';

interface StoreWrite {
  readonly key: string;
  readonly type: 'put' | 'delete';
  readonly atMs: number;
  /** The field manager of the newest entry of metadata.managedFields; '' if the value is not JSON. */
  readonly manager: string;
}

/** Records every write to etcd below a prefix, of all programs, from its opening on. */
export class StoreWrites {
  readonly all: StoreWrite[] = [];
  private ended: Error | undefined;
  private readonly close: () => void;

  private constructor(store: KvStore, from: Revision) {
    const watch = store.watch(
      '/registry/',
      { from },
      {
        events: (events) => events.forEach((event) => this.note(event)),
        progress: () => undefined,
        ended: (error) => (this.ended = error),
      },
    );
    this.close = () => watch.close();
  }

  static async open(store: KvStore): Promise<StoreWrites> {
    return new StoreWrites(store, revisionOf((await store.revision()) + 1));
  }

  /** Writes since `fromMs` (of performance.now()), except Leases and the addresses that kube-apiservers renew. */
  since(fromMs: number): readonly StoreWrite[] {
    if (this.ended) throw this.ended;
    return this.all.filter(({ atMs, key }) => atMs >= fromMs && !/^\/registry\/(leases|peerserverleases)\//.test(key));
  }

  stop(): void {
    this.close();
  }

  private note({ type, key, item }: StoreEvent): void {
    const manager = item ? managerOf(item.value) : '';
    this.all.push({ key, type, atMs: performance.now(), manager });
  }
}

/** `3 × /registry/deployments/a/b (kube-controller-manager)`, most first. */
export function describeWrites(writes: readonly StoreWrite[]): string[] {
  const counts = new Map<string, number>();
  for (const { type, key, manager } of writes) {
    const name = `${type === 'delete' ? 'deletion of ' : ''}${key}${manager && ` (${manager})`}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${count} × ${name}`);
}

function managerOf(value: Buffer): string {
  if (value[0] !== 0x7b) return '';
  const entries = asItems(asFields(asFields(JSON.parse(value.toString()))['metadata'])['managedFields']);
  const newest = entries.reduce<string[]>(
    (best, { time, manager }) => (asText(time) >= best[0]! ? [asText(time), asText(manager)] : best),
    ['', ''],
  );
  return newest[1]!;
}
