import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { findChromium } from '../../scripts/chromium.js';
import { ConsoleWorld } from '../harness/console-world.js';

const chromium = findChromium();
const inBrowser = chromium === undefined ? describe.skip : describe;

/** Passes all requests on with a client certificate, as a browser sends its own. HTTP/1.1 only. */
async function certificateProxy({ server }: ConsoleWorld): Promise<Server> {
  const { certificate: cert, key } = server.keelson.client;
  const { hostname, port } = new URL(server.url);
  const proxy = createServer({ cert, key }, (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const passed = request(
      { hostname, port, path, method, headers, cert, key, ca: server.keelson.ca, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}

/** Returns the visible texts whose contrast with their background is below that of WCAG AA. */
const faintTexts = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const backgroundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = rgba(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const faint = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (!own || !element.checkVisibility() || element.closest(':disabled, noscript, .visually-hidden')) continue;
    const style = getComputedStyle(element);
    const colour = rgba(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [luminance(colour), luminance(backgroundOf(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.add(element.className + ': ' + element.textContent.slice(0, 40));
  }
  return [...faint];
})()`;

const views = [
  '#/objects/-/configmaps/shop/shop/settings',
  '#/tree',
  '#/stream/-/configmaps/shop',
  '#/history/-/configmaps/shop',
  '#/access',
  '#/traffic',
];

inBrowser('the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => (world = await ConsoleWorld.start(chromium!)));
  afterAll(() => world.stop());

  it('offers the user of the client certificate, and works by HTTP/1.1', async () => {
    const { browser } = world;
    const proxy = await certificateProxy(world);
    try {
      await browser.open(`https://127.0.0.1:${(proxy.address() as AddressInfo).port}/console/`);
      await browser.click('#use-certificate');
      await browser.sees('web-7c9f-b', '.virtual-row');
      await browser.sees('Live', '.state');
      await world.go('#/tree');
      await browser.sees('4 of 4 kinds watched', '.toolbar');
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it('does not offer the anonymous user', async () => {
    const { browser, server } = world;
    await browser.open('about:blank');
    await browser.open(`${server.url}/console/`);
    await browser.until("document.activeElement?.id === 'token'");
    await browser.until("performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/apis'))");
    expect(await browser.evaluate("document.querySelector('#use-certificate')")).toBeNull();
  });

  it.each(['light', 'dark'])('has names for all controls and enough contrast of all texts, %s', async (theme) => {
    const { browser, adminToken } = world;
    const features = [{ name: 'prefers-color-scheme', value: theme }];
    await browser.send('Emulation.setEmulatedMedia', { features });
    await world.logIn(adminToken);
    for (const view of views) {
      await world.go(view);
      await browser.until("document.querySelector('main h1')");
      if (view === views[0]) {
        for (const [tab, text] of [
          ['YAML', 'colour'],
          ['Edit', 'Ctrl+Enter'],
          ['Access', 'allowed'],
          ['Overview', 'UID'],
        ]) {
          await browser.click('.tab', tab);
          await browser.sees(text!, '.tab-panel');
          expect([theme, tab, await browser.evaluate(faintTexts)]).toEqual([theme, tab, []]);
        }
      }
      expect([theme, view, await browser.evaluate(faintTexts)]).toEqual([theme, view, []]);
      expect([view, await unnamedControls()]).toEqual([view, []]);
    }
  });

  /** Returns the controls without a name for screen readers. */
  async function unnamedControls(): Promise<string[]> {
    interface Node {
      readonly ignored: boolean;
      readonly role?: { readonly value: string };
      readonly name?: { readonly value: string };
    }
    const { nodes } = (await world.browser.send('Accessibility.getFullAXTree')) as { nodes: readonly Node[] };
    const controls = /^(button|textbox|searchbox|combobox|checkbox|slider|tab|link|grid|treegrid|navigation)$/;
    return nodes
      .filter(({ ignored, role, name }) => !ignored && controls.test(role?.value ?? '') && !name?.value)
      .map(({ role }) => role!.value);
  }
});
