import { ManualClock } from '../../std/clock.js';
import { silentLogger } from '../../std/logger.js';
import { Boot, type BootStep } from './boot.js';

interface World {
  readonly clock: ManualClock;
  readonly log: string[];
  readonly tried: string[];
  readonly broken: Set<string>;
  isDone: boolean;
}

async function boot(stages: string[][], broken: string[]): Promise<World & { boot: Boot }> {
  const world: World = { clock: new ManualClock(), log: [], tried: [], broken: new Set(broken), isDone: false };
  const step = (name: string): BootStep => ({
    name,
    run: async () => {
      world.tried.push(name);
      if (world.broken.has(name)) throw new Error(`${name} is broken`);
    },
  });
  const warn = (message: string, fields?: Record<string, unknown>) =>
    void world.log.push(`${message.split(' ', 2).join(' ')} ${String(fields!['object'])}`);
  const running = new Boot({
    stages: stages.map((names) => () => names.map(step)),
    clock: world.clock,
    logger: { ...silentLogger, warn, info: warn },
    done: () => (world.isDone = true),
  });
  await running.start();
  return Object.assign(world, { boot: running });
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

test('start() resolves after every step was tried, even if some failed', async () => {
  const world = await boot([['a', 'b'], ['c']], ['a']);
  expect([world.tried, world.isDone, world.log]).toEqual([['a', 'b', 'c'], false, ['could not a']]);
});

test('failed steps alone are retried with growing delays, and logged once', async () => {
  const world = await boot([['a', 'b']], ['a']);
  for (const waitMs of [999, 1, 1_999, 1]) {
    world.clock.advance(waitMs);
    await turns();
  }
  expect([world.tried, world.log]).toEqual([['a', 'b', 'a', 'a'], ['could not a']]);
  world.broken.clear();
  world.clock.advance(4_000);
  await turns();
  expect([world.tried.length, world.isDone, world.log.at(-1)]).toEqual([5, true, 'wrote an a']);
});

test('stop() ends the retries', async () => {
  const world = await boot([['a']], ['a']);
  world.boot.stop();
  world.clock.advance(60_000);
  await turns();
  expect(world.tried).toEqual(['a']);
});

test('a stage whose steps cannot be listed is retried', async () => {
  const clock = new ManualClock();
  let isReadable = false;
  let isDone = false;
  const list = () => {
    if (!isReadable) throw new Error('unreadable');
    return [];
  };
  await new Boot({ stages: [list], clock, logger: silentLogger, done: () => (isDone = true) }).start();
  isReadable = true;
  clock.advance(1_000);
  await turns();
  expect(isDone).toBe(true);
});
