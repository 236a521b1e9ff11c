import { ConsoleWorld } from '../harness/console-world.js';
import { eventually } from '../harness/eventually.js';
import { findChromium } from '../../scripts/chromium.js';

const chromium = findChromium();
const inBrowser = chromium === undefined ? describe.skip : describe;

const configMaps = '/api/v1/namespaces/shop/configmaps';
const depth = 12;
const longKind = `Boat${'s'.repeat(59)}`;
const longName = `${'a-very-long-name.'.repeat(14)}ends-here`;
const widths = [1440, 1024, 700];

inBrowser('with long names, deep owners and many columns', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await ConsoleWorld.start(chromium!);
    const { admin } = world.server;
    let ownerReferences: object[] = [];
    for (let level = 0; level < depth; level++) {
      const name = `deep-${level}`;
      const { code, body } = await admin.post(configMaps, { metadata: { name, ownerReferences } });
      expect(code).toBe(201);
      ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: body.metadata.uid }];
    }
    const plural = longKind.toLowerCase();
    const { code } = await admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `${plural}.shop.example` },
      spec: {
        group: 'shop.example',
        scope: 'Namespaced',
        names: { plural, singular: plural, kind: longKind, listKind: `${longKind.slice(0, 59)}List` },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true },
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            additionalPrinterColumns: Array.from({ length: 12 }, (_, n) => ({
              ...{ name: `A column with a name ${n}`, type: 'string', jsonPath: '.metadata.uid' },
            })),
          },
        ],
      },
    });
    expect(code).toBe(201);
    const boat = { apiVersion: 'shop.example/v1', kind: longKind, metadata: { name: longName } };
    await eventually(
      'the boat is created',
      async () => (await admin.post(`/apis/shop.example/v1/namespaces/shop/${plural}`, boat)).code === 201,
    );
    await world.logIn(world.adminToken);
  });
  afterAll(() => world.stop());

  const resize = (width: number) =>
    world.browser.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
  /** Waits until the layout has this property: browsers lay out after a change of size. */
  const holds = (expression: string) => world.browser.until(expression);
  const noSidewaysScroll = 'document.documentElement.scrollWidth <= window.innerWidth';

  it.each(widths)('names of deep owners have room in a window of %i pixels', async (width) => {
    await resize(width);
    await world.go('#/objects/-/configmaps/shop');
    await world.go('#/tree');
    const cell = `[...document.querySelectorAll('.tree-cell')].find(({ title }) => title === 'deep-${depth - 1}')`;
    await holds(`${cell} !== undefined`);
    expect(await world.browser.evaluate<string>(`${cell}.textContent`)).toContain(`${depth - 1} deep-${depth - 1}`);
    await holds(`(() => {
      const cell = ${cell};
      return cell.clientWidth - parseFloat(getComputedStyle(cell).paddingInlineStart) >= 60;
    })()`);
    await holds(noSidewaysScroll);
  });

  it.each(widths)('an object with a long kind and name fits into a window of %i pixels', async (width) => {
    await resize(width);
    const kind = `shop.example/${longKind.toLowerCase()}`;
    await world.go(`#/objects/${kind}/shop`);
    await world.browser.sees('a-very-long-name', '.virtual-row');
    await holds(noSidewaysScroll);
    await holds("document.querySelector('.virtual-row .cell').clientWidth >= 100");
    await world.go(`#/objects/${kind}/shop/shop/${longName}`);
    await world.browser.sees('ends-here', '.detail h2');
    await holds(noSidewaysScroll);
    await holds("document.querySelector('.detail h2').getBoundingClientRect().right <= window.innerWidth");
    expect(world.browser.problems).toEqual([]);
  });
});
