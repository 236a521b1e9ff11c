import { CacheWorld, pods } from '../../test/harness/cache-world.js';
import { ManualClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { checkPeriodically, type Mismatch } from './checker.js';
import { deleteEvent } from '../storage/store-event.js';

describe('checkPeriodically', () => {
  let world: CacheWorld;
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const logger = {
    ...silentLogger,
    error: (message: string, fields?: object) => void errors.push({ message, ...fields }),
  };
  let checks: (readonly Mismatch[])[] = [];

  beforeEach(async () => {
    world = await CacheWorld.started();
    checks = [];
    errors.length = 0;
    await world.put('a');
  });
  afterEach(() => world.close());

  const start = (intervalMs: number) => {
    const { feed, memory: store } = world;
    return checkPeriodically({ feed, store, clock, logger, intervalMs, onChecked: (found) => checks.push(found) });
  };
  const pass = async (ms: number) => {
    clock.advance(ms);
    await world.runPending(10);
  };

  it('compares at every interval until it is stopped', async () => {
    const check = start(1000);
    await pass(999);
    expect(checks).toHaveLength(0);
    await pass(1);
    await pass(1000);
    expect(checks).toEqual([[], []]);
    check.stop();
    await pass(5000);
    expect(checks).toHaveLength(2);
    expect(errors).toEqual([]);
  });

  it('logs mismatches', async () => {
    const check = start(1000);
    world.cache.apply(deleteEvent(`${pods}ns/a`, 50 as never), 0);
    await pass(1000);
    check.stop();
    expect(errors).toMatchObject([
      {
        message: 'the watch cache differs from the store, reads may be wrong; restart the server',
        key: `${pods}ns/a`,
        mismatches: 1,
      },
    ]);
  });

  it('logs the fields, but not the values, that differ at equal revisions', async () => {
    const check = start(1000);
    const key = `${pods}ns/a`;
    const { item } = await world.memory.get(key);
    const stored = JSON.parse(item!.value.toString()) as object;
    const value = Buffer.from(JSON.stringify({ ...stored, spec: { nodeName: 'secret-node' } }));
    world.cache.reset([world.cache.decode({ ...item!, value })], item!.modRevision);
    await pass(1000);
    check.stop();
    const { modRevision: revision } = item!;
    expect(errors).toMatchObject([
      { key, inCache: revision, inStore: revision, fields: ['/spec/nodeName', '/spec/version'], mismatches: 1 },
    ]);
    expect(JSON.stringify(errors)).not.toContain('secret-node');
  });

  it('never compares with interval 0', async () => {
    start(0);
    await pass(1e9);
    expect(checks).toHaveLength(0);
  });
});
