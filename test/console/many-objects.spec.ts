import { forEachConcurrent } from '../../src/std/for-each-concurrent.js';
import { systemClock } from '../../src/std/clock.js';
import { ConsoleWorld } from '../harness/console-world.js';
import { frameTimes } from '../harness/frame-recorder.js';
import { findChromium } from '../../scripts/chromium.js';

const chromium = findChromium();
const inBrowser = chromium === undefined ? describe.skip : describe;

const objects = 10_000;
const eventsPerSecond = 500;
const seconds = 5;
const path = '/api/v1/namespaces/shop/configmaps';

inBrowser('with 10,000 objects and 500 events a second', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await ConsoleWorld.start(chromium!);
    await forEachConcurrent(
      Array.from({ length: objects }).keys(),
      { concurrency: 16, clock: systemClock },
      async (index) => {
        const { code } = await world.server.admin.post(path, { metadata: { name: `item-${index}` } });
        if (code !== 201) throw new Error(`item-${index}: ${code}`);
      },
    );
  });
  afterAll(() => world.stop());

  it('the list shows every change, and keeps few elements', async () => {
    const { browser, server, adminToken } = world;
    await world.logIn(adminToken);
    await world.go('#/objects/-/configmaps/shop');
    await browser.sees((objects + 2).toLocaleString('en-US'), '.count');
    await browser.sees('Live', '.state');
    let tookMs = 0;
    const total = eventsPerSecond * seconds;
    const times = await frameTimes(browser, async () => {
      const beginMs = performance.now();
      await forEachConcurrent(
        Array.from({ length: total }).keys(),
        { concurrency: 16, clock: systemClock },
        async (index) => {
          const waitMs = beginMs + (1000 * index) / eventsPerSecond - performance.now();
          if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
          const object = `${path}/item-${index % objects}`;
          if (index % 10 === 0) await server.admin.delete(object);
          else await server.admin.patch(object, { data: { index: String(index) } }, 'merge');
          if (index % 25 === 0) {
            const top = (index * 97) % (objects * 30);
            await browser.evaluate(`void (document.querySelector('.virtual-list').scrollTop = ${top})`);
          }
        },
      );
      tookMs = performance.now() - beginMs;
      await browser.sees((objects + 2 - total / 10).toLocaleString('en-US'), '.count');
    });
    expect(await browser.evaluate('document.querySelectorAll("*").length')).toBeLessThan(2_000);
    process.stdout.write(`console: ${Math.round((1000 * total) / tookMs)} events/s, ${times}\n`);
  });
});
