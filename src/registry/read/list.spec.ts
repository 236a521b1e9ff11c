import { submittedPod, WriteWorld } from '../../../test/harness/write-world.js';
import { parseListOptions } from '../../machinery/list-options.js';
import { Query } from '../../machinery/query.js';
import { createObject } from '../write/create.js';
import { listObjects } from './list.js';

const optionsOf = (query: string) => parseListOptions(new Query(query), { metaGroup: 'meta.k8s.io' });

it.each([
  ['all objects', ''],
  ['the objects with a label', 'labelSelector=app%3Da'],
  ['one object of many, and whether there are more', 'labelSelector=app%3Da&limit=1'],
])('a list of %s lets other requests run while it reads', async (_what, query) => {
  const world = new WriteWorld();
  await world.start();
  for (let n = 0; n < 200; n++) {
    const labels = { app: n === 0 || n === 99 ? 'a' : 'b' };
    await createObject(world.store, submittedPod(`p${n}`, { metadata: { labels } }), world.context());
  }
  let nowMs = world.clock.now();
  jest.spyOn(world.clock, 'monotonicMs').mockImplementation(() => (nowMs += 5));
  let turns = 0;
  const countTurn = () => {
    turns++;
    counting = setImmediate(countTurn);
  };
  let counting = setImmediate(countTurn);
  await listObjects(world.store, { namespace: 'ns', options: optionsOf(query) });
  clearImmediate(counting);
  expect(turns).toBeGreaterThan(5);
  await world.stop();
});
