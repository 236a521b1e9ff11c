import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKeelson, type Keelson } from 'keelson/testing';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import type { Step } from '../../scripts/kubectl/step.js';
import { packageRoot } from '../../src/config/config-files.js';
import { eventually } from '../../test/harness/eventually.js';
import { HttpClient } from '../../test/harness/http-client.js';
import { freePorts } from '../../test/harness/ports.js';
import { until } from '../../test/harness/until.js';
import { webhookCertificate } from '../../test/harness/webhook-certificate.js';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const widgets = '/apis/shop.example.com/v1/namespaces/default/widgets';
const name = 'v1.shop.example.com';

/** The example in a process of its own. */
class Shop {
  private child: ChildProcess | undefined;
  output = '';

  constructor(private readonly flags: readonly string[]) {}

  async start(): Promise<void> {
    const main = join(packageRoot, 'dist/examples/aggregated-server/main.js');
    const child = spawn(process.execPath, [main, ...this.flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    killedAtExit(child);
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      const read = (part: Buffer) => {
        this.output += String(part);
        if (this.output.includes('Serving ')) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${this.output}`)));
    });
    this.output = '';
  }

  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

let keelson: Keelson;
let admin: HttpClient;
let shop: Shop;
let directory: string;
beforeAll(async () => {
  keelson = await startKeelson();
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  directory = await mkdtemp(join(tmpdir(), 'aggregated-'));
  const { certificate, key, ca } = await webhookCertificate({ hash: 'SHA-256', names: ['shop.default.svc'] });
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
  await writeFile(files.certificate, certificate);
  await writeFile(files.key, key, { mode: 0o600 });
  const port = (await freePorts(1))[0]!;
  shop = new Shop([
    ...[`--kubeconfig=${await keelson.kubeconfigFile()}`, `--data-dir=${join(directory, 'data')}`],
    ...[`--tls-cert-file=${files.certificate}`, `--tls-private-key-file=${files.key}`],
    ...['--bind-address=127.0.0.1', `--secure-port=${port}`],
  ]);
  await shop.start();
  const service = { metadata: { name: 'shop' }, spec: { type: 'ExternalName', externalName: 'localhost' } };
  expect((await admin.post('/api/v1/namespaces/default/services', service)).code).toBe(201);
  const registered = await admin.post(apiServices, {
    metadata: { name },
    spec: {
      ...{ group: 'shop.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 },
      caBundle: Buffer.from(ca).toString('base64'),
      service: { namespace: 'default', name: 'shop', port },
    },
  });
  expect(registered.code).toBe(201);
  await isAvailable('True');
});
afterAll(async () => {
  admin?.close();
  await shop?.kill();
  await keelson?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function isAvailable(status: string): Promise<void> {
  await until(admin, apiServices, name, (object) => {
    const { conditions = [] } = (object?.['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
    return conditions.some((each) => each.type === 'Available' && each.status === status);
  });
}

const widget = { kind: 'Widget', apiVersion: 'shop.example.com/v1', metadata: { name: 'a' }, spec: { color: 'red' } };

it('a group in a module is served by a server of its own, under the rules of the main server', async () => {
  const { code, body } = await admin.post(widgets, widget);
  expect([code, body.spec]).toEqual([201, { color: 'red', size: 'medium', replicas: 1 }]);
  const nobody = await admin.get(widgets, { 'impersonate-user': 'nobody' });
  expect([nobody.code, nobody.body.reason]).toEqual([403, 'Forbidden']);
  const { code: refused, body: status } = await admin.post(widgets, { ...widget, metadata: { name: 'b' }, spec: {} });
  expect([refused, status.reason]).toEqual([422, 'Invalid']);
  expect((await admin.delete(`${widgets}/a`)).code).toBe(200);
});

it('the aggregated server refuses requests that do not come through the main server', async () => {
  const { body } = await admin.get(`${apiServices}/${name}`);
  const ca = Buffer.from(body.spec.caBundle, 'base64').toString();
  const headers = { 'x-remote-user': 'kubernetes-admin', 'x-remote-group': 'system:masters' };
  const direct = new HttpClient({
    url: `https://localhost:${body.spec.service.port}`,
    ca,
    headers: { ...headers, host: 'shop.default.svc' },
  });
  expect((await direct.get(widgets)).code).toBe(401);
  direct.close();
});

const kubectls = findKubectls(packageRoot);
if (kubectls.length === 0) {
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('does not read widgets', () => undefined));
} else describe.each(kubectls)('kubectl $version', readThroughAggregation);

function readThroughAggregation(kubectl: (typeof kubectls)[number]): void {
  let runner: KubectlRunner;
  beforeAll(async () => {
    runner = await KubectlRunner.open(kubectl, await keelson.kubeconfigFile());
  });
  afterAll(() => runner.close());

  async function run(args: string, more: Partial<Step> = {}): Promise<string> {
    const outcome = await runner.run({ name: args, args: args.split(' '), ...more });
    expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
    return outcome.stdout;
  }
  const stdin = JSON.stringify(widget);

  it('apply, get, explain, watch and delete work through aggregation', async () => {
    await eventually('the kinds are described', async () => {
      const { text } = await admin.get('/openapi/v3');
      return text.includes('apis/shop.example.com/v1');
    });
    await run('apply -f -', { stdin, stdout: /widget\S*\/a created/ });
    await run('apply -f - --server-side --force-conflicts', { stdin, stdout: /widget\S*\/a serverside-applied/ });
    await run('get widgets', { stdout: /NAME\s+COLOR\s+SIZE\s+AGE\s+a\s+red\s+medium/ });
    await run('get wd/a --watch', { until: /^a\s+red/m });
    await run('explain widgets', { stdout: /Widget/ });
    await run('api-resources --api-group=shop.example.com', {
      stdout: /widgets\s+wd\s+shop.example.com\/v1\s+true\s+Widget/,
    });
    await run('scale widget/a --replicas=3', { stdout: /scaled/ });
    await run('auth can-i get widgets.shop.example.com --as=nobody', { code: 1, stdout: /^no/ });
    await run('get widgets --as=nobody', { code: 1, stderr: /Forbidden/ });
    await run('delete widget a', { stdout: /deleted/ });
  });

  it('a killed aggregated server leaves other groups alone, and serves again after a restart', async () => {
    await run('apply -f -', { stdin, stdout: /created/ });
    await shop.kill();
    await run('get namespaces', { stdout: /default\s+Active/ });
    await isAvailable('False');
    await run('get widgets', {
      code: 1,
      stderr: /unable to handle the request|service unavailable|server doesn't have a resource type|currently unable/i,
    });
    await run('get namespaces', { stdout: /default\s+Active/ });
    await eventually('discovery lists the other groups only', async () => {
      const { stdout } = await runner.run({ name: 'api-resources', args: ['api-resources'] });
      return /namespaces\s+ns/.test(stdout) && !stdout.includes('widgets');
    });
    await shop.start();
    await eventually('it is available', async () => (await admin.get(widgets)).code === 200);
    await eventually('kubectl finds widgets again', async () => {
      const outcome = await runner.run({ name: 'get', args: ['get', 'widgets', 'a'] });
      return outcome.code === 0;
    });
    await run('delete widget a', { stdout: /deleted/ });
  });
}
