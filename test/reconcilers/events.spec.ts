import { ManualClock } from '../../src/std/clock.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { pass, whilePassing } from '../harness/passing-time.js';
import { untilGone } from '../harness/until.js';

const events = '/api/v1/namespaces/default/events';
const event = (name: string) => ({ metadata: { name }, involvedObject: { namespace: 'default' } });
const merge = { 'content-type': 'application/merge-patch+json' };
const minute = 60_000;

async function start(store: MemoryStore, clock: ManualClock) {
  const keelson = await whilePassing(
    clock,
    startKeelson({ store, clock, config: { reconcilers: { eventTtlMs: 10 * minute } } }),
  );
  const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  return {
    admin,
    names: async () =>
      ((await admin.get(events)).body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    async stop() {
      admin.close();
      await whilePassing(clock, keelson.stop());
    },
  };
}

it('Events are deleted a TTL after their last change, also after a restart', async () => {
  const store = new MemoryStore();
  const clock = new ManualClock();
  const first = await start(store, clock);
  for (const name of ['a', 'b', 'c']) await first.admin.post(events, event(name));
  await pass(clock, 5 * minute);
  await first.admin.request('PATCH', `${events}/b`, { body: { count: 2 }, headers: merge });
  await first.admin.post(events, event('d'));
  await pass(clock, 5 * minute + 15_000);
  await untilGone(first.admin, events, 'a');
  await untilGone(first.admin, events, 'c');
  expect(await first.names()).toEqual(['b', 'd']);
  await first.stop();

  await pass(clock, minute);
  const second = await start(store, clock);
  // The time of the last change of b is lost in the restart; its own timestamps are used.
  await pass(clock, 15_000);
  await untilGone(second.admin, events, 'b');
  expect(await second.names()).toEqual(['d']);
  await pass(clock, 4 * minute);
  await untilGone(second.admin, events, 'd');
  await second.stop();
  await store.close();
});
