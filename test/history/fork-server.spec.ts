import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readServerState } from '../../src/history/server-state.js';
import { openKubeconfigClient } from '../../src/kubeconfig-client/open-client.js';
import type { KubeconfigClient } from '../../src/kubeconfig-client/kubeconfig-client.js';
import type { OpenKeelson } from '../../src/assembly/start-keelson.js';
import type { KeyValue } from '../../src/storage/kv-store.js';
import { startKeelson, type TestKeelson } from '../../src/testing.js';
import { boatDefinition } from '../harness/boat-definition.js';
import { runCommand } from '../harness/command-run.js';

const maps = '/api/v1/namespaces/default/configmaps';
const crd = boatDefinition('{ type: object, x-kubernetes-preserve-unknown-fields: true }');
const boat = { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'a' }, sails: 2 };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'x' } };
const debugging = { clusterRoles: ['view', 'debugs'] };
const debugs = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'debugs' },
  rules: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
};

let keelson: TestKeelson;
let api: KubeconfigClient;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-fork-server-'));
  const fixtures = [boat, secret, debugs];
  keelson = await startKeelson({ crds: [crd], fixtures, users: { debugger: debugging } });
  ({ api } = keelson);
  await writeFile(join(directory, 'config'), keelson.kubeconfig);
});
afterAll(async () => {
  await keelson.stop();
  await rm(directory, { recursive: true, force: true });
});
const run = (...words: string[]) => runCommand({ cwd: directory, words });

it('a fork of a server in memory has its objects with uids and resourceVersions, and its own writes', async () => {
  const created = await api.create(maps, { metadata: { name: 'a' }, data: { in: 'both' } });
  const fork = await run('fork', '--kubeconfig', 'config', '--to', 'kept');
  expect(fork.stderr).toMatch(/copied \d+ keys at resourceVersion \d+ to \S+kept in [\d.]+ s/);
  const copy = await openKubeconfigClient({ file: join(directory, 'kept/admin.kubeconfig') });
  try {
    for (const path of [
      `${maps}/a`,
      '/apis/example.com/v1/namespaces/default/boats/a',
      '/api/v1/namespaces/default/secrets/s',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.example.com',
    ]) {
      expect(await copy.get(path)).toEqual(await api.get(path));
    }
    // A watch from the copied object on gets what the fork writes, or is told that the past is not there.
    const { metadata } = await copy.list(maps);
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
    const tooOld = { resourceVersion: '2', resourceVersionMatch: 'Exact' };
    await expect(copy.list(maps, { query: tooOld })).rejects.toMatchObject({ status: 410 });
    // The new root CA may be published meanwhile.
    const query = { resourceVersion: metadata.resourceVersion!, fieldSelector: 'metadata.name=a' };
    const watch = copy.watch(maps, { query });
    const next = watch.next();
    await copy.patch(`${maps}/a`, { data: { in: 'fork' } });
    expect((await next).value).toMatchObject({ type: 'MODIFIED', object: { data: { in: 'fork' } } });
    await watch.return(undefined);
    expect((await api.get(`${maps}/a`))['data']).toEqual({ in: 'both' });
  } finally {
    copy.close();
    expect(await fork.stop()).toBe(0);
  }
  expect((await run('check', '--data-dir', 'kept')).code).toBe(0);
});

it('--at begins with a past state, and without --to the copy is removed', async () => {
  const { metadata } = await api.create(maps, { metadata: { name: 'past' }, data: { v: '1' } });
  await api.patch(`${maps}/past`, { data: { v: '2' } });
  const fork = await run('fork', '--kubeconfig', 'config', '--at', metadata.resourceVersion!);
  const [, file = ''] = /kubeconfig {2}(\S+)/.exec(fork.stdout) ?? [];
  const copy = await openKubeconfigClient({ file });
  expect((await copy.get(`${maps}/past`))['data']).toEqual({ v: '1' });
  copy.close();
  expect(await fork.stop()).toBe(0);
  expect(existsSync(dirname(file))).toBe(false);
});

it('pages have every key once, at one revision, while others write', async () => {
  const create = (n: number) => api.create(maps, { metadata: { name: `page-${n}` }, data: { n: 'x'.repeat(60_000) } });
  for (let n = 0; n < 120; n += 40) await Promise.all(Array.from({ length: 40 }, (_, index) => create(n + index)));
  const { store } = keelson as TestKeelson & OpenKeelson;
  const state = await readServerState(api, undefined);
  const read: KeyValue[] = [];
  let pages = 0;
  for await (const items of state.pages) {
    read.push(...items);
    await api.patch(`${maps}/page-${pages}`, { data: { n: 'changed' } });
    await api.delete(`${maps}/page-${119 - pages}`);
    pages++;
  }
  expect(pages).toBeGreaterThan(1);
  const { items } = await store.range('', { revision: state.revision });
  const plain = ({ key, value, createRevision, modRevision }: KeyValue) => [
    key,
    value.toString('base64'),
    createRevision,
    modRevision,
  ];
  expect(read.map(plain)).toEqual(items.map(plain));
});

it('a user who may read the path, but not do everything, is refused', async () => {
  const user = await keelson.user('debugger');
  const get = (client: KubeconfigClient, query = {}, method = 'GET') =>
    client.request({ method, path: '/debug/state', query });
  expect((await user.api.request({ method: 'GET', path: '/debug/faults' })).status).toBe(404);
  const refused = await get(user.api);
  expect([refused.status, refused.body.toString()]).toEqual([403, expect.stringContaining('cannot * resource')]);
  expect((await get((await keelson.user('nobody')).api)).status).toBe(403);
  expect((await get(api, {}, 'POST')).status).toBe(405);
  for (const query of [{ resourceVersion: '-1' }, { after: 'x'.repeat(5_000) }]) {
    expect((await get(api, query)).status).toBe(400);
  }
  expect((await get(api, { resourceVersion: 999_999_999 })).status).toBe(504);
  await writeFile(join(directory, 'user'), await keelson.user('debugger').then(({ kubeconfig }) => kubeconfig));
  const { code, stderr } = await run('fork', '--kubeconfig', 'user', '--to', 'none');
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^keelson fork: GET \/debug\/state: .*forbidden/)]);
  expect(existsSync(join(directory, 'none'))).toBe(false);
});
