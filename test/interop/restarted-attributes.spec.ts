import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';
import { untilGone } from '../harness/until.js';

// After kill -9, lists by labels, fields and owners are answered from the summaries that the embedded store keeps.

const restartMsMax = 240_000;
const base = '/api/v1/namespaces/default';

let directory: string;
let server: ServerProcess;
let admin: HttpClient;
const connect = () => {
  const { url, ca, client } = server.access;
  admin = new HttpClient({ url, ca, ...client });
};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'attributes-'));
  server = await ServerProcess.start(directory, ['--storage-backend=embedded']);
  connect();
}, restartMsMax);
afterAll(async () => {
  admin.close();
  await server.kill();
  await rm(directory, { recursive: true, force: true });
});

async function create(path: string, body: object): Promise<{ metadata: { uid: string; name: string } }> {
  const answer = await admin.post(path, body);
  expect([answer.code, answer.code === 201 ? '' : answer.text]).toEqual([201, '']);
  return answer.body as { metadata: { uid: string; name: string } };
}

const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
});
const pod = (number: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${number}`, labels: { shard: `s-${number % 3}` } },
  spec: {
    automountServiceAccountToken: false,
    nodeName: `node-${number % 4}`,
    containers: [{ name: 'main', image: 'example/main' }],
  },
});

const reads = [
  `${base}/pods`,
  `${base}/pods?labelSelector=shard%3Ds-1`,
  `${base}/pods?fieldSelector=spec.nodeName%3Dnode-2`,
  `${base}/pods?fieldSelector=status.phase%3DPending,spec.restartPolicy%3DAlways`,
  `${base}/configmaps?labelSelector=kept`,
  `${base}/configmaps/held`,
  '/api/v1/namespaces?fieldSelector=metadata.name%3Ddefault',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles?labelSelector=kubernetes.io%2Fbootstrapping',
];

test(
  'after kill -9, lists by selectors, owners and finalizers are as before',
  async () => {
    for (let number = 0; number < 24; number++) await create(`${base}/pods`, pod(number));
    const owner = await create(`${base}/configmaps`, configMap('owner', { labels: { kept: 'a' } }));
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }];
    await create(`${base}/configmaps`, configMap('dependent', { ownerReferences, labels: { kept: 'b' } }));
    await create(`${base}/configmaps`, configMap('held', { finalizers: ['example.com/hold'] }));
    expect((await admin.delete(`${base}/configmaps/held`)).code).toBe(200);
    const relabeled = { metadata: { labels: { shard: 's-1' } } };
    const patched = await admin.patch(`${base}/pods/pod-0`, relabeled, 'application/merge-patch+json');
    expect(patched.code).toBe(200);

    const answers = async () => {
      const texts: string[] = [];
      for (const path of reads) {
        const { code, text } = await admin.get(path);
        // The revision of a list grows with the writes of a start.
        texts.push(
          `${code} ${text.replace(/^(\{"kind":"[A-Za-z]*List","apiVersion":"[^"]*","metadata":\{)[^}]*/, '$1')}`,
        );
      }
      return texts;
    };
    const before = await answers();
    expect(before.map((text) => text.slice(0, 3))).toEqual(reads.map(() => '200'));
    await server.kill();
    admin.close();
    await server.start();
    connect();
    expect(await answers()).toEqual(before);

    expect((await admin.delete(`${base}/configmaps/owner`)).code).toBe(200);
    await untilGone(admin, `${base}/configmaps`, 'dependent');
    const released = { metadata: { finalizers: null } };
    expect((await admin.patch(`${base}/configmaps/held`, released, 'application/merge-patch+json')).code).toBe(200);
    expect((await admin.get(`${base}/configmaps/held`)).code).toBe(404);
  },
  restartMsMax,
);
