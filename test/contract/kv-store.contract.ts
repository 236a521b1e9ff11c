import { revisionOf, type Revision } from '../../src/machinery/revision.js';
import type { KvStore, KeyValue, StoreEvent, Watch, WatchSink, Write } from '../../src/storage/kv-store.js';
import { StorageError, type StorageErrorCode } from '../../src/storage/storage-error.js';

/** A store under test. It may hold earlier writes, but has no other writers. */
interface ContractSubject {
  readonly store: KvStore;
  /** Closes the store and reopens it on the same data. */
  reopen?(): Promise<KvStore>;
  /** Releases the resources of `open` after the store was closed. */
  dispose?(): Promise<void>;
}

interface ContractFacts {
  /** A value of this size is accepted, one of twice the size is rejected. */
  readonly valueBytesMax: number;
  /** True if data survive a restart; its subjects can reopen. */
  readonly isDurable: boolean;
}

/**
 * The contract suite that every backend passes. Tests use separate prefixes, and compare revisions with the revision of
 * the store at their beginning.
 */
export function kvStoreContract(name: string, open: () => Promise<ContractSubject>, facts: ContractFacts): void {
  describe(`KvStore contract: ${name}`, () => {
    let subject: ContractSubject;
    let store: KvStore;
    let prefix: string;
    let base: Revision;
    let serial = 0;
    const recorders: Recorder[] = [];

    beforeAll(async () => {
      subject = await open();
      store = subject.store;
    });
    beforeEach(async () => {
      prefix = `/contract/${name}/${serial++}/`;
      base = await store.revision();
    });
    afterEach(() => {
      for (const recorder of recorders.splice(0)) recorder.watch?.close();
    });
    afterAll(async () => {
      await store.close();
      await subject.dispose?.();
    });

    const put = (key: string, value = key): Write => ({ type: 'put', key: prefix + key, value: Buffer.from(value) });
    const del = (key: string): Write => ({ type: 'delete', key: prefix + key });
    const at = (revision: number) => revisionOf(revision);
    const write = async (...writes: Write[]) => (await store.txn([], writes)).revision;
    const keysOf = (items: readonly KeyValue[]) => items.map((item) => item.key.slice(prefix.length));
    const watch = (from: number, options: { withPrevious?: boolean; prefix?: string } = {}) => {
      const recorder = new Recorder(prefix);
      recorders.push(recorder);
      const { prefix: under = prefix, ...rest } = options;
      recorder.watch = store.watch(under, { from: at(from), ...rest }, recorder);
      return recorder;
    };

    describe('get', () => {
      it('returns no item and the revision of the store for an absent key', async () => {
        expect(await store.get(prefix + 'a')).toEqual({ item: undefined, revision: base });
      });

      it('returns the value with create-revision and mod-revision', async () => {
        const created = await write(put('a', 'one'));
        const changed = await write(put('a', 'two'));
        const { item, revision } = await store.get(prefix + 'a');
        expect(show(item)).toEqual(['two', created, changed]);
        expect(item?.key).toBe(prefix + 'a');
        expect(revision).toBe(changed);
      });

      it('a put after a deletion has a new create-revision', async () => {
        await write(put('a'));
        await write(del('a'));
        expect((await store.get(prefix + 'a')).item).toBeUndefined();
        const again = await write(put('a', 'again'));
        expect(show((await store.get(prefix + 'a')).item)).toEqual(['again', again, again]);
      });

      it('returns the state at a revision', async () => {
        const states = [];
        for (const step of [[put('a', '1')], [put('b', '1')], [put('a', '2')], [del('a')], [put('a', '3')]]) {
          states.push(await write(...step));
        }
        const values = [];
        for (const revision of [base, ...states]) {
          const result = await store.get(prefix + 'a', { revision });
          expect(result.revision).toBe(states.at(-1));
          values.push(result.item?.value.toString());
        }
        expect(values).toEqual([undefined, '1', '1', '2', undefined, '3']);
        expect(show((await store.get(prefix + 'a', { revision: states[2]! })).item)).toEqual([
          '2',
          states[0],
          states[2],
        ]);
      });

      it.each([
        ['nothing', Buffer.alloc(0)],
        ['a zero byte', Buffer.from([0])],
        ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0xc0])],
        ['a Uint8Array inside a larger buffer', new Uint8Array([9, 1, 2, 3, 9]).subarray(1, 4)],
        ['20 kB', Buffer.alloc(20_000, 'x')],
      ])('returns %s unchanged', async (_, value) => {
        await store.txn([], [{ type: 'put', key: prefix + 'a', value }]);
        const { item } = await store.get(prefix + 'a');
        expect(Buffer.compare(item!.value, value)).toBe(0);
      });

      it('returns bytes that later calls do not change', async () => {
        await write(put('a', 'first'), put('b', 'other'));
        const { item } = await store.get(prefix + 'a');
        await store.get(prefix + 'b');
        await write(put('a', 'later'));
        await store.range(prefix);
        expect(item!.value.toString()).toBe('first');
      });
    });

    describe('range', () => {
      it.each([
        { under: '', options: {}, want: ['a', 'b/1', 'b/2', 'b/3', 'ba', 'c'], count: 6 },
        { under: 'b/', options: {}, want: ['b/1', 'b/2', 'b/3'], count: 3 },
        { under: 'b', options: {}, want: ['b/1', 'b/2', 'b/3', 'ba'], count: 4 },
        { under: 'b/', options: { limit: 2 }, want: ['b/1', 'b/2'], count: 3 },
        { under: 'b/', options: { limit: 3 }, want: ['b/1', 'b/2', 'b/3'], count: 3 },
        { under: 'b/', options: { from: 'b/2' }, want: ['b/2', 'b/3'], count: 2 },
        { under: 'b/', options: { from: 'b/2', limit: 1 }, want: ['b/2'], count: 2 },
        { under: 'b/', options: { from: 'b/9' }, want: [], count: 0 },
        { under: 'x', options: {}, want: [], count: 0 },
      ])('$under $options', async ({ under, options, want, count }) => {
        await write(...['c', 'b/2', 'a', 'b/1', 'ba', 'b/3'].map((key) => put(key)));
        const revision = await write(put('b/1', 'changed'));
        const { from, ...rest } = { from: undefined, ...options };
        const result = await store.range(prefix + under, {
          ...rest,
          ...(from !== undefined && { from: prefix + from }),
        });
        expect(keysOf(result.items)).toEqual(want);
        expect(result.count).toBe(count);
        expect(result.revision).toBe(revision);
      });

      it('continues after a key, from the key with a zero byte appended', async () => {
        await write(put('a'), put('a/'), put('b'));
        const { items, count } = await store.range(prefix, { from: `${prefix}a\0` });
        expect([keysOf(items), count]).toEqual([['a/', 'b'], 2]);
      });

      it('sorts keys by their UTF-8 bytes', async () => {
        // In UTF-16 the emoji (U+1F600) would come before U+FB00.
        const keys = ['A', 'a', 'é', '你', '\ufb00', '\u{1f600}', '\u{1f600}z'];
        await write(...[...keys].reverse().map((key) => put(key)));
        expect(keysOf((await store.range(prefix)).items)).toEqual(keys);
        expect(keysOf((await store.range(prefix, { from: `${prefix}\ufb00` })).items)).toEqual(keys.slice(4));
      });

      it('excludes deleted keys', async () => {
        await write(put('a'), put('b'), put('c'));
        await write(del('b'));
        const { items, count } = await store.range(prefix);
        expect([keysOf(items), count]).toEqual([['a', 'c'], 2]);
      });

      it('returns the state at a revision page by page, under concurrent writes', async () => {
        await write(...['a', 'b', 'c', 'd', 'e'].map((key) => put(key, 'old')));
        const then = await store.revision();
        await write(put('aa', 'new'), del('b'), put('c', 'new'));
        await write(del('d'));
        await write(put('b', 'again'), del('e'));
        const first = await store.range(prefix, { revision: then, limit: 2 });
        const second = await store.range(prefix, { revision: then, from: prefix + 'c', limit: 2 });
        const third = await store.range(prefix, { revision: then, from: prefix + 'e', limit: 2 });
        const pages = [first, second, third];
        expect(pages.map(({ items }) => keysOf(items))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
        expect(pages.map(({ count }) => count)).toEqual([5, 3, 1]);
        expect(pages.flatMap(({ items }) => items).every(({ value }) => value.toString() === 'old')).toBe(true);
        expect(first.revision).toBe(await store.revision());
        expect(keysOf((await store.range(prefix)).items)).toEqual(['a', 'aa', 'b', 'c']);
      });

      it('returns every past revision of a busy prefix', async () => {
        const model = new Map<string, string>();
        const states = new Map<Revision, [string, string][]>();
        for (let step = 0; step < 60; step++) {
          const key = `k${(step * 7) % 5}`;
          if (step % 3 === 2) model.delete(key);
          else model.set(key, `${step}`);
          const revision = await write(step % 3 === 2 ? del(key) : put(key, `${step}`));
          states.set(revision, [...model].sort());
        }
        for (const [revision, want] of states) {
          const { items, count } = await store.range(prefix, { revision });
          expect(items.map((item) => [item.key.slice(prefix.length), item.value.toString()])).toEqual(want);
          expect(count).toBe(want.length);
        }
      });

      it('returns many keys in order', async () => {
        const keys = Array.from({ length: 3_000 }, (_, i) => `${i}`.padStart(5, '0'));
        for (let i = 0; i < keys.length; i += 100) await write(...keys.slice(i, i + 100).map((key) => put(key, 'v')));
        const all = await store.range(prefix);
        expect(keysOf(all.items)).toEqual(keys);
        expect((await store.range(prefix, { limit: 1, from: prefix + '01000' })).count).toBe(2_000);
      });
    });

    describe('txn', () => {
      it('gives each writing transaction the next revision, shared by all its writes', async () => {
        const first = await write(put('a'), put('b'));
        const second = await write(put('b'), put('c'), del('a'));
        expect([first, second]).toEqual([base + 1, base + 2]);
        const { items } = await store.range(prefix);
        expect(items.map((item) => [item.createRevision, item.modRevision])).toEqual([
          [first, second],
          [second, second],
        ]);
        expect(await store.revision()).toBe(second);
      });

      it.each([
        { name: 'an absent key expected absent', compare: 'none', expected: 0, succeeded: true },
        { name: 'an existing key expected absent', compare: 'some', expected: 0, succeeded: false },
        { name: 'an existing key expected at its revision', compare: 'some', expected: 'mod', succeeded: true },
        {
          name: 'an existing key expected at an older revision',
          compare: 'some',
          expected: 'create',
          succeeded: false,
        },
        { name: 'an absent key expected at a revision', compare: 'none', expected: 'mod', succeeded: false },
        { name: 'a deleted key expected at a revision', compare: 'deleted', expected: 'mod', succeeded: false },
        { name: 'a deleted key expected absent', compare: 'deleted', expected: 0, succeeded: true },
      ] as const)('compares: $name', async ({ compare, expected, succeeded }) => {
        const create = await write(put('some', '1'), put('deleted'));
        const mod = await write(put('some', '2'), del('deleted'));
        const modRevision = expected === 'mod' ? mod : at(expected === 'create' ? create : 0);
        const result = await store.txn([{ key: prefix + compare, modRevision }], [put('effect')]);
        expect(result.succeeded).toBe(succeeded);
        expect(result.revision).toBe(succeeded ? mod + 1 : mod);
        expect((await store.get(prefix + 'effect')).item !== undefined).toBe(succeeded);
        if (!result.succeeded) {
          expect(result.current.map(show)).toEqual([compare === 'some' ? ['2', create, mod] : undefined]);
        }
      });

      it('writes nothing if one of several compares fails, and returns all compared keys', async () => {
        const revision = await write(put('a'), put('b'));
        const compares = [
          { key: prefix + 'a', modRevision: revision },
          { key: prefix + 'b', modRevision: at(0) },
          { key: prefix + 'c', modRevision: at(0) },
        ];
        const result = await store.txn(compares, [put('a', 'x'), put('c', 'x')]);
        expect(result).toMatchObject({ succeeded: false, revision });
        expect(result.succeeded ? [] : result.current.map(show)).toEqual([
          ['a', revision, revision],
          ['b', revision, revision],
          undefined,
        ]);
        expect(keysOf((await store.range(prefix)).items)).toEqual(['a', 'b']);
      });

      it('uses no revision without effective writes', async () => {
        expect(await write()).toBe(base);
        expect(await write(del('absent'))).toBe(base);
        expect(await write(put('a'), del('absent'))).toBe(base + 1);
      });

      it('exactly one of many concurrent writers succeeds', async () => {
        const attempts = Array.from({ length: 30 }, (_, i) =>
          store.txn([{ key: prefix + 'a', modRevision: at(0) }], [put('a', `${i}`)]),
        );
        const results = await Promise.all(attempts);
        expect(results.filter((result) => result.succeeded)).toHaveLength(1);
        expect(await store.revision()).toBe(base + 1);
      });

      it('loses no concurrent read-modify-write, and uses no revision twice', async () => {
        await write(put('counter', '0'));
        const revisions: number[] = [];
        const increment = async () => {
          for (;;) {
            const { item } = await store.get(prefix + 'counter');
            const next = put('counter', `${Number(item!.value.toString()) + 1}`);
            const result = await store.txn([{ key: prefix + 'counter', modRevision: item!.modRevision }], [next]);
            if (result.succeeded) return revisions.push(result.revision);
          }
        };
        await Promise.all(Array.from({ length: 12 }, increment));
        expect((await store.get(prefix + 'counter')).item!.value.toString()).toBe('12');
        expect(revisions.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => base + 2 + i));
      });

      it('a read sees every write acknowledged before it', async () => {
        for (let i = 0; i < 20; i++) {
          const revision = await write(put('a', `${i}`));
          const [get, range, current] = await Promise.all([
            store.get(prefix + 'a'),
            store.range(prefix),
            store.revision(),
          ]);
          expect([get.item!.value.toString(), range.items[0]!.value.toString()]).toEqual([`${i}`, `${i}`]);
          expect([get.revision, range.revision, current]).toEqual([revision, revision, revision]);
        }
      });

      it('accepts the longest keys of Kubernetes', async () => {
        const key = `${'g'.repeat(63)}/${'n'.repeat(63)}/${'x'.repeat(253)}/${'y'.repeat(253)}`;
        await write(put(key, 'v'));
        await write(put(key, 'w'));
        expect((await store.get(prefix + key)).item!.value.toString()).toBe('w');
        expect((await store.get(prefix + key, { revision: at(base + 1) })).item!.value.toString()).toBe('v');
      });

      it('accepts a value of the maximum size, and rejects a larger one (tooLarge)', async () => {
        const large = Buffer.alloc(facts.valueBytesMax, 'x');
        await store.txn([], [{ type: 'put', key: prefix + 'large', value: large }]);
        expect((await store.get(prefix + 'large')).item!.value.equals(large)).toBe(true);
        const larger = Buffer.alloc(facts.valueBytesMax * 2, 'x');
        await refused(
          store.txn([], [put('small'), { type: 'put', key: prefix + 'larger', value: larger }]),
          'tooLarge',
        );
        expect(await store.revision()).toBe(base + 1);
      });
    });

    describe('watch', () => {
      it('delivers events once and in order, after watch() has returned', async () => {
        const recorder = watch(base + 1);
        await write(put('a', '1'));
        await write(put('b', '1'), put('c', '1'));
        await write(del('b'));
        await write(put('a', '2'));
        const last = await write(put('end'));
        await recorder.reached(last);
        expect(recorder.log).toEqual([
          `put a=1 @${base + 1} created ${base + 1}`,
          `put b=1 @${base + 2} created ${base + 2}`,
          `put c=1 @${base + 2} created ${base + 2}`,
          `delete b @${base + 3}`,
          `put a=2 @${base + 4} created ${base + 1}`,
          `put end=end @${base + 5} created ${base + 5}`,
        ]);
        expect(recorder.tooEarly).toBe(false);
      });

      it('replays past events, then delivers new ones', async () => {
        await write(put('a', '1'));
        const second = await write(put('a', '2'));
        await write(del('a'));
        const recorder = watch(second);
        const last = await write(put('a', '3'));
        await recorder.reached(last);
        expect(recorder.log).toEqual([
          `put a=2 @${second} created ${second - 1}`,
          `delete a @${second + 1}`,
          `put a=3 @${second + 2} created ${second + 2}`,
        ]);
        expect(recorder.tooEarly).toBe(false);
      });

      it('starts at a future revision', async () => {
        const recorder = watch(base + 3);
        for (const key of ['a', 'b', 'c', 'd']) await write(put(key));
        await recorder.reached(at(base + 4));
        expect(recorder.keys).toEqual(['c', 'd']);
      });

      it('delivers whole revisions', async () => {
        const recorder = watch(base + 1);
        for (let i = 0; i < 20; i++) await write(put('a', `${i}`), put('b', `${i}`), put('c', `${i}`));
        await recorder.reached(at(base + 20));
        for (const batch of recorder.batches) {
          expect(batch.events.length % 3).toBe(0);
          expect(batch.revision).toBe(batch.events.at(-1)!.revision);
        }
        expect(recorder.delivered).toHaveLength(60);
      });

      it('filters by prefix', async () => {
        const recorder = watch(base + 1, { prefix: `${prefix}b/` });
        await write(put('a'), put('b/1'), put('b'), put('bc'));
        await write(put('a'));
        const last = await write(put('b/2'));
        await recorder.reached(last);
        expect(recorder.keys).toEqual(['b/1', 'b/2']);
      });

      it('includes previous values with withPrevious', async () => {
        const recorder = watch(base + 1, { withPrevious: true });
        const plain = watch(base + 1);
        await write(put('a', '1'));
        await write(put('a', '2'));
        await write(del('a'));
        const last = await write(put('a', '3'));
        await Promise.all([recorder.reached(last), plain.reached(last)]);
        const again = watch(base + 1, { withPrevious: true });
        await again.reached(last);
        const want = [undefined, ['1', base + 1, base + 1], ['2', base + 1, base + 2], undefined];
        expect(recorder.delivered.map((event) => show(event.previous))).toEqual(want);
        expect(again.delivered.map((event) => show(event.previous))).toEqual(want);
        expect(plain.delivered.every((event) => event.previous === undefined)).toBe(true);
      });

      it('delivers in store order under concurrent writers', async () => {
        const recorder = watch(base + 1);
        const writer = async (id: number) => {
          for (let i = 0; i < 25; i++) await write(put(`${id}`, `${i}`));
        };
        await Promise.all(Array.from({ length: 8 }, (_, id) => writer(id)));
        await recorder.reached(at(base + 200));
        const revisions = recorder.delivered.map(({ revision }) => revision);
        expect(revisions).toEqual(Array.from({ length: 200 }, (_, i) => base + 1 + i));
        for (let id = 0; id < 8; id++) {
          const values = recorder.delivered.flatMap((e) => (e.item?.key === `${prefix}${id}` ? [e.item] : []));
          expect(values.map((item) => item.value.toString())).toEqual(Array.from({ length: 25 }, (_, i) => `${i}`));
        }
      });

      it('delivers the same events to several watches', async () => {
        const all = Array.from({ length: 5 }, () => watch(base + 1));
        for (let i = 0; i < 10; i++) await write(put('a', `${i}`));
        const late = watch(base + 1);
        await Promise.all([...all, late].map((recorder) => recorder.reached(at(base + 10))));
        for (const recorder of all) expect(recorder.log).toEqual(late.log);
      });

      it('replays a long history completely', async () => {
        const count = 1_500;
        for (let i = 0; i < count; i += 50) {
          await Promise.all(Array.from({ length: 50 }, (_, j) => write(put(`${(i + j) % 7}`, `${i + j}`))));
        }
        const recorder = watch(base + 1);
        await recorder.reached(at(base + count));
        expect(recorder.delivered.map(({ revision }) => revision)).toEqual(
          Array.from({ length: count }, (_, i) => base + 1 + i),
        );
      });

      it('delivers nothing after close(), also when closed within a delivery', async () => {
        const closed = watch(base + 1);
        closed.watch!.close();
        const inside = watch(base + 1);
        inside.onEvents = () => inside.watch!.close();
        await write(put('a'));
        await inside.reached(at(base + 1));
        const fence = watch(base + 1);
        await fence.reached(await write(put('b')));
        closed.watch!.close();
        expect(closed.calls).toBe(0);
        expect(inside.keys).toEqual(['a']);
        expect(inside.error).toBeUndefined();
      });

      it('reports progress without events under the prefix', async () => {
        const recorder = watch(base + 1, { prefix: `${prefix}quiet/` });
        const last = await write(put('elsewhere'));
        while (recorder.revision < last) {
          recorder.watch!.requestProgress();
          await recorder.changed();
        }
        expect(recorder.delivered).toEqual([]);
      });
    });

    describe('compact', () => {
      const history = async () => {
        const revisions = [];
        for (const step of [[put('a', '1')], [put('a', '2'), put('b', '1')], [del('b')], [put('a', '3')]]) {
          revisions.push(await write(...step));
        }
        return revisions as [Revision, Revision, Revision, Revision];
      };

      it('rejects reads below the revision, and keeps those from it on', async () => {
        const [first, second, third, fourth] = await history();
        await store.compact(second);
        await refused(store.get(prefix + 'a', { revision: first }), 'compacted');
        await refused(store.range(prefix, { revision: first }), 'compacted');
        const values = async (revision: Revision) =>
          (await store.range(prefix, { revision })).items.map((item) => item.value.toString());
        expect(await values(second)).toEqual(['2', '1']);
        expect(await values(third)).toEqual(['2']);
        expect(await values(fourth)).toEqual(['3']);
        await store.compact(fourth);
        await refused(store.range(prefix, { revision: third }), 'compacted');
        expect(await values(fourth)).toEqual(['3']);
        expect(show((await store.get(prefix + 'a')).item)).toEqual(['3', first, fourth]);
      });

      it('ends watches from below the revision, and starts those from it on', async () => {
        const [first, second, , fourth] = await history();
        await store.compact(second);
        const below = watch(first);
        await below.failed();
        expect(below.error).toMatchObject({ name: 'StorageError', code: 'compacted' });
        expect(below.delivered).toEqual([]);
        const above = watch(second + 1);
        await above.reached(fourth);
        expect(above.keys).toEqual(['b', 'a']);
      });

      it('does not end a watch that is up to date', async () => {
        const recorder = watch(base + 1);
        const [, , , fourth] = await history();
        await recorder.reached(fourth);
        await store.compact(fourth);
        const last = await write(put('c'));
        await recorder.reached(last);
        expect(recorder.error).toBeUndefined();
        expect(recorder.keys).toEqual(['a', 'a', 'b', 'b', 'a', 'c']);
      });

      it('uses no revision, is idempotent, and rejects future revisions', async () => {
        const [, second, , fourth] = await history();
        await store.compact(second);
        await store.compact(second);
        await store.compact(at(second - 1));
        expect(await store.revision()).toBe(fourth);
        await refused(store.compact(at(fourth + 1)), 'futureRevision');
      });
    });

    describe('errors', () => {
      it('rejects a read at a future revision (futureRevision)', async () => {
        const revision = at(base + 1);
        await refused(store.get(prefix + 'a', { revision }), 'futureRevision');
        await refused(store.range(prefix, { revision }), 'futureRevision');
      });

      it('rejects a call with an aborted signal without effect', async () => {
        const signal = AbortSignal.abort(new Error('gone'));
        const error = await refused(store.get(prefix + 'a', { signal }), 'unavailable');
        expect(error.cause).toEqual(new Error('gone'));
        await refused(store.range(prefix, { signal }), 'unavailable');
        await refused(store.txn([], [put('a')], { signal }), 'unavailable');
        await refused(store.revision({ signal }), 'unavailable');
        expect(await store.revision()).toBe(base);
      });

      it('rejects at once when the signal is aborted during the call', async () => {
        const controller = new AbortController();
        const answer = store.txn([], [put('a')], { signal: controller.signal }).then(
          () => 'written',
          (error: StorageError) => error.code,
        );
        controller.abort();
        expect(['written', 'unavailable']).toContain(await answer);
      });

      it('rejects every call after close() (closed)', async () => {
        const other = await open();
        const recorder = new Recorder(prefix);
        other.store.watch(prefix, { from: at((await other.store.revision()) + 1) }, recorder);
        await other.store.close();
        await other.store.close();
        await recorder.failed();
        expect(recorder.error).toMatchObject({ code: 'closed' });
        await refused(other.store.get(prefix + 'a'), 'closed');
        await refused(other.store.range(prefix), 'closed');
        await refused(other.store.txn([], [put('a')]), 'closed');
        await refused(other.store.revision(), 'closed');
        await refused(other.store.compact(at(1)), 'closed');
        const late = new Recorder(prefix);
        other.store.watch(prefix, { from: at(1) }, late);
        await late.failed();
        expect(late.error).toMatchObject({ code: 'closed' });
        expect(late.tooEarly).toBe(false);
        await other.dispose?.();
      });
    });

    (facts.isDurable ? describe : describe.skip)('after reopening', () => {
      it('keeps data, revisions and history', async () => {
        const first = await write(put('a', '1'), put('b', '1'));
        const second = await write(put('a', '2'), del('b'));
        store = await subject.reopen!();
        expect(await store.revision()).toBe(second);
        expect(show((await store.get(prefix + 'a')).item)).toEqual(['2', first, second]);
        expect(keysOf((await store.range(prefix, { revision: first })).items)).toEqual(['a', 'b']);
        const recorder = watch(first, { withPrevious: true });
        const third = await write(put('a', '3'));
        expect(third).toBe(second + 1);
        await recorder.reached(third);
        expect(recorder.log.map((line) => line.split(' created')[0])).toEqual([
          `put a=1 @${first}`,
          `put b=1 @${first}`,
          `put a=2 @${second}`,
          `delete b @${second}`,
          `put a=3 @${third}`,
        ]);
        expect(recorder.delivered.map((event) => event.previous?.value.toString())).toEqual([
          undefined,
          undefined,
          '1',
          '1',
          '2',
        ]);
        await store.compact(second);
        store = await subject.reopen!();
        await refused(store.get(prefix + 'a', { revision: first }), 'compacted');
        expect(keysOf((await store.range(prefix, { revision: second })).items)).toEqual(['a']);
      });
    });
  });
}

