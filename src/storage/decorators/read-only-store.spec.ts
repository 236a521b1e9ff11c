import { storeOfNumberedKeys } from '../../../test/harness/numbered-keys.js';
import { ReadOnlyStore } from './read-only-store.js';

describe('ReadOnlyStore', () => {
  it('rejects transactions and compactions, and changes nothing', async () => {
    const store = await storeOfNumberedKeys(3);
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
