import { storeOfNumberedKeys } from '../../test/harness/numbered-keys.js';
import { MemoryStore } from './backends/memory/memory-store.js';
import { readPages } from './read-pages.js';

describe('readPages', () => {
  it.each([
    [0, [0]],
    [4, [4]],
    [5, [4, 1]],
    [12, [4, 4, 4]],
  ])('reads %i keys in pages of 4', async (keys, sizes) => {
    const store = await storeOfNumberedKeys(keys);
    const pages = [];
    for await (const page of readPages(store, '/a/', { limit: 4 })) pages.push(page);
    expect(pages.map(({ items }) => items.length)).toEqual(sizes);
    expect(pages.map(({ remaining }) => remaining).at(-1)).toBe(0);
    expect(pages[0]!.remaining).toBe(keys - sizes[0]!);
    await store.close();
  });

  it.each([
    ['small', 1, [4, 8, 10, 10, 8]],
    ['large', 2_200_000, [4, 4, 4]],
  ])('grows pages of %s values up to limitMax', async (_title, bytes, sizes) => {
    const store = new MemoryStore();
    const total = sizes.reduce((sum, size) => sum + size, 0);
    for (let n = 0; n < total; n++) await store.txn([], [{ type: 'put', key: `/a/${n}`, value: Buffer.alloc(bytes) }]);
    const pages = [];
    for await (const { items } of readPages(store, '/a/', { limit: 4, limitMax: 10 })) pages.push(items.length);
    expect(pages).toEqual(sizes);
    await store.close();
  });

  it('shrinks pages if values become large', async () => {
    const store = new MemoryStore();
    for (let n = 0; n < 20; n++) {
      const value = Buffer.alloc(n < 4 ? 1 : 1_500_000);
      await store.txn([], [{ type: 'put', key: `/a/${n + 10}`, value }]);
    }
    const pages = [];
    for await (const { items } of readPages(store, '/a/', { limit: 4, limitMax: 100 })) pages.push(items.length);
    expect(pages).toEqual([4, 8, 4, 4]);
    await store.close();
  });

  it('reads all pages at the revision of the first, despite concurrent writes', async () => {
    const store = await storeOfNumberedKeys(6);
    const before = await store.revision();
    const seen: string[] = [];
    for await (const { items, revision } of readPages(store, '/a/', { limit: 2 })) {
      expect(revision).toBe(before);
      seen.push(...items.map(({ key }) => key));
      const { modRevision } = (await store.get('/a/005')).item!;
      await store.txn([{ key: '/a/005', modRevision }], [{ type: 'put', key: '/a/005', value: Buffer.from('new') }]);
      await store.txn([], [{ type: 'put', key: `/a/9${seen.length}`, value: Buffer.from('later') }]);
    }
    expect(seen).toEqual(['/a/000', '/a/001', '/a/002', '/a/003', '/a/004', '/a/005']);
    await store.close();
  });
});
