import { type AdmissionWebhooks, patched, registration, type WebhookInstaller } from '../harness/admission-webhook.js';
import type { HttpClient } from '../harness/http-client.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

const pods = '/api/v1/namespaces/default/pods';
const connections = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CONNECT'],
  resources: ['pods/*', 'services/*', 'nodes/*'],
};

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
let path: string;
beforeAll(async () => {
  world = await startWebhookWorld();
  ({ admin, webhooks, installer } = world);
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
  expect((await admin.post(pods, { metadata: { name: 'p' }, spec: { containers } })).code).toBe(201);
  const validating = await installer.install('validating', [{ rules: [connections], objectSelector: {} }]);
  path = validating.paths[0]!;
});
afterAll(() => world.stop());

const exec = { kind: 'PodExecOptions', apiVersion: 'v1' };
const attach = { kind: 'PodAttachOptions', apiVersion: 'v1' };
const forward = { kind: 'PodPortForwardOptions', apiVersion: 'v1' };
const proxyTo = (kind: string) => ({ kind: `${kind}ProxyOptions`, apiVersion: 'v1' });

it.each<[method: string, url: string, object: object]>([
  [
    'POST',
    `${pods}/p/exec?command=ls&command=-l&container=a&stdin=&stdout=true&stderr=FALSE&tty=0`,
    { ...exec, stdin: true, stdout: true, container: 'a', command: ['ls', '-l'] },
  ],
  ['GET', `${pods}/p/exec?container=a&container=b&unknown=1`, { ...exec, container: 'a', command: null }],
  ['GET', `${pods}/p/attach?stdout=1&tty=yes&kind=Pod`, { ...attach, stdout: true, tty: true }],
  ['POST', `${pods}/p/portforward?ports=80,443&ports=1`, { ...forward, ports: [80, 443, 1] }],
  ['POST', `${pods}/p/portforward`, forward],
  ['GET', `${pods}/p/proxy`, proxyTo('Pod')],
  ['DELETE', `${pods}/p/proxy/a/b/?path=/other`, { ...proxyTo('Pod'), path: '/a/b/' }],
  ['PUT', '/api/v1/namespaces/default/services/kubernetes/proxy/', { ...proxyTo('Service'), path: '/' }],
  ['GET', '/api/v1/nodes/n/proxy/metrics', { ...proxyTo('Node'), path: '/metrics' }],
])('%s %s is reviewed with its options', async (method, url, object) => {
  const before = webhooks.reviews(path).length;
  await admin.request(method, url);
  const [review, ...more] = webhooks.reviews(path).slice(before);
  expect(more).toEqual([]);
  const subResource = /\/(exec|attach|portforward|proxy)/.exec(url)![1];
  const kind = { group: '', version: 'v1', kind: (object as { readonly kind: string }).kind };
  const want = { operation: 'CONNECT', subResource, kind, oldObject: null, options: null, dryRun: false };
  expect(review).toMatchObject(want);
  expect(review!.object).toEqual(object);
});

it('a dry run of a connection is refused (400), and a log is not reviewed', async () => {
  const before = webhooks.reviews(path).length;
  const { code, body } = await admin.post(`${pods}/p/exec?command=ls&dryRun=All`, {});
  expect([code, body.message]).toEqual([400, 'dryRun is not supported']);
  expect((await admin.get(`${pods}/p/log?container=a`)).code).toBe(204);
  expect(webhooks.reviews(path)).toHaveLength(before);
});

it('a mutating webhook changes the options of a connection, which validating webhooks see', async () => {
  const { name, paths } = await installer.install('mutating', [{ rules: [connections], objectSelector: {} }]);
  webhooks.on(paths[0]!, () => patched([{ op: 'add', path: '/container', value: 'nope' }]));
  const { code, body } = await admin.post(`${pods}/p/exec?command=ls&container=a`, {});
  expect([code, body.message]).toEqual([400, 'container nope is not valid for pod p']);
  expect(webhooks.reviews(path).at(-1)!.object).toEqual({ ...exec, container: 'nope', command: ['ls'] });
  await admin.delete(`${registration}/mutatingwebhookconfigurations/${name}`);
  await installer.settled('mutating');
});
