import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Revision } from '../../../machinery/revision.js';
import { ManualClock } from '../../../std/clock.js';
import type { StoreEvent, Write } from '../../kv-store.js';
import { EmbeddedStore } from './embedded-store.js';

const put = (key: string, value = key): Write => ({ type: 'put', key, value: Buffer.from(value) });
const large = Buffer.alloc(5_000, 'v');

describe('a store that is a copy of another', () => {
  let root: string;
  let source: string;
  let directory: string;
  let serial = 0;
  const opened: EmbeddedStore[] = [];

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'keelson-copied-'));
  });
  beforeEach(() => {
    source = join(root, `source-${serial}`);
    directory = join(root, `copy-${serial++}`);
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const open = async (path: string) => {
    const store = await EmbeddedStore.open({ directory: path });
    opened.push(store);
    return store;
  };
  const openCopy = async (clock?: ManualClock) => {
    const { store, copied } = await EmbeddedStore.openCopy(source, { directory, ...(clock && { clock }) });
    opened.push(store);
    return { store, copied };
  };
  const fill = async (...writes: Write[]) => {
    const store = await EmbeddedStore.open({ directory: source });
    for (const write of writes) await store.txn([], [write]);
    await store.close();
  };
  const stateOf = async (store: EmbeddedStore, revision?: Revision) =>
    (await store.range('/', revision === undefined ? {} : { revision })).items.map(
      ({ key, value, modRevision }) => `${key}=${value.toString()}@${modRevision}`,
    );

  it('answers reads before the copy is whole, and keeps its writes apart from the original', async () => {
    await fill(put('/a', '1'), put('/b'), put('/a', '2'));
    const { store, copied } = await openCopy();
    expect(await stateOf(store)).toEqual(['/a=2@4', '/b=/b@3']);
    expect((await store.get('/a', { revision: 2 as Revision })).item?.value.toString()).toBe('1');
    const { revision } = await store.txn([], [put('/c')]);
    expect(revision).toBe(5);
    expect(await copied).toMatch(/^(cloned|copied)$/);
    expect(await stateOf(store, 2 as Revision)).toEqual(['/a=1@2']);
    await store.close();
    expect(await stateOf(await open(directory))).toEqual(['/a=2@4', '/b=/b@3', '/c=/c@5']);
    expect(await stateOf(await open(source))).toEqual(['/a=2@4', '/b=/b@3']);
  });

  it('tells watches what was written to the original before the copy was made', async () => {
    await fill(put('/0'));
    const original = await open(source);
    let isOver = false;
    const writing = (async () => {
      for (let n = 1; !isOver; n++) await original.txn([], [put(`/${n % 50}`, String(n))]);
    })();
    try {
      let isLater = false;
      for (let copies = 0; !isLater && copies < 50; copies++) {
        directory = join(root, `copy-${serial}-${copies}`);
        const { store, copied } = await openCopy();
        const first = await store.revision();
        const events: StoreEvent[] = [];
        const watch = store.watch(
          '/',
          { from: (first + 1) as Revision },
          { events: (some) => events.push(...some), progress: () => undefined, ended: () => undefined },
        );
        const before = (await store.range('/')).items.map(({ key, modRevision }) => [key, modRevision] as const);
        await copied;
        const last = await store.revision();
        for (let tries = 0; events.length < last - first && tries < 1_000; tries++) await new Promise(setImmediate);
        watch.close();
        expect(events.map(({ revision }) => revision)).toEqual(
          Array.from({ length: last - first }, (_, n) => first + 1 + n),
        );
        const after = new Map([...before, ...events.map(({ key, revision }) => [key, revision] as const)]);
        expect((await store.range('/')).items.map(({ key, modRevision }) => [key, modRevision])).toEqual(
          [...after].sort(([a], [b]) => (a < b ? -1 : 1)),
        );
        isLater = last > first;
      }
      expect(isLater).toBe(true);
    } finally {
      isOver = true;
      await writing;
    }
  });

  it('reads a page, and a deferred value, of its first revision after the original is left', async () => {
    const summarize = () => Buffer.from('s');
    await fill(...['/a', '/b', '/c'].map((key): Write => ({ type: 'put', key, value: large, summarize })));
    const clock = new ManualClock();
    const { store, copied } = await openCopy(clock);
    const page = await store.range('/', { limit: 1, defersValues: true });
    await copied;
    await store.txn([], [{ type: 'delete', key: '/a' }, put('/b')]);
    const next = await store.range('/', { from: '/a\0', limit: 1, revision: page.revision, defersValues: true });
    clock.advance(60_000);
    const last = await store.range('/', { from: '/b\0', revision: page.revision, defersValues: true });
    const items = [...page.items, ...next.items, ...last.items];
    expect(items.map(({ key }) => key)).toEqual(['/a', '/b', '/c']);
    for (const { key, modRevision, value, deferred } of items)
      expect(deferred?.read(key, modRevision) ?? value).toEqual(large);
  });

  it('rejects writes if the copy fails', async () => {
    await fill(put('/a'));
    await mkdir(`${directory}.partial`);
    const { store, copied } = await openCopy();
    await expect(store.txn([], [put('/b')])).rejects.toMatchObject({ name: 'StorageError' });
    await expect(copied).rejects.toMatchObject({ name: 'StorageError' });
    await expect(store.txn([], [put('/b')])).rejects.toMatchObject({ name: 'StorageError' });
    expect(await stateOf(store)).toEqual(['/a=/a@2']);
  });

  it('leaves a whole copy that nobody uses if it is closed meanwhile', async () => {
    await fill(put('/a'));
    const { store } = await openCopy();
    await store.close();
    expect(existsSync(`${directory}.partial`)).toBe(false);
    expect(await stateOf(await open(directory))).toEqual(['/a=/a@2']);
  });

  it('is refused if the source has no store', async () => {
    await expect(openCopy()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching('no store') });
  });
});