/** A sink that records calls, for which tests can wait. */
export class Recorder implements WatchSink {
  readonly batches: { events: readonly StoreEvent[]; revision: Revision }[] = [];
  /** The last revision up to which it has received all events. */
  revision = 0;
  error: Error | undefined;
  calls = 0;
  tooEarly = false;
  onEvents: (() => void) | undefined;
  watch: Watch | undefined;
  private waiting: (() => void)[] = [];
  private isReturned = false;

  constructor(private readonly prefix: string) {
    // The sink must not be called before watch() has returned, which is before the next microtask.
    queueMicrotask(() => (this.isReturned = true));
  }

  events(events: readonly StoreEvent[], revision: Revision): void {
    this.batches.push({ events, revision });
    this.called(revision);
    this.onEvents?.();
  }

  progress(revision: Revision): void {
    this.called(revision);
  }

  ended(error: Error): void {
    this.error = error;
    this.called(this.revision);
  }

  get delivered(): StoreEvent[] {
    return this.batches.flatMap((batch) => batch.events);
  }

  get log(): string[] {
    return this.delivered.map((event) =>
      event.type === 'put'
        ? `put ${event.item.key.slice(this.prefix.length)}=${event.item.value.toString()} @${event.item.modRevision} created ${event.item.createRevision}`
        : `delete ${event.key.slice(this.prefix.length)} @${event.revision}`,
    );
  }

  get keys(): string[] {
    return this.delivered.map(({ key }) => key.slice(this.prefix.length));
  }

  async reached(revision: Revision): Promise<void> {
    while (this.revision < revision) {
      if (this.error) throw this.error;
      await this.changed();
    }
  }

  async failed(): Promise<void> {
    while (!this.error) await this.changed();
  }

  changed(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private called(revision: number): void {
    this.calls++;
    if (!this.isReturned) this.tooEarly = true;
    if (revision < this.revision) throw new Error(`a watch went back from ${this.revision} to ${revision}`);
    this.revision = revision;
    for (const resume of this.waiting.splice(0)) resume();
  }
}

const show = (item: KeyValue | undefined) => item && [item.value.toString(), item.createRevision, item.modRevision];

/** Expects a rejection with a StorageError of the code. */
export async function refused(call: Promise<unknown>, code: StorageErrorCode): Promise<StorageError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StorageError);
  expect((error as StorageError).code).toBe(code);
  return error as StorageError;
}
