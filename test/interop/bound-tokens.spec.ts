import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';

/** Tokens that are bound to an object, used by the official JavaScript client until the object is deleted. */
const namespace = 'default';
const core = `/api/v1/namespaces/${namespace}`;
const directory = mkdtempSync(join(tmpdir(), 'keelson-bound-'));
let keelson: Keelson;
let admin: HttpClient;

beforeAll(async () => {
  keelson = await startKeelson();
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  writeFileSync(join(directory, 'ca.crt'), keelson.ca);
  await admin.post(`${core}/serviceaccounts`, { metadata: { name: 'robot' } });
  await admin.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'robot' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace }],
  });
});
afterAll(async () => {
  admin.close();
  await keelson.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the client with a token bound to the object. */
async function boundClient(reference: { readonly kind: string; readonly name: string }) {
  const boundObjectRef = { apiVersion: 'v1', ...reference };
  const { body } = await admin.post(`${core}/serviceaccounts/robot/token`, { spec: { boundObjectRef } });
  const tokenFile = join(directory, `${reference.kind}-token`);
  writeFileSync(tokenFile, body.status.token as string);
  const script = join(__dirname, '../harness/bound-client.mjs');
  const child = spawn(process.execPath, [script, keelson.url, join(directory, 'ca.crt'), tokenFile, namespace], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  killedAtExit(child);
  const lines = createInterface(child.stdout);
  return {
    async list(): Promise<string> {
      const line = once(lines, 'line') as Promise<[string]>;
      child.stdin.write('\n');
      return (await line)[0];
    },
    async stop(): Promise<void> {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}

const pod = { spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] } };

it.each<[string, string, object]>([
  ['Pod', `${core}/pods`, pod],
  ['Secret', `${core}/secrets`, {}],
  ['Node', '/api/v1/nodes', {}],
])(
  'a token bound to a %s stops working when it is deleted, and one of the same name does not revive it',
  async (kind, collection, object) => {
    const metadata = { name: 'bound' };
    expect((await admin.post(collection, { metadata, ...object })).code).toBe(201);
    const client = await boundClient({ kind, name: 'bound' });
    try {
      expect([await client.list(), await client.list()]).toEqual(['200', '200']);
      expect((await admin.delete(`${collection}/bound?gracePeriodSeconds=0`)).code).toBe(200);
      // The limit of kube-apiserver is ten seconds, for which results are cached; here it is the next request.
      await eventually('the token is rejected', async () => (await client.list()) === '401');
      expect((await admin.post(collection, { metadata, ...object })).code).toBe(201);
      expect(await client.list()).toBe('401');
    } finally {
      await client.stop();
      await admin.delete(`${collection}/bound?gracePeriodSeconds=0`);
    }
  },
);

it('a token of a Pod names the Pod and its Node, with their uids', async () => {
  const node = await admin.post('/api/v1/nodes', { metadata: { name: 'worker' } });
  const spec = { ...pod.spec, nodeName: 'worker' };
  const made = await admin.post(`${core}/pods`, { metadata: { name: 'on-node' }, spec });
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'on-node', uid: made.body.metadata.uid as string };
  const { body } = await admin.post(`${core}/serviceaccounts/robot/token`, { spec: { boundObjectRef } });
  const holder = new HttpClient({ url: keelson.url, ca: keelson.ca, token: body.status.token as string });
  try {
    const review = await holder.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    });
    expect(review.body.status.userInfo.extra).toEqual({
      'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=[0-9a-f-]{36}$/)],
      'authentication.kubernetes.io/node-name': ['worker'],
      'authentication.kubernetes.io/node-uid': [node.body.metadata.uid],
      'authentication.kubernetes.io/pod-name': ['on-node'],
      'authentication.kubernetes.io/pod-uid': [made.body.metadata.uid],
    });
  } finally {
    holder.close();
  }
});
