import { ChurnLog } from '../../scripts/simulation/churn-log.js';
import { ChurnWatcher } from '../../scripts/simulation/churn-watcher.js';
import { churn, describeChurn } from '../../scripts/simulation/churn.js';
import { ManualClock } from '../../src/std/clock.js';
import type { SeededRng } from '../../src/std/rng.js';
import { chosenSeed } from '../harness/seed.js';

/** Run `npm run sim -- --churn 1000000` for longer runs. */
const seed = chosenSeed();

it(`watchers of all speeds receive each of many changes once and in order, seed ${seed}`, async () => {
  const report = await churn({ seed, events: 6_000, watchers: 130, keptEventsMax: 256 });
  if (report.violations.length > 0) throw new Error(describeChurn(report));
  expect(report.sent).toBeGreaterThan(report.events);
  expect(report.resumed).toBeGreaterThan(0);
  expect(report.expired).toBeGreaterThan(0);
});

describe('ChurnWatcher', () => {
  const frame = (type: string, resourceVersion: number, name = 'k-0') =>
    Buffer.from(
      JSON.stringify({ type, object: { metadata: { name, namespace: 'n', resourceVersion: `${resourceVersion}` } } }),
    );
  const added = frame('ADDED', 2);
  const [second, third] = [frame('MODIFIED', 3), frame('MODIFIED', 4)];

  it.each([
    ['accepts correct events', [added, second, frame('BOOKMARK', 3), third, frame('BOOKMARK', 9)], []],
    ['detects a lost change', [added, third], ['reliable']],
    ['detects a duplicate change', [added, second, second, third], ['unique']],
    ['detects changes in the wrong order', [added, third, second], ['reliable', 'unique']],
    ['detects a wrong event type', [added, frame('DELETED', 3), third], ['filtered']],
    ['detects a change of another key', [added, frame('MODIFIED', 3, 'k-1'), third], ['filtered']],
    ['detects a bookmark ahead of a change', [added, frame('BOOKMARK', 3), third], ['bookmarkable']],
    ['detects a bookmark that goes back', [added, second, frame('BOOKMARK', 2)], ['bookmarkable']],
  ] as const)('%s', async (_name, frames, want) => {
    const log = new ChurnLog(['n', 'n-2'], 2);
    const rng = { below: () => 0 } as unknown as SeededRng;
    const found: string[] = [];
    const subscription = {
      drained: () => undefined,
      close: () => undefined,
      sendBookmark: () => undefined,
      revision: 0,
    };
    const watcher = new ChurnWatcher('w', 'fast', log.selections[0]!, {
      ...{ log, rng, clock: new ManualClock() },
      counts: { sent: 0, bookmarks: 0, expired: 0, resumed: 0, lagEventsMax: 0 },
      apis: [{ list: () => Promise.resolve(1), watch: () => Promise.resolve(subscription as never) }],
      violated: (guarantee) => found.push(guarantee),
    });
    await watcher.open();
    const { key } = log.next(rng);
    for (const revision of [2, 3, 4]) log.record(key, revision, 'red', false);
    for (const each of frames) watcher.write(each);
    expect(found).toEqual(want);
  });
});
