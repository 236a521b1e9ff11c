import { noRevision } from '../../src/machinery/revision.js';
import { backends } from '../../src/storage/backends.js';
import type { KvStore } from '../../src/storage/kv-store.js';

/** A memory store with the keys `/a/000`, `/a/001`, …, whose values are their numbers. */
export async function storeOfNumberedKeys(keys: number): Promise<KvStore> {
  const store = await backends.memory({});
  for (let n = 0; n < keys; n++) {
    const key = `/a/${String(n).padStart(3, '0')}`;
    await store.txn([{ key, modRevision: noRevision }], [{ type: 'put', key, value: Buffer.from(String(n)) }]);
  }
  return store;
}
