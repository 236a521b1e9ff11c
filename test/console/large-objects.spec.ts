import { eventually } from '../harness/eventually.js';
import { ConsoleWorld } from '../harness/console-world.js';
import { frameTimes } from '../harness/frame-recorder.js';
import { findChromium } from '../../scripts/chromium.js';

const chromium = findChromium();
const inBrowser = chromium === undefined ? describe.skip : describe;

const path = '/apis/shop.example/v1/namespaces/shop/crates';
const words = 'the quick brown fox jumps over the lazy dog ';
const fields = Object.fromEntries(
  Array.from({ length: 26_000 }, (_, index) => [`field-${String(index).padStart(6, '0')}`, `value ${index} ${words}`]),
);
/** Objects whose request is almost as large as the server allows: 3 MiB. */
const shapes: Record<string, object> = {
  fields,
  lines: { text: `${words}\n`.repeat(62_000) },
  line: { text: words.repeat(64_000) },
};

inBrowser('with an object of almost 3 MiB', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await ConsoleWorld.start(chromium!);
    const { admin } = world.server;
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const { code } = await admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'crates.shop.example' },
      spec: {
        group: 'shop.example',
        scope: 'Namespaced',
        names: { plural: 'crates', singular: 'crate', kind: 'Crate', listKind: 'CrateList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    expect(code).toBe(201);
    for (const [name, contents] of Object.entries(shapes)) {
      const crate = { apiVersion: 'shop.example/v1', kind: 'Crate', metadata: { name }, contents };
      // The kind is served soon after its definition.
      await eventually(`${name} is created`, async () => (await admin.post(path, crate)).code === 201);
    }
    await world.logIn(world.adminToken);
  });
  afterAll(() => world.stop());

  /** Returns how many elements the page has, and the length of its longest texts: browsers lay out all of both. */
  const shown = () =>
    world.browser.evaluate<{ elements: number; text: number; box: number }>(`(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      let text = 0;
      while (walker.nextNode()) text = Math.max(text, walker.currentNode.data.length);
      const box = document.querySelector('.editor')?.value.length ?? 0;
      return { elements: document.querySelectorAll('*').length, text, box };
    })()`);

  it.each(Object.keys(shapes))('%s are shown, edited, reviewed and saved in parts', async (name) => {
    const { browser, server } = world;
    const step = async (what: string, work: () => Promise<void>) => {
      const times = await frameTimes(browser, work);
      process.stdout.write(`console: 3 MiB of ${name}, ${what}: ${times}\n`);
      const { elements, text, box } = await shown();
      expect([what, elements < 6_000, text < 60_000, box < 100_000]).toEqual([what, true, true, true]);
    };
    await step('overview', async () => {
      await world.go(`#/objects/shop.example/crates/shop/shop/${name}`);
      await browser.until(
        `document.querySelector('.detail h2')?.textContent === '${name}' && document.querySelector('.tab')`,
      );
      await browser.click('.tab', 'Overview');
      await browser.sees('UID', '.facts');
    });
    await step('owners of fields', async () => {
      await browser.click('.tab', 'YAML');
      await browser.sees('contents', '.code .virtual-row');
      const end = "(() => { const list = document.querySelector('.code'); list.scrollTop = list.scrollHeight; })()";
      await browser.evaluate(end);
      const count = "document.querySelector('.code').getAttribute('aria-rowcount')";
      await browser.until(`document.querySelector('.code [aria-rowindex="' + ${count} + '"]')`);
    });
    await step('edit', async () => {
      await browser.click('.tab', 'Edit');
      await browser.sees('Part 1 of', '.text-position');
      await browser.sees('review what the server would store', '.edit-result');
    });
    await step('type', async () => {
      await browser.click('.text-parts .filter');
      await browser.type('apiVersion');
      await browser.press('Enter');
      await browser.until("document.activeElement.classList.contains('editor')");
      await browser.evaluate("document.querySelector('.editor').setSelectionRange(0, 0)");
      await browser.type('added: here\n');
      await browser.click('.text-parts button', '›');
      await browser.sees('Part 2 of', '.text-position');
      if (name !== 'line') return;
      await browser.evaluate(
        "(() => { const box = document.querySelector('.editor'); box.focus(); box.setSelectionRange(1_000, 1_000); })()",
      );
      await browser.type('INSERTED ');
    });
    await step('review', async () => {
      await browser.click('button', 'Review');
      await browser.sees('added: here', '.diff-line.is-added');
      if (name === 'line') await browser.sees('INSERTED', '.diff-line.is-added');
    });
    await step('save', async () => {
      await browser.click('button', 'Save');
      await browser.sees('Saved', '.success');
    });
    await step('edit as JSON', async () => {
      const chosen =
        "(() => { const choice = document.querySelector('[aria-label=Format]'); choice.value = 'json'; choice.dispatchEvent(new Event('change')); })()";
      await browser.evaluate(chosen);
      await browser.until("document.querySelector('.editor').value.startsWith('{')");
      await browser.sees('Part 1 of', '.text-position');
    });
    const { body } = await server.admin.get(`${path}/${name}`);
    const contents = JSON.stringify(body.contents).replace('INSERTED ', '');
    expect([body.added, contents === JSON.stringify(shapes[name])]).toEqual(['here', true]);
    await browser.click('.tab', 'Overview');
    await browser.sees(String(body.metadata.resourceVersion), '.facts');
    await step('history', async () => {
      await browser.click('.tab', 'History');
      await browser.sees('The object was created with this revision', '.history');
      await browser.click('.past-revision:first-of-type .revision-head');
      await browser.sees('added', '.change-path');
      await browser.click('.past-revision:first-of-type button', 'Show this state');
      await browser.sees('more characters', '.past-revision .hint');
    });
    expect(browser.problems).toEqual([]);
  });
});
