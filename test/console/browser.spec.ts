import { ConsoleWorld } from '../harness/console-world.js';
import { findChromium, howToGetChromium } from '../../scripts/chromium.js';
import { eventually } from '../harness/eventually.js';

const chromium = findChromium();
if (chromium === undefined) process.stderr.write(`skipped: the console in a browser: ${howToGetChromium}\n`);
const inBrowser = chromium === undefined ? describe.skip : describe;

const configMaps = '/api/v1/namespaces/shop/configmaps';

/** The tasks of a user, each in the state that the one before has left. */
inBrowser('in Chromium, a user', () => {
  let world: ConsoleWorld;
  beforeAll(async () => (world = await ConsoleWorld.start(chromium!)));
  afterAll(() => world.stop());

  it('logs in with a token, after a wrong one was refused', async () => {
    const { browser, server, adminToken } = world;
    await browser.open(`${server.url}/console/`);
    await browser.until("document.activeElement?.id === 'token'");
    await browser.type('wrong');
    await browser.click('button', 'Log in');
    await browser.sees('The server does not accept this token', '.problem');
    await world.logIn(adminToken);
    await browser.sees('system:serviceaccount:shop:anna', '.user');
    const stored = await browser.evaluate<number>(
      'localStorage.length + sessionStorage.length + document.cookie.length',
    );
    expect([stored, await browser.evaluate<string>('location.href')]).toEqual([0, `${server.url}/console/`]);
  });

  it('finds an object by its label, and its owners', async () => {
    const { browser } = world;
    await browser.sees('web-7c9f-b', '.virtual-row');
    await browser.click('.filter');
    await browser.type('app=web 7c9f-a');
    await browser.until("document.querySelectorAll('.virtual-row').length === 1");
    await browser.click('.row-link', 'web-7c9f-a');
    await browser.click('.facts a', 'ReplicaSet/web-7c9f');
    await browser.click('.facts a', 'Deployment/web');
    await browser.sees('apps/v1', '.facts');
    await world.go('#/tree');
    await browser.until("document.querySelector('.virtual-row[aria-level=\"3\"]')?.textContent.includes('web-7c9f-a')");
  });

  it('follows a watch', async () => {
    const { browser, server } = world;
    await world.go('#/stream/-/configmaps/shop');
    await browser.sees('Live', '.state');
    await server.admin.post(configMaps, { metadata: { name: 'followed' }, data: { a: '1' } });
    await browser.sees('ADDED', '.virtual-row');
    await server.admin.patch(`${configMaps}/followed`, { data: { a: '2' } }, 'merge');
    await browser.sees('MODIFIED', '.virtual-row');
    await server.admin.delete(`${configMaps}/followed`);
    await browser.sees('DELETED', '.virtual-row');
  });

  it('edits an object: reviews what the server would store, and saves it', async () => {
    const { browser, server } = world;
    await world.go('#/objects/-/configmaps/shop/shop/settings');
    await browser.click('.tab', 'Edit');
    await browser.until("document.querySelector('.editor')?.value.includes('colour: blue')");
    await browser.evaluate(
      "(() => { const box = document.querySelector('.editor'); box.value = box.value.replace('colour: blue', 'colour: green'); box.dispatchEvent(new Event('input')); })()",
    );
    expect(await browser.evaluate("document.querySelector('.button.primary').disabled")).toBe(true);
    await browser.click('.tab', 'Overview');
    await browser.click('.tab', 'Edit');
    await browser.until("document.querySelector('.editor').value.includes('colour: green')");
    await browser.click('button', 'Review');
    await browser.sees('colour: blue', '.diff-line.is-removed');
    await browser.sees('colour: green', '.diff-line.is-added');
    expect((await server.admin.get(`${configMaps}/settings`)).body.data.colour).toBe('blue');
    await browser.click('button', 'Save');
    await browser.sees('Saved', '.success');
    expect((await server.admin.get(`${configMaps}/settings`)).body.data).toEqual({ colour: 'green', size: '7' });
  });

  it('is told that someone else has changed the object', async () => {
    const { browser, server } = world;
    await browser.evaluate("void (document.querySelector('.editor').value += '# mine')");
    await server.admin.patch(`${configMaps}/settings`, { data: { size: '8' } }, 'merge');
    await browser.sees('The object has changed on the server', '.notice');
    await browser.click('button', 'Review');
    await browser.sees('Someone else has changed the object', '.edit-result');
    await browser.click('button', 'Reload');
    await browser.until("document.querySelector('.editor').value.includes('size: \"8\"')");
  });

  it('is told that the object of an edited text was deleted and created again', async () => {
    const { browser, server } = world;
    const metadata = { name: 'again' };
    await server.admin.post(configMaps, { metadata, data: { colour: 'blue' } });
    await world.go('#/objects/-/configmaps/shop/shop/again');
    await browser.click('.tab', 'Edit');
    await browser.until("document.querySelector('.editor')?.value.includes('name: again')");
    await browser.evaluate("void (document.querySelector('.editor').value += '# mine')");
    await server.admin.delete(`${configMaps}/again`);
    await browser.sees('This object has been deleted', '.notice');
    await server.admin.post(configMaps, { metadata, data: { colour: 'red' } });
    await browser.sees('The object has been deleted and created again', '.notice');
    await browser.click('button', 'Reload');
    await browser.until("document.querySelector('.editor').value.includes('colour: red')");
    await server.admin.delete(`${configMaps}/again`);
    await world.go('#/objects/-/configmaps/shop/shop/settings');
  });

  it('creates an object, and deletes it', async () => {
    const { browser, server } = world;
    await browser.click('button', 'New');
    await browser.until("document.querySelector('.editor')?.value.includes('namespace: shop')");
    const invalid =
      "(() => { const box = document.querySelector('.editor'); box.value += 'daat: {}\\n'; box.dispatchEvent(new Event('input')); })()";
    await browser.evaluate(invalid);
    await browser.click('button', 'Review');
    await browser.sees('unknown field "daat"', '.problem');
    expect(await browser.evaluate("document.querySelector('.edit-result').textContent")).not.toContain('kind: Status');
    await browser.evaluate(
      `(() => { const box = document.querySelector('.editor'); box.value = box.value.replace('name: ""', 'name: made').replace('daat: {}', '  ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: u}, {apiVersion: v1, kind: Pod, name: a, uid: u}]'); box.dispatchEvent(new Event('input')); })()`,
    );
    await browser.click('button', 'Review');
    await browser.sees('has the same entry more than once', '.edit-result .notice');
    await browser.evaluate(
      `(() => { const box = document.querySelector('.editor'); box.value = box.value.replace('  ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: u}, {apiVersion: v1, kind: Pod, name: a, uid: u}]', 'data: {a: b}'); box.dispatchEvent(new Event('input')); })()`,
    );
    await browser.click('button', 'Review');
    await browser.sees('name: made', '.diff-line.is-added');
    await browser.click('button', 'Create');
    await browser.sees('Created', '.success');
    await browser.click('.row-link', 'made');
    await browser.click('.detail-head button', 'Delete');
    await browser.sees('Delete ConfigMap made in shop?', 'dialog[open]');
    await browser.click('dialog[open] .danger');
    await browser.sees('This object has been deleted', '.notice');
    await browser.until("![...document.querySelectorAll('.row-link')].some((one) => one.textContent === 'made')");
    expect((await server.admin.get(`${configMaps}/made`)).code).toBe(404);
    await world.go('#/objects/-/configmaps/shop/shop/settings');
  });

  it('sees which manager owns each field', async () => {
    const { browser } = world;
    await browser.click('.tab', 'YAML');
    await browser.sees('keelson-console · Update', '.owner-button');
    const owners =
      "[...document.querySelectorAll('.code .virtual-row')].find((one) => one.textContent.includes('colour')).querySelector('.owner-bar').className";
    const button =
      "[...document.querySelectorAll('.owner-button')].find((one) => one.textContent.includes('keelson-console')).className";
    await browser.until(`${owners}.split(' ')[1] === ${button}.split(' ')[1]`);
  });

  it('sees the steps of admission', async () => {
    const { browser } = world;
    await browser.click('.tab', 'Admission');
    await browser.click('button', 'Explain admission');
    await browser.sees('Admitted: the answer would be 200', '.success');
    await browser.sees('NamespaceLifecycle', '.step');
  });

  it('sees why a request is allowed, and why another user may not', async () => {
    const { browser } = world;
    await browser.click('.tab', 'Access');
    await browser.click('[aria-label="Why update?"]');
    await browser.sees('ClusterRoleBinding', '.decision');
    await world.go('#/access');
    for (const [label, text] of [
      ['Verb', 'delete'],
      ['Resource or path', 'secrets'],
      ['Namespace', 'shop'],
      ['Other user', 'bob'],
    ]) {
      await browser.evaluate(
        `(() => { const label = [...document.querySelectorAll('label')].find((one) => one.textContent === ${JSON.stringify(label)}); document.getElementById(label.htmlFor).value = ${JSON.stringify(text)}; })()`,
      );
    }
    await browser.click('button', 'Explain');
    await browser.sees('Not allowed bob delete secrets in shop', '.decision');
    await browser.sees('resources: ["secrets"]', '.decision');
  });

  it('travels in time', async () => {
    const { browser, server } = world;
    const before = (await server.admin.get(configMaps)).body.metadata.resourceVersion as string;
    await server.admin.patch(`${configMaps}/settings`, { data: { colour: 'red' } }, 'merge');
    await server.admin.post(configMaps, { metadata: { name: 'later' } });
    await world.go('#/history/-/configmaps/shop');
    await browser.sees('oldest', '.timeline-ends');
    await browser.evaluate(
      `(() => { const slider = document.querySelector('.timeline-slider'); slider.value = ${JSON.stringify(before)}; slider.dispatchEvent(new Event('input')); })()`,
    );
    await browser.sees('created since', '.virtual-row');
    await browser.click('.virtual-row', 'changed since');
    await browser.sees('colour: green', '.diff-line.is-removed');
    await browser.sees('colour: red', '.diff-line.is-added');
  });

  it('sees who changed which fields of an object, and opens a past state', async () => {
    const { browser, server } = world;
    await server.admin.patch(`${configMaps}/settings?fieldManager=painter`, { data: { colour: 'black' } }, 'merge');
    await world.go('#/objects/-/configmaps/shop/shop/settings');
    await browser.click('.tab', 'History');
    await browser.sees('The object was created with this revision', '.history');
    await browser.sees('created', '.past-revision:last-of-type .badge');
    await browser.sees('painter · Update', '.past-revision:first-of-type .revision-writers');
    await browser.click('.past-revision:first-of-type .revision-head');
    await browser.sees('data.colour', '.change-path');
    await browser.sees('"red"', '.change-value.is-removed');
    await browser.sees('"black"', '.change-value.is-added');
    await browser.click('.past-revision:last-of-type .revision-head');
    await browser.click('.past-revision:last-of-type button', 'Show this state');
    await browser.sees('colour: blue', '.past-revision .block');
    await server.admin.patch(`${configMaps}/settings`, { data: { colour: 'white' } }, 'merge');
    await browser.click('.history button', 'show the later revisions');
    await browser.click('.past-revision:first-of-type .revision-head');
    await browser.sees('"white"', '.change-value.is-added');
  });

  it('is told where the retained history of an object begins', async () => {
    const { browser, server } = world;
    const { store } = server.keelson.components;
    const compacted = await store.revision();
    await store.compact(compacted);
    await server.admin.patch(`${configMaps}/settings`, { data: { colour: 'grey' } }, 'merge');
    await eventually('older states are gone', async () => {
      const query = `resourceVersion=${compacted - 1}&resourceVersionMatch=Exact`;
      return (await server.admin.get(`${configMaps}?${query}`)).code === 410;
    });
    await browser.click('.tab', 'Overview');
    await browser.click('.tab', 'History');
    await browser.sees('The server does not retain the states before revision', '.history');
    await browser.sees('existed', '.past-revision .badge');
  });

  it('sees rates, latencies and priority levels', async () => {
    const { browser } = world;
    await world.go('#/traffic');
    await browser.sees('requests per second', '.number');
    await browser.sees('global-default', '.levels');
    await browser.sees('every tenth', '.card');
    await browser.until(
      "document.querySelectorAll('.chart').length === 2 && document.querySelector('.chart-line').getAttribute('d').includes('L')",
    );
  });

  it('works with the keyboard only', async () => {
    const { browser, server, adminToken } = world;
    await browser.open('about:blank');
    await browser.open(`${server.url}/console/`);
    await browser.until("document.activeElement?.id === 'token'");
    await browser.type(adminToken);
    for (const id of ['cluster', 'keep', '']) {
      await browser.press('Tab');
      await browser.until(`document.activeElement.id === '${id}'`);
    }
    await browser.press('Enter');
    await browser.until("document.querySelector('.shell')");
    await browser.press('k');
    await browser.until("document.activeElement.classList.contains('kind-filter')");
    await browser.type('configm');
    await browser.press('ArrowDown');
    await browser.until("document.activeElement.dataset.kind === 'configmaps.'");
    await browser.press('Enter');
    await browser.sees('settings', '.virtual-row');
    await browser.press('/');
    await browser.until("document.activeElement.classList.contains('filter')");
    await browser.type('shop/settings');
    await browser.until("document.querySelectorAll('.virtual-row').length === 1");
    await browser.press('ArrowDown');
    await browser.until("document.activeElement.role === 'grid'");
    await browser.press('Enter');
    await browser.sees('Revision', '.facts');
    await browser.evaluate('document.querySelector(\'.tab[tabindex="0"]\').focus()');
    await browser.press('ArrowRight');
    await browser.until("document.activeElement.dataset.tab === 'fields'");
    await browser.press('Escape');
    await browser.until("document.querySelector('.detail-pane').hidden && document.activeElement.role === 'grid'");
    await browser.press('?', { shift: true });
    await browser.sees('Keyboard', 'dialog[open] h2');
    await browser.press('Escape');
    await browser.until("document.querySelector('dialog[open]') === null");
    // On a busy machine the second key may come too late; the user presses both again.
    await eventually('g t shows the owners', async () => {
      await browser.press('g');
      await browser.press('t');
      return browser.evaluate<boolean>("document.querySelector('h1').textContent === 'Owners'");
    });
  });

  it('with few roles sees what the server refuses, and why', async () => {
    const { browser, readerToken } = world;
    await world.logIn(readerToken);
    await browser.sees('pods is forbidden', '.notice');
    await world.go('#/objects/-/configmaps/shop');
    await browser.sees('settings', '.virtual-row');
    await world.go('#/access');
    await browser.sees('pods is forbidden', '.refusals');
    await browser.click('.refusals button', 'Why?');
    await browser.sees('Not allowed', '.decision');
  });

  it('is not harmed by hostile texts: they are shown, run nothing and reach no other host', async () => {
    const { browser, server, adminToken } = world;
    const hostile = '<img src=x onerror="document.title=\'harmed\'"><script>document.title="harmed"</script>';
    const metadata = {
      name: 'hostile',
      labels: { x: 'y' },
      annotations: {
        note: hostile,
        link: 'javascript:document.title="harmed"',
        style: '</style><link href=//evil.example>',
        reversed: 'safe\u202egnp.exe',
        long: 'x'.repeat(20_000),
      },
      finalizers: Array.from({ length: 70 }, (_, index) => `example.com/${index}`),
      ownerReferences: [{ apiVersion: 'javascript:/x', kind: hostile, name: hostile, uid: '"><script>' }],
    };
    const created = await server.admin.post(
      configMaps,
      { metadata, data: { a: hostile, constructor: '1' } },
      { 'user-agent': `${hostile}/1` },
    );
    expect([created.code, created.body.message]).toEqual([201, undefined]);
    await world.logIn(adminToken);
    await world.go('#/objects/-/configmaps/shop/shop/hostile');
    await browser.sees(hostile, '.pair-value');
    await browser.sees('safe\\u202egnp.exe', '.pair-value');
    await browser.sees('18,000 more characters', '.pair-value');
    await browser.sees('and 20 more, in YAML & owners', '.facts');
    await browser.click('.tab', 'Edit');
    await browser.sees('characters that are not visible: \\u202e in line', '.notice:not([hidden])');
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    expect((await server.admin.post(role, { metadata: { name: 'role\u202egnp' }, rules: [] })).code).toBe(201);
    await world.go('#/objects/rbac.authorization.k8s.io/clusterroles');
    await browser.click('.row-link', 'role\\u202egnp');
    await browser.sees('role\\u202egnp', '.detail h2');
    await browser.until("document.querySelector('.tab') && document.querySelector('.detail .notice').hidden");
    await world.go('#/objects/-/configmaps/shop/shop/hostile');
    await browser.sees('hostile', '.detail h2');
    for (const tab of ['YAML', 'Edit', 'Admission', 'Access']) await browser.click('.tab', tab);
    await world.go('#/history/-/configmaps/shop');
    await world.go(
      `#/objects/-/configmaps/${encodeURIComponent(hostile)}/${encodeURIComponent(hostile)}/${encodeURIComponent(hostile)}`,
    );
    await browser.until("document.querySelector('.detail .notice:not([hidden])')");
    expect(
      await browser.evaluate(
        'document.querySelectorAll(\'script:not([src]), img:not([src="icon.svg"]), [onerror]\').length',
      ),
    ).toBe(0);
    expect(await browser.evaluate('document.title')).toContain('Keelson');
    expect(browser.requested.filter((url) => !url.startsWith(server.url) && !url.startsWith('about:'))).toEqual([]);
    expect(browser.problems).toEqual([]);
  });

  it('finds a kind that is defined while the console is open, with objects whose status is anything', async () => {
    const { browser, server } = world;
    await world.go('#/objects/shop.example/oddities/shop');
    await browser.sees('The server has no kind oddities.shop.example', '.notice');
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const created = await server.admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'oddities.shop.example' },
      spec: {
        group: 'shop.example',
        scope: 'Namespaced',
        names: { plural: 'oddities', singular: 'oddity', kind: 'Oddity', listKind: 'OddityList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    expect(created.code).toBe(201);
    const status = { conditions: [null, 7, { type: { a: 1 }, status: null }] };
    await eventually('the kind is served', async () => {
      const { code } = await server.admin.post('/apis/shop.example/v1/namespaces/shop/oddities', {
        apiVersion: 'shop.example/v1',
        kind: 'Oddity',
        metadata: { name: 'strange' },
        status,
      });
      return code === 201;
    });
    await browser.click('button', 'Look again');
    await browser.click('.row-link', 'strange');
    await browser.click('.tab', 'Overview');
    await browser.sees('Conditions', '.detail h3');
    await browser.sees('Oddity', '.kind[aria-current]');
    expect(browser.problems).toEqual([]);
  });

  it('a link whose name is .. reads nothing', async () => {
    const { browser } = world;
    await world.go('#/objects/-/configmaps/shop/shop/..');
    await browser.sees('not a path of this server', '.detail .notice');
  });

  it('logs out, and is logged out when the token is no longer valid', async () => {
    const { browser, server } = world;
    await browser.click('button', 'Log out');
    await browser.until("document.activeElement?.id === 'token'");
    await world.logIn(world.readerToken);
    await server.admin.delete('/api/v1/namespaces/shop/serviceaccounts/reader');
    await eventually('the token is refused', async () => {
      await browser.evaluate(
        "void (location.hash = location.hash.endsWith('a') ? '#/objects/-/configmaps/b' : '#/objects/-/configmaps/a')",
      );
      return browser.evaluate<boolean>(
        "document.querySelector('.login')?.textContent.includes('no longer accepts') === true",
      );
    });
  });
});
