import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient, Protocol } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

let directory: string;
let server: TestServer;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'keelson-modes-'))));
afterAll(() => rm(directory, { recursive: true, force: true }));
afterEach(() => server.stop());

const tokens = [
  'n1-token,system:node:n1,1,"system:nodes"',
  'n2-token,system:node:n2,2,"system:nodes"',
  'alice-token,alice,3,"devs"',
  'bob-token,bob,4,""',
].join('\n');

async function write(name: string, content: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

async function start(authorization: NonNullable<ConfigOverrides['authorization']>): Promise<TestServer> {
  const tokenAuthFile = await write('tokens.csv', tokens);
  const admission = { enabledPlugins: ['NodeRestriction'] };
  const config = { authorization, admission, authentication: { tokenAuthFile } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  return server;
}

const shop = '/api/v1/namespaces/default';
const create = async (path: string, object: object) => {
  const answer = await server.admin.post(path, object);
  expect([answer.code, answer.body.message]).toEqual([201, undefined]);
};
const secret = (name: string) => create(`${shop}/secrets`, { metadata: { name }, stringData: { a: 'b' } });
const pod = (name: string, nodeName: string | undefined, volumes: readonly object[]) =>
  create(`${shop}/pods`, {
    metadata: { name },
    spec: { nodeName, containers: [{ name: 'main', image: 'main' }], volumes, automountServiceAccountToken: false },
  });
const codeOf = async (client: HttpClient, path: string) => (await client.get(path)).code;
const untilCode = (client: HttpClient, path: string, code: number) =>
  eventually(`${path} is answered with ${code}`, async () => (await codeOf(client, path)) === code);

describe.each<Protocol>(['http/1.1', 'h2'])('Node, by %s', (protocol) => {
  let n1: HttpClient;
  let n2: HttpClient;
  beforeEach(async () => {
    await start({ modes: ['Node', 'RBAC'] });
    n1 = server.client({ token: 'n1-token', protocol });
    n2 = server.client({ token: 'n2-token', protocol });
  });

  it('a node reads the Secrets of its Pods, from binding to deletion', async () => {
    await secret('used');
    await secret('other');
    await pod('p', undefined, [{ name: 'v', secret: { secretName: 'used' } }]);
    expect(await codeOf(n1, `${shop}/secrets/used`)).toBe(403);
    const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
    await create(`${shop}/pods/p/binding`, { metadata: { name: 'p' }, target });
    await untilCode(n1, `${shop}/secrets/used`, 200);
    expect(await codeOf(n1, `${shop}/secrets?fieldSelector=metadata.name%3Dused`)).toBe(200);
    expect(await codeOf(n1, `${shop}/secrets/other`)).toBe(403);
    expect(await codeOf(n2, `${shop}/secrets/used`)).toBe(403);
    expect((await n1.get('/api/v1/secrets')).body.message).toBe(
      'secrets is forbidden: User "system:node:n1" cannot list resource "secrets" in API group "" at the cluster scope: can only read namespaced object of this type',
    );
    expect((await server.admin.delete(`${shop}/pods/p?gracePeriodSeconds=0`)).code).toBe(200);
    await untilCode(n1, `${shop}/secrets/used`, 403);
  });

  it('a node reads the volume of a claim, and its Secret, only if the volume names the claim', async () => {
    await secret('stage');
    const csi = {
      driver: 'csi.example.com',
      volumeHandle: 'h',
      nodeStageSecretRef: { namespace: 'default', name: 'stage' },
    };
    const volume = (name: string, claim: string) => ({
      metadata: { name },
      spec: {
        ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi },
        claimRef: { namespace: 'default', name: claim },
      },
    });
    const claim = (name: string, volumeName: string) => ({
      metadata: { name },
      spec: { volumeName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await create('/api/v1/persistentvolumes', volume('taken', 'another'));
    await create(`${shop}/persistentvolumeclaims`, claim('thief', 'taken'));
    await pod('thief', 'n1', [{ name: 'v', persistentVolumeClaim: { claimName: 'thief' } }]);
    await untilCode(n1, `${shop}/persistentvolumeclaims/thief`, 200);
    expect(await codeOf(n1, '/api/v1/persistentvolumes/taken')).toBe(403);
    expect(await codeOf(n1, `${shop}/secrets/stage`)).toBe(403);
    await create('/api/v1/persistentvolumes', volume('own', 'data'));
    await create(`${shop}/persistentvolumeclaims`, claim('data', 'own'));
    await pod('user', 'n1', [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]);
    await untilCode(n1, '/api/v1/persistentvolumes/own', 200);
    await untilCode(n1, `${shop}/secrets/stage`, 200);
    expect(await codeOf(n2, `${shop}/secrets/stage`)).toBe(403);
  });

  it('a mirror Pod gives its node access to nothing', async () => {
    await secret('wanted');
    await create('/api/v1/nodes', { metadata: { name: 'n1' } });
    const { body: node } = await n1.get('/api/v1/nodes/n1');
    const mirror = {
      metadata: {
        name: 'mirror',
        annotations: { 'kubernetes.io/config.mirror': 'x' },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid as string, controller: true },
        ],
      },
      spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'main' }] },
    };
    const volumes = [{ name: 'v', secret: { secretName: 'wanted' } }];
    const refused = await n1.post(`${shop}/pods`, { ...mirror, spec: { ...mirror.spec, volumes } });
    expect(refused.code).toBe(403);
    expect((await n1.post(`${shop}/pods`, mirror)).code).toBe(201);
    expect(await codeOf(n1, `${shop}/secrets/wanted`)).toBe(403);
  });

  it('a node lists and watches its Pods by spec.nodeName', async () => {
    await pod('p', 'n1', []);
    const own = '?fieldSelector=spec.nodeName%3Dn1';
    await eventually('the Pod is listed', async () => (await n1.get(`/api/v1/pods${own}`)).body.items.length === 1);
    expect(await codeOf(n1, '/api/v1/pods')).toBe(403);
    expect(await codeOf(n1, '/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')).toBe(403);
    expect(await codeOf(n1, `/api/v1/pods?fieldSelector=spec.nodeName%3Dn2&${own.slice(1)}`)).toBe(403);
    expect(await codeOf(n2, `${shop}/pods/p`)).toBe(403);
    const watch = await n1.watch(`/api/v1/pods${own}&watch=1&resourceVersion=0`);
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'p' } } });
    watch.close();
  });

  it('a review answers by the selector that it names', async () => {
    const review = async (fieldSelector: object) => {
      const resourceAttributes = { verb: 'list', resource: 'pods', version: 'v1', fieldSelector };
      const spec = { user: 'system:node:n1', groups: ['system:nodes'], resourceAttributes };
      const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
      return (await server.admin.post(reviews, { spec })).body.status as object;
    };
    const requirement = { key: 'spec.nodeName', operator: 'In', values: ['n1'] };
    expect(await review({ requirements: [requirement] })).toEqual({ allowed: true });
    expect(await review({ rawSelector: 'spec.nodeName=n1' })).toEqual({ allowed: true });
    expect(await review({ requirements: [{ ...requirement, values: ['n2'] }] })).toMatchObject({ allowed: false });
    expect(await review({ requirements: [{ ...requirement, operator: 'NotIn' }] })).toMatchObject({ allowed: false });
  });

  it('a node registers itself, renews its lease, and touches no other node', async () => {
    expect((await n1.post('/api/v1/nodes', { metadata: { name: 'n1' } })).code).toBe(201);
    expect((await n1.post('/api/v1/nodes', { metadata: { name: 'n3' } })).code).toBe(403);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    expect((await n1.post(leases, { metadata: { name: 'n1' }, spec: {} })).code).toBe(201);
    expect((await n1.post(leases, { metadata: { name: 'n2' }, spec: {} })).code).toBe(403);
    expect(await codeOf(n1, `${leases}/n1`)).toBe(200);
    expect(await codeOf(n2, `${leases}/n1`)).toBe(403);
    expect(await codeOf(n2, '/api/v1/nodes/n1')).toBe(403);
  });
});

describe('ABAC', () => {
  it('allows by the policies of the file', async () => {
    const policy = (spec: object) =>
      JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });
    const policyFile = await write(
      'policies.jsonl',
      [
        '# developers read everything in one namespace',
        policy({ group: 'devs', namespace: 'default', resource: '*', apiGroup: '*', readonly: true }),
        policy({ user: 'bob', nonResourcePath: '/version' }),
      ].join('\n'),
    );
    await start({ modes: ['ABAC'], policyFile });
    const alice = server.client({ token: 'alice-token' });
    const bob = server.client({ token: 'bob-token' });
    expect(await codeOf(alice, `${shop}/configmaps`)).toBe(200);
    expect(await codeOf(alice, '/api/v1/configmaps')).toBe(403);
    const refused = await alice.post(`${shop}/configmaps`, { metadata: { name: 'c' } });
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'configmaps is forbidden: User "alice" cannot create resource "configmaps" in API group "" in the namespace "default": No policy matched.',
    ]);
    expect([await codeOf(bob, '/version'), await codeOf(alice, '/version')]).toEqual([200, 403]);
    const rules = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
    expect((await server.admin.post(rules, { spec: { namespace: 'default' } })).body.status.incomplete).toBe(false);
  });
});
