import { ManualClock } from '../../std/clock.js';
import { silentLogger, type Logger } from '../../std/logger.js';
import { MemoryStore } from '../backends/memory/memory-store.js';
import { CompactionLoop, compactionKey } from './compaction-loop.js';

const minute = 60_000;

describe('CompactionLoop', () => {
  const open: { close(): Promise<void> }[] = [];
  const setUp = () => {
    const clock = new ManualClock();
    // Disables the store's own compaction.
    const store = new MemoryStore({ clock, compactionIntervalMs: 1e9 });
    open.push(store);
    const compacted: unknown[] = [];
    const warnings: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      info: (_, fields) => void compacted.push(fields?.['revision']),
      warn: (message) => void warnings.push(message),
    };
    const loop = (intervalMs = 5 * minute) => new CompactionLoop({ store, clock, logger, intervalMs });
    const write = async () => {
      const write = { type: 'put', key: '/registry/a', value: Buffer.from('x') } as const;
      return (await store.txn([], [write])).revision;
    };
    const pass = async (ms: number) => {
      clock.advance(ms);
      for (let i = 0; i < 30; i++) await Promise.resolve();
    };
    return { store, loop, write, pass, compacted, warnings };
  };
  afterEach(() => Promise.all(open.splice(0).map((store) => store.close())));

  it('compacts in each round to the revision of one interval before', async () => {
    const { store, loop, write, pass, compacted } = setUp();
    loop().start();
    await write();
    await pass(5 * minute);
    const atFirst = await store.revision();
    expect(compacted).toEqual([]);
    await write();
    await pass(4 * minute);
    expect(compacted).toEqual([]);
    await pass(1 * minute);
    expect(compacted).toEqual([atFirst]);
    const atSecond = await store.revision();
    await pass(5 * minute);
    expect(compacted).toEqual([atFirst, atSecond]);
    expect((await store.get(compactionKey)).item!.value.toString()).toBe(String(atSecond));
    await expect(store.get('/registry/a', { revision: atFirst })).rejects.toMatchObject({ code: 'compacted' });
  });

  it('lets one of several servers compact, and another after that one has stopped', async () => {
    const { loop, write, pass, compacted } = setUp();
    const [a, b] = [loop(), loop()];
    a.start();
    await pass(2 * minute);
    b.start();
    for (let turn = 0; turn < 3; turn++) {
      await write();
      await pass(3 * minute);
      await write();
      await pass(2 * minute);
    }
    // Each had three rounds; the one that bids first has compacted in its second and third.
    expect(compacted).toHaveLength(2);
    a.stop();
    await pass(10 * minute);
    expect(compacted.length).toBeGreaterThanOrEqual(3);
    expect(compacted).toEqual([...new Set(compacted)].sort((x, y) => Number(x) - Number(y)));
  });

  it('logs a failure and tries again in the next round', async () => {
    const { store, loop, pass, compacted, warnings } = setUp();
    loop().start();
    await pass(5 * minute);
    const { txn } = store;
    store.txn = () => Promise.reject(new Error('away'));
    await pass(5 * minute);
    expect(warnings).toEqual(['could not compact the store; trying again after the next interval']);
    store.txn = txn;
    await pass(5 * minute);
    expect(compacted).toHaveLength(1);
  });

  it('does nothing with interval 0 or after stop()', async () => {
    const { store, loop, pass } = setUp();
    const before = await store.revision();
    loop(0).start();
    const stopped = loop();
    stopped.start();
    stopped.stop();
    await pass(60 * minute);
    expect(await store.revision()).toBe(before);
  });
});
