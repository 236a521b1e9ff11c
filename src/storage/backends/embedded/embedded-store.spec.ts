import { copyFile, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { revisionOf, type Revision } from '../../../machinery/revision.js';
import { ManualClock } from '../../../std/clock.js';
import type { KeyValue, KvStore, Write } from '../../kv-store.js';
import { StorageError, type StorageErrorCode } from '../../storage-error.js';
import { EmbeddedStore, type EmbeddedStoreOptions } from './embedded-store.js';
import { currentOwner, encodeOwner, type Owner } from './owner.js';
import { historyKey, metaKeys, stateKey } from './records.js';

const put = (key: string, value = key): Write => ({ type: 'put', key, value: Buffer.from(value) });

async function codeOf(call: Promise<unknown>): Promise<[StorageErrorCode | undefined, string]> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof StorageError ? [error.code, error.message] : [undefined, String(error)];
}

describe('EmbeddedStore', () => {
  let root: string;
  let directory: string;
  const opened: KvStore[] = [];
  let serial = 0;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'keelson-embedded-'));
  });
  beforeEach(() => {
    directory = join(root, `store-${serial++}`);
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const open = async (options: Partial<EmbeddedStoreOptions> = {}) => {
    const store = await EmbeddedStore.open({ directory, ...options });
    opened.push(store);
    return store;
  };
  /** Changes the records of a closed store, to simulate corruption. */
  const tamper = async (change: (database: ReturnType<typeof openLmdb<Buffer, Buffer>>) => Promise<unknown>) => {
    const options = { path: directory, encoding: 'binary', keyEncoding: 'binary', overlappingSync: false } as const;
    const database = openLmdb<Buffer, Buffer>({ ...options, noSubdir: false } as never);
    await change(database);
    await database.close();
  };

  describe('opened read-only', () => {
    const files = async () =>
      Promise.all(['data.mdb', 'owner'].map((name) => readFile(join(directory, name)).catch(() => undefined)));

    it('reads the data, rejects writes, and leaves the files unchanged', async () => {
      const store = await open();
      for (const key of ['/a', '/b']) await store.txn([], [put(key)]);
      const head = await store.revision();
      await store.close();
      const before = await files();
      const reader = await open({ isReadOnly: true });
      expect((await reader.range('/')).items.map(({ key }) => key)).toEqual(['/a', '/b']);
      expect((await reader.get('/a', { revision: head })).item?.value.toString()).toBe('/a');
      expect(await reader.revision()).toBe(head);
      const [code, message] = await codeOf(reader.txn([], [put('/c')]));
      expect([code, message]).toEqual(['unavailable', `${directory} was opened for reading only`]);
      await reader.close();
      expect(await files()).toEqual(before);
      expect(await (await open()).revision()).toBe(head);
    });

    it('fails while a process owns the directory, and for a directory without a store', async () => {
      await open();
      expect(await codeOf(EmbeddedStore.open({ directory, isReadOnly: true }))).toEqual([
        'locked',
        expect.stringContaining('is in use by this process'),
      ]);
      directory = join(directory, 'none');
      expect(await codeOf(EmbeddedStore.open({ directory, isReadOnly: true }))).toEqual([
        'unavailable',
        `${directory} holds no store`,
      ]);
    });

    it('does not extend a truncated file', async () => {
      const store = await open();
      await store.txn([], [{ type: 'put', key: '/large', value: Buffer.alloc(1_000_000) }]);
      await store.close();
      const file = join(directory, 'data.mdb');
      await truncate(file, 65_536);
      expect(await codeOf(EmbeddedStore.open({ directory, isReadOnly: true }))).toEqual([
        'corrupt',
        expect.stringContaining('is shorter than its header says'),
      ]);
      expect(await readFile(file)).toHaveLength(65_536);
    });
  });

  describe('the directory', () => {
    it('is created if it does not exist', async () => {
      directory = join(directory, 'deep', 'er');
      const store = await open();
      expect(await store.revision()).toBe(1);
    });

    it('is locked while open (the error has path and pid), and free after close', async () => {
      const store = await open();
      await store.txn([], [put('a')]);
      const [code, message] = await codeOf(open());
      expect([code, message]).toEqual(['locked', expect.stringContaining(directory)]);
      expect(message).toContain(String(process.pid));
      await store.txn([], [put('b')]);
      await store.close();
      expect((await (await open()).range('')).count).toBe(2);
    });

    it.each([
      ['whose process has ended', (): Owner => ({ ...currentOwner(), pid: 2 ** 22 + 1 })],
      ['with our pid but another start time', (): Owner => ({ ...currentOwner(), started: '1' })],
      ['from before a reboot', (): Owner => ({ ...currentOwner(), boot: 'earlier' })],
    ])('is taken over from an owner %s', async (_, owner) => {
      await (await open()).close();
      const name = encodeOwner(owner());
      await tamper((database) => database.put(metaKeys.owner, Buffer.concat([Buffer.alloc(8), name])));
      await writeFile(join(directory, 'owner'), name);
      await (await open()).txn([], [put('a')]);
    });

    it('rejects commits of a store after another process has taken over', async () => {
      const store = await open();
      await store.txn([], [put('a', 'before')]);
      const name = Buffer.concat([Buffer.alloc(8, 7), encodeOwner(currentOwner())]);
      await tamper((database) => database.put(metaKeys.owner, name));
      expect((await codeOf(store.txn([], [put('a', 'after')])))[0]).toBe('locked');
      expect((await store.get('a')).item?.value.toString()).toBe('before');
    });

    it('with an LMDB database of another program is rejected and left unchanged', async () => {
      const theirs = Buffer.from('theirs');
      await mkdir(directory, { recursive: true });
      await tamper((database) => database.put(theirs, theirs));
      const [code, message] = await codeOf(open());
      expect([code, message]).toEqual(['unavailable', expect.stringMatching(/another program.*--data-dir/)]);
      await tamper(async (database) => {
        expect([...database.getKeys({})].map(String)).toEqual(['theirs']);
      });
    });

    it('with another format version is rejected', async () => {
      await (await open()).close();
      await tamper((database) => database.put(metaKeys.format, Buffer.from('4')));
      const [code, message] = await codeOf(open());
      expect([code, message]).toEqual(['unavailable', expect.stringMatching(/written in format 4.*knows 3/)]);
    });

    it.each(['1', '2'])('in format %s is read, and is in format 3 after it was opened for writing', async (format) => {
      const store = await open();
      await store.txn([], [put('/a')]);
      await store.close();
      await tamper((database) => database.put(metaKeys.format, Buffer.from(format)));
      const reader = await open({ isReadOnly: true });
      expect((await reader.get('/a')).item?.value.toString()).toBe('/a');
      await reader.close();
      await (await open()).close();
      await tamper(async (database) => {
        expect(database.get(metaKeys.format)?.toString()).toBe('3');
      });
    });

    it('that cannot be created is rejected', async () => {
      await writeFile(directory, 'a file');
      expect((await codeOf(open()))[0]).toBe('unavailable');
    });
  });

  it('returns values of all sizes that stay as they are while others are read and written', async () => {
    const store = await open();
    const sizes = [0, 1, 100, 3_000, 4_090, 4_200, 8_100, 8_300, 20_000, 70_000, 300_000];
    const valueOf = (size: number, fill: number) => Buffer.alloc(size, fill).toString();
    const names = (size: number) => `/${String(size).padStart(7, '0')}`;
    await store.txn(
      [],
      sizes.map((size) => put(names(size), valueOf(size, 97))),
    );
    const first = await store.revision();
    const ranges = [await store.range('/'), await store.range('/', { limit: 5 })];
    const single = await Promise.all(sizes.map((size) => store.get(names(size))));
    await store.txn(
      [],
      sizes.map((size) => put(names(size), valueOf(size, 98))),
    );
    const later = await store.range('/');
    const past = await store.range('/', { revision: first });
    const texts = (items: readonly (KeyValue | undefined)[]) => items.map((item) => item!.value.toString());
    const [old, changed] = [97, 98].map((fill) => sizes.map((size) => valueOf(size, fill)));
    expect(texts(ranges[0]!.items)).toEqual(old);
    expect(texts(ranges[1]!.items)).toEqual(old!.slice(0, 5));
    expect(texts(single.map(({ item }) => item))).toEqual(old);
    expect(texts(later.items)).toEqual(changed);
    expect(texts(past.items)).toEqual(old);
  });

  it('maps its file once, with room to grow', async () => {
    const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
    if (!/^Max address space +unlimited/m.test(limits)) return;
    await open();
    const maps = (await readFile('/proc/self/maps', 'utf8')).split('\n').filter((line) => line.includes(directory));
    const sizes = maps
      .filter((line) => line.includes('data.mdb'))
      .map((line) =>
        line
          .split(' ')[0]!
          .split('-')
          .map((address) => Number.parseInt(address, 16)),
      )
      .map(([start, end]) => (end! - start!) / 1024 ** 3);
    expect(sizes).toEqual([64]);
  });

  it('keeps the summary of a value with it, also in the past and after a restart', async () => {
    const store = await open();
    const summarized = (value: string): Write => {
      return { type: 'put', key: '/a', value: Buffer.from(value), summarize: () => Buffer.from(`of ${value}`) };
    };
    await store.txn([], [summarized('one')]);
    const first = await store.revision();
    await store.txn([], [summarized('two')]);
    await store.close();
    const again = await open();
    const texts = async (revision?: Revision) => {
      const { item } = await again.get('/a', revision === undefined ? {} : { revision });
      const { items } = await again.range('/', revision === undefined ? {} : { revision });
      expect(items).toEqual([item]);
      return [item!.createRevision, item!.modRevision, String(item!.value), String(item!.summary)].join(' ');
    };
    expect(await texts(first)).toBe('2 2 one of one');
    expect(await texts()).toBe('2 3 two of two');
    await again.txn([], [put('/a', 'three')]);
    expect((await again.get('/a')).item).toEqual({
      key: '/a',
      value: Buffer.from('three'),
      createRevision: 2,
      modRevision: 4,
    });
  });

  describe('a range that defers values', () => {
    const large = (fill: string) => Buffer.from(fill.repeat(2_000));
    const write = (key: string, value: Buffer): Write => ({
      type: 'put',
      key,
      value,
      summarize: () => Buffer.from(`of ${value.toString('latin1', 0, 1)}`),
    });
    const read = ({ key, modRevision, value, deferred }: KeyValue) => deferred?.read(key, modRevision) ?? value;
    const deferring = async (store: KvStore, limit?: number) =>
      (await store.range('/', { defersValues: true, ...(limit && { limit }) })).items;

    it('has the items of another range, with the values of large summarized ones left in the store', async () => {
      const store = await open();
      const writes = [write('/a', large('a')), put('/b'), write('/c', Buffer.from('c')), write('/d', large('d'))];
      await store.txn([], writes);
      await store.txn([], [write('/e', large('e')), write('/a', large('f'))]);
      await store.close();
      const again = await open();
      const plain = (await again.range('/')).items;
      const items = await deferring(again);
      expect(items.map(({ deferred }) => deferred?.length)).toEqual([2_000, undefined, undefined, 2_000, 2_000]);
      expect(items.map((item) => ({ ...item, value: read(item), deferred: undefined }))).toEqual(
        plain.map((item) => ({ ...item, deferred: undefined })),
      );
      const page = await again.range('/', { defersValues: true, limit: 2 });
      const rest = await again.range('/', { defersValues: true, from: '/b\0', revision: page.revision });
      expect([page.count, rest.count]).toEqual([5, 3]);
      expect([...page.items, ...rest.items].map(({ key }) => key)).toEqual(plain.map(({ key }) => key));
    });

    it('reads the values of its revision after they were replaced and deleted, until they are compacted', async () => {
      const store = await open({ historyMs: 0 });
      for (const key of ['/a', '/b', '/c']) await store.txn([], [write(key, large('1'))]);
      const items = await deferring(store);
      await store.txn([], [write('/a', large('2')), { type: 'delete', key: '/b' }]);
      await store.txn([], [write('/b', large('3'))]);
      for (const item of items) expect(read(item)).toEqual(large('1'));
      await store.compact(await store.revision());
      expect(read(items[2]!)).toEqual(large('1'));
      for (const item of items.slice(0, 2)) expect(() => read(item)).toThrow(/no longer kept/);
    });

    it('keeps no value of a state that has become small or was deleted', async () => {
      const store = await open();
      await store.txn([], [write('/a', large('a')), write('/b', large('b')), write('/c', large('c'))]);
      await store.txn([], [put('/a', 'small'), { type: 'delete', key: '/b' }]);
      await store.txn([], [put('/c', large('x').toString())]);
      const items = await deferring(store);
      expect(items.map(({ key, deferred, value }) => [key, deferred, value.length])).toEqual([
        ['/a', undefined, 5],
        ['/c', undefined, 2_000],
      ]);
      await store.close();
      await tamper(async (database) => {
        expect([...database.getKeys({ start: Buffer.from('v'), end: Buffer.from('w') })]).toEqual([]);
      });
    });

    it('checks a value when it is read', async () => {
      const store = await open();
      await store.txn([], [write('/a', large('a'))]);
      await store.close();
      await tamper(async (database) => {
        const value = Buffer.from(database.get(Buffer.from('v/a'))!);
        value[value.length - 1]! ^= 1;
        await database.put(Buffer.from('v/a'), value);
      });
      const [item] = await deferring(await open());
      expect(item?.deferred?.length).toBe(2_000);
      expect(() => read(item!)).toThrow(/stored state of .a is corrupt: the checksum of its value/);
    });
  });

  describe('corruption', () => {
    const flip = (bytes: Buffer) => {
      bytes[bytes.length - 1]! ^= 1;
      return bytes;
    };

    it('of a value rejects reads of its key (corrupt), and no others', async () => {
      const store = await open();
      await store.txn([], [put('/a'), put('/b')]);
      await store.close();
      await tamper((database) => database.put(stateKey('/a'), flip(database.get(stateKey('/a'))!)));
      const again = await open();
      for (const call of [again.get('/a'), again.range('/'), again.txn([], [put('/a')])]) {
        expect(await codeOf(call)).toEqual(['corrupt', expect.stringContaining('/a')]);
      }
      expect((await again.get('/b')).item?.value.toString()).toBe('/b');
      await again.txn([], [put('/b')]);
    });

    it('of history ends watches that need it, and no others', async () => {
      const store = await open();
      const { revision: first } = await store.txn([], [put('/a', '1')]);
      const { revision: second } = await store.txn([], [put('/a', '2')]);
      await store.close();
      const replaced = historyKey('/a', second);
      await tamper((database) => database.put(replaced, flip(database.get(replaced)!)));
      const again = await open();
      const ended = await new Promise<Error>((resolve) => {
        again.watch('/', { from: first }, { events: () => undefined, progress: () => undefined, ended: resolve });
      });
      expect(ended).toMatchObject({ code: 'corrupt', message: expect.stringContaining('/a') as string });
      expect((await again.get('/a')).item?.value.toString()).toBe('2');
    });

    it('of the file is reported (corrupt) without crashing the process', async () => {
      const store = await open();
      for (let i = 0; i < 50; i++) await store.txn([], [put(`/${i}`, 'x'.repeat(3_000))]);
      await store.close();
      const healthy = directory;
      for (const damage of ['half', 'junk', 'stub']) {
        directory = `${healthy}-${damage}`;
        await mkdir(directory);
        const file = join(directory, 'data.mdb');
        await copyFile(join(healthy, 'data.mdb'), file);
        if (damage === 'half') await truncate(file, 4_096 * Math.floor((await readFile(file)).length / 8_192));
        else await writeFile(file, damage === 'junk' ? Buffer.alloc(50_000, 'junk') : 'stub');
        const warnings: string[] = [];
        const warn = (message: string) => void warnings.push(message);
        const logger = { debug: warn, info: warn, warn, error: warn };
        const error = await codeOf(open({ logger }).then((half) => half.range('/')));
        expect(error).toEqual(['corrupt', expect.stringContaining(directory)]);
      }
    });
  });

  describe('limits', () => {
    it.each([
      ['a key', put('k'.repeat(1_901), '')],
      ['a key of many zero bytes', put('\0'.repeat(1_500), '')],
      ['a value', put('k', 'x'.repeat(3 * 1024 * 1024 + 1))],
    ])('rejects %s that is too large', async (_, write) => {
      const store = await open();
      expect((await codeOf(store.txn([], [write])))[0]).toBe('tooLarge');
      expect(await store.revision()).toBe(1);
    });

    it('keys with zero bytes keep their order, also in history', async () => {
      const store = await open();
      const keys = ['a', 'a\0', 'a\0\0', 'a\0b', 'a\x01', 'ab'];
      for (const key of [...keys].reverse()) await store.txn([], [put(key, 'old')]);
      const then = await store.revision();
      for (const key of keys) await store.txn([], [put(key, 'new')]);
      const past = await store.range('', { revision: then });
      expect(past.items.map(({ key, value }) => [key, value.toString()])).toEqual(keys.map((key) => [key, 'old']));
      expect((await store.get('a\0', { revision: then })).item?.value.toString()).toBe('old');
    });
  });

  describe('history', () => {
    it('is kept for historyMs, and compacted at the next interval', async () => {
      const clock = new ManualClock();
      const store = await open({ clock, historyMs: 60_000, compactionIntervalMs: 10_000 });
      const { revision: first } = await store.txn([], [put('/a', '1')]);
      const { revision: second } = await store.txn([], [put('/a', '2')]);
      clock.advance(30_000);
      const { revision: third } = await store.txn([], [put('/a', '3')]);
      const isKept = async (revision: number) => {
        const [code] = await codeOf(store.get('/a', { revision: revisionOf(revision) }));
        return code === undefined;
      };
      clock.advance(29_999);
      await settled(store);
      expect(await isKept(first)).toBe(true);
      clock.advance(10_001);
      await until(async () => !(await isKept(first)));
      expect([await isKept(second), await isKept(third)]).toEqual([true, true]);
      expect((await store.get('/a', { revision: second })).item?.value.toString()).toBe('2');
    });

    it('is compacted in slices under concurrent writes, down to the last record', async () => {
      const store = await open();
      for (let i = 0; i < 10; i++) {
        await Promise.all(Array.from({ length: 100 }, (_, j) => store.txn([], [put(`/${j}`, `${i}`)])));
      }
      const compacted = store.compact(await store.revision());
      await Promise.all([compacted, ...Array.from({ length: 50 }, (_, j) => store.txn([], [put(`/${j}`, 'late')]))]);
      await store.close();
      let history = 0;
      await tamper(async (database) => {
        history = database.getKeysCount({ start: Buffer.from('h'), end: Buffer.from('i') });
      });
      // The revision compacted to, and the fifty after it.
      expect(history).toBe(51);
      expect((await (await open()).range('/')).count).toBe(100);
    });
  });
});

/** Resolves after pending commits. */
const settled = async (store: KvStore) => void (await store.txn([], []));

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}
