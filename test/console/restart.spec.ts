import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../../scripts/chromium.js';
import { Chromium } from '../harness/chromium.js';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';

const chromium = findChromium();
const inBrowser = chromium === undefined ? describe.skip : describe;

const configMaps = '/api/v1/namespaces/default/configmaps';
const signals = ['SIGTERM', 'SIGKILL'] as const;

/** Published by the server itself, at any time. */
const published = 'kube-root-ca.crt';
/** The names in a list of the page, sorted. */
const shownNames = (selector: string) =>
  `[...document.querySelectorAll('${selector}')].map((one) => one.title || one.textContent)` +
  `.filter((one) => !one.includes('${published}')).sort().join()`;
/** True if the browser asks before the page is left. */
const asksBeforeLeaving = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))";

inBrowser('the console, while the server is restarted at the same address', () => {
  let directory: string;
  let server: ServerProcess;
  let browser: Chromium;
  const tokens = () => join(directory, 'tokens.csv');
  const accept = (token: string, user = 'anna') => writeFile(tokens(), `${token},${user},1,"system:masters"\n`);
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'console-restart-'));
    await accept('first-token');
    server = await ServerProcess.start(directory, ['--storage-backend=embedded', `--token-auth-file=${tokens()}`]);
    browser = await Chromium.start(chromium!);
  });
  afterAll(async () => {
    await browser?.stop();
    await server?.kill();
    await rm(directory, { recursive: true, force: true });
  });

  /** Calls the server by a connection of its own, so that none outlives a restart. */
  async function call<T>(work: (admin: HttpClient) => Promise<T>): Promise<T> {
    const { url, ca, client } = server.access;
    const admin = new HttpClient({ url, ca, ...client });
    try {
      return await work(admin);
    } finally {
      admin.close();
    }
  }
  const create = (name: string) =>
    call(async (admin) => {
      const { code } = await admin.post(configMaps, { metadata: { name }, data: { colour: 'blue' } });
      expect([name, code]).toEqual([name, 201]);
    });
  const remove = (name: string) =>
    call(async (admin) => expect([name, (await admin.delete(`${configMaps}/${name}`)).code]).toEqual([name, 200]));
  const storedNames = () =>
    call(async (admin) => {
      const { items } = (await admin.get(configMaps)).body as { items: { metadata: { name: string } }[] };
      const names = items.map(({ metadata }) => metadata.name);
      return names.filter((name) => name !== published).sort().join(); // prettier-ignore
    });
  const logIn = async (token: string) => {
    await browser.until("document.activeElement?.id === 'token'");
    await browser.type(token);
    await browser.click('button', 'Log in');
    await browser.until("document.querySelector('.shell')");
  };
  const go = (hash: string) => browser.evaluate(`void (location.hash = ${JSON.stringify(hash)})`);
  /** Types into the editor, as a user does. */
  const paint = (from: string, to: string) =>
    browser.evaluate(
      `(() => { const box = document.querySelector('.editor'); box.value = box.value.replace('colour: ${from}', 'colour: ${to}'); box.dispatchEvent(new Event('input')); })()`,
    );
  /** Ends the server, waits until the page says so, and starts it anew; resolves when the page follows it again. */
  async function restart(signal: (typeof signals)[number], meanwhile?: () => Promise<unknown>) {
    await server.stop(signal);
    await browser.sees('The server has not answered since', '.away:not([hidden])');
    await meanwhile?.();
    await server.start();
    await browser.until("document.querySelector('.away').hidden");
    await browser.sees('Live', '.state');
  }

  it('is logged in to', async () => {
    await browser.open(`${server.access.url}/console/`);
    await logIn('first-token');
  });

  describe.each(signals)('by %s', (signal) => {
    const name = `edited-${signal.toLowerCase()}`;

    it('keeps the list and the text in the editor, and saves it afterwards', async () => {
      await create(name);
      await create(`gone-${name}`);
      await go(`#/objects/-/configmaps/default/default/${name}`);
      await browser.click('.tab', 'Edit');
      await browser.until("document.querySelector('.editor')?.value.includes('colour: blue')");
      await paint('blue', 'green');
      await restart(signal, async () => {
        await browser.click('button', 'Review');
        await browser.sees('The server does not answer', '.edit-result .problem');
        await browser.sees(`gone-${name}`, '.row-link');
      });
      await create(`later-${name}`);
      await remove(`gone-${name}`);
      await browser.until(`${shownNames('.row-link')} === ${JSON.stringify(await storedNames())}`);
      expect(await browser.evaluate(asksBeforeLeaving)).toBe(true);
      expect(await browser.evaluate("document.querySelector('.editor').value")).toContain('colour: green');
      await browser.click('button', 'Review');
      await browser.sees('colour: green', '.diff-line.is-added');
      await browser.click('button', 'Save');
      await browser.sees('Saved', '.success');
      expect(await browser.evaluate(asksBeforeLeaving)).toBe(false);
      expect((await call((admin) => admin.get(`${configMaps}/${name}`))).body.data).toEqual({ colour: 'green' });
    });

    it('shows each event once', async () => {
      await go('#/stream/-/configmaps/default');
      await browser.sees('Live', '.state');
      await create(`before-${name}`);
      await browser.sees(`before-${name}`, '.virtual-row');
      await restart(signal);
      await create(`after-${name}`);
      await browser.sees(`after-${name}`, '.virtual-row');
      const seen = await browser.evaluate<string>(shownNames('.virtual-row .cell:nth-child(3)'));
      expect(seen.split(',')).toEqual([`default/after-${name}`, `default/before-${name}`]);
      expect(await browser.evaluate("document.querySelector('.list-pane .notice').hidden")).toBe(true);
    });

    it('shows all objects below their owners, each once', async () => {
      await go('#/tree');
      await browser.sees(name, '.virtual-row');
      const watched = "/^(\\d+) of \\1 kinds/.test(document.querySelector('.toolbar .hint').textContent)";
      await browser.until(watched);
      await restart(signal);
      await create(`leaf-${name}`);
      await browser.until(watched);
      await browser.sees(`leaf-${name}`, '.virtual-row');
      await browser.evaluate(
        "(() => { const box = document.querySelector('.filter'); box.value = 'configmap'; box.dispatchEvent(new Event('input')); })()",
      );
      await browser.until(`${shownNames('.tree-cell')} === ${JSON.stringify(await storedNames())}`);
    });
  });

  it('with other tokens leads to the login, and keeps the text for the same user', async () => {
    const name = `edited-${signals[0].toLowerCase()}`;
    await go(`#/objects/-/configmaps/default/default/${name}`);
    await browser.click('.tab', 'Edit');
    await browser.until("document.querySelector('.editor')?.value.includes('colour: green')");
    await paint('green', 'red');
    await server.stop('SIGTERM');
    await browser.sees('The server has not answered since', '.away:not([hidden])');
    await accept('second-token');
    await server.start();
    await browser.sees('The server no longer accepts your credentials', '.login .problem');
    await browser.sees('Your unsaved text is kept', '.login .problem');
    await logIn('second-token');
    await browser.until("document.querySelector('.editor')?.value.includes('colour: red')");
    await browser.sees('This is your unsaved text', '.edit-result');
    await browser.click('button', 'Log out');
    await logIn('second-token');
    await go(`#/objects/-/configmaps/default/default/${name}`);
    await browser.click('.tab', 'Edit');
    await browser.until("document.querySelector('.editor')?.value.includes('colour: green')");
  });

  it('shows an unsaved text to no other user', async () => {
    await paint('green', 'red');
    await server.stop('SIGKILL');
    await accept('third-token', 'bob');
    await server.start();
    await browser.sees('Your unsaved text is kept', '.login .problem');
    await logIn('third-token');
    await browser.sees('bob', '.user');
    await browser.until("document.querySelector('.editor')?.value.includes('colour: green')");
    expect(await browser.evaluate(asksBeforeLeaving)).toBe(false);
    expect(browser.problems.filter((text) => !text.includes('ERR_CONNECTION'))).toEqual([]);
  });
});
