import { findChromium } from '../../scripts/chromium.js';
import { Chromium } from '../harness/chromium.js';
import { type ClusterClient, ClusterServer } from '../harness/logical-clusters.js';

const chromium = findChromium();
const inBrowser = chromium === undefined ? describe.skip : describe;

const maps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { colour: 'blue' },
});

inBrowser('a logical cluster in the console', () => {
  let server: ClusterServer;
  let cluster: ClusterClient;
  let browser: Chromium;
  beforeAll(async () => {
    server = await ClusterServer.start();
    cluster = await server.create('team-a');
    await server.admin.post(maps, configMap('of-the-root'));
    await cluster.post(maps, configMap('of-the-cluster'));
    browser = await Chromium.start(chromium!);
  });
  afterAll(async () => {
    await browser.stop();
    await server.stop();
  });

  const go = (hash: string) => browser.evaluate(`void (location.hash = ${JSON.stringify(hash)})`);
  const openLogin = async () => {
    await browser.open('about:blank');
    await browser.open(`${server.server.url}/console/`);
    await browser.until("document.activeElement?.id === 'token'");
  };
  const nameCluster = (name: string) =>
    browser.evaluate(`void (document.getElementById('cluster').value = ${JSON.stringify(name)})`);

  it('is refused by names that are not DNS labels, unknown names, and for other credentials', async () => {
    await openLogin();
    await browser.type(cluster.token);
    for (const name of ['..', 'a/../..', 'team-a/console', '%2e%2e', 'Team', 'a?b', '//evil.example']) {
      await nameCluster(name);
      await browser.click('button', 'Log in');
      await browser.sees(`not a name of a logical cluster: ${name}`, '.problem');
    }
    const sent = browser.requested.filter((url) => url.includes('evil') || url.includes('/clusters/'));
    expect(sent).toEqual([]);
    await nameCluster('nobody');
    await browser.click('button', 'Log in');
    await browser.sees('A logical cluster accepts only the tokens that it has issued', '.problem');
    await openLogin();
    await browser.type(cluster.token);
    await browser.click('button', 'Log in');
    await browser.sees('The server does not accept this token', '.problem');
  });

  it('is opened with its kubeconfig, and shows only its own objects', async () => {
    await openLogin();
    await browser.type(await server.kubeconfig('team-a'));
    await browser.until("document.getElementById('cluster').value === 'team-a'");
    await browser.click('button', 'Log in');
    await browser.sees('team-a', '.header .cluster');
    await browser.sees('logical-cluster-admin', '.user');
    await go('#/objects/-/configmaps/default');
    await browser.sees('of-the-cluster', '.virtual-row');
    expect(await browser.evaluate("document.querySelector('.main').textContent.includes('of-the-root')")).toBe(false);
    await browser.sees('Live', '.state');
    await cluster.post(maps, configMap('followed'));
    await browser.sees('followed', '.virtual-row');
  });

  it('has the editor, the steps of admission, access and history', async () => {
    await go('#/objects/-/configmaps/default/default/of-the-cluster');
    await browser.click('.tab', 'Edit');
    await browser.until("document.querySelector('.editor')?.value.includes('colour: blue')");
    await browser.evaluate(
      "(() => { const box = document.querySelector('.editor'); box.value = box.value.replace('colour: blue', 'colour: green'); box.dispatchEvent(new Event('input')); })()",
    );
    await browser.click('button', 'Review');
    await browser.sees('colour: green', '.diff-line.is-added');
    await browser.click('button', 'Save');
    await browser.sees('Saved', '.success');
    expect((await cluster.get(`${maps}/of-the-cluster`)).body.data).toEqual({ colour: 'green' });
    await browser.click('.tab', 'Admission');
    await browser.click('button', 'Explain admission');
    await browser.sees('NamespaceLifecycle', '.step');
    await browser.click('.tab', 'Access');
    await browser.click('[aria-label="Why update?"]');
    await browser.sees('ClusterRoleBinding', '.decision');
    // The pane reads the object soon after the save.
    await browser.click('.tab', 'YAML');
    await browser.sees('green', '.code .virtual-row');
    await browser.click('.tab', 'History');
    await browser.sees('created', '.past-revision:last-of-type .badge');
    await browser.click('.past-revision:first-of-type .revision-head');
    await browser.sees('data.colour', '.change-path');
    await go('#/history/-/configmaps/default');
    await browser.sees('oldest', '.timeline-ends');
    await go('#/tree');
    await browser.sees('of-the-cluster', '.virtual-row');
  });

  it('says that it has no metrics of its own, and has sent no request for objects to the root', async () => {
    await go('#/traffic');
    await browser.sees('A logical cluster has no metrics of its own', '.notice');
    const { url } = server.server;
    // The login page asks the server whether the browser has a client certificate.
    const ofLogin = ['/api', '/apis', '/apis/authentication.k8s.io/v1/selfsubjectreviews'].map(
      (path) => `${url}${path}`,
    );
    const ofRoot = browser.requested.filter(
      (one) => one.startsWith(url) && !/^\/(console|clusters\/team-a)\//.test(one.slice(url.length)),
    );
    expect(ofRoot.filter((one) => !ofLogin.includes(one) && !one.includes('/clusters/nobody/'))).toEqual([]);
    expect(browser.problems).toEqual([]);
  });
});
