import { noRevision } from '../../machinery/revision.js';
import { backends } from '../backends.js';
import { ReadOnlyStore } from './read-only-store.js';

async function storeOf(keys: number) {
  const store = await backends.memory({});
  for (let n = 0; n < keys; n++) {
    const key = `/a/${String(n).padStart(3, '0')}`;
    await store.txn([{ key, modRevision: noRevision }], [{ type: 'put', key, value: Buffer.from(String(n)) }]);
  }
  return store;
}

describe('ReadOnlyStore', () => {
  it('rejects transactions and compactions, and changes nothing', async () => {
    const store = await storeOf(3);
    const before = await store.revision();
    const readOnly = new ReadOnlyStore(store);
    const refusal = { name: 'StorageError', message: 'the store was opened for reading only' };
    await expect(readOnly.txn()).rejects.toMatchObject(refusal);
    await expect(readOnly.compact()).rejects.toMatchObject(refusal);
    expect(await store.revision()).toBe(before);
    expect((await readOnly.range('/a/')).items).toHaveLength(3);
    expect((await readOnly.get('/a/001')).item?.value.toString()).toBe('1');
    await readOnly.close();
  });
});
