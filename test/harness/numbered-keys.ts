import { noRevision } from '../../src/machinery/revision.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';

/** A memory store with the keys `/a/000`, `/a/001`, …, whose values are their numbers. */
export async function storeOfNumberedKeys(keys: number): Promise<KvStore> {
  const store = new MemoryStore();
  for (let n = 0; n < keys; n++) {
    const key = `/a/${String(n).padStart(3, '0')}`;
    await store.txn([{ key, modRevision: noRevision }], [{ type: 'put', key, value: Buffer.from(String(n)) }]);
  }
  return store;
}
