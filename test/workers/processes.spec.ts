import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient, Watch } from '../harness/http-client.js';
import { processClients, type ProcessClients } from '../harness/process-clients.js';
import { ServerProcess } from '../harness/server-process.js';

const count = 2;
const namespace = '/api/v1/namespaces/default';
const maps = `${namespace}/configmaps`;
const map = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });

/** Reads events until the object with the name, and returns the names with their versions. */
async function eventsUntil(watch: Watch, last: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const { type, object } of watch) {
    seen.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`);
    if (object.metadata.name === last) break;
  }
  watch.close();
  return seen;
}

function servesAsOne(flags: () => readonly string[]): void {
  let directory: string;
  let server: ServerProcess;
  let clients: ProcessClients;
  let store: HttpClient;
  let worker: HttpClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-workers-'));
    server = await ServerProcess.start(directory, [...flags(), `--workers=${count}`]);
    clients = await processClients(server, count);
    [store, worker] = [clients.of[0]!, clients.of[1]!];
  });
  afterAll(async () => {
    clients.close();
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  });
  const both = () => [
    [store, worker],
    [worker, store],
  ];

  it('a write through one process is in the next answers of the other', async () => {
    for (const [number, [writer, reader]] of [...both(), ...both()].entries()) {
      for (let round = 0; round < 10; round++) {
        const name = `seen-${number}-${round}`;
        expect((await writer!.post(maps, map(name, { round: '0' }))).code).toBe(201);
        expect((await reader!.get(`${maps}/${name}`)).code).toBe(200);
        await writer!.patch(`${maps}/${name}`, { data: { round: '1' } });
        const { body } = await reader!.get(maps);
        const found = body.items.find((item: { metadata: { name: string } }) => item.metadata.name === name);
        expect(found.data.round).toBe('1');
        expect((await reader!.delete(`${maps}/${name}`)).code).toBe(200);
        expect((await writer!.get(`${maps}/${name}`)).code).toBe(404);
      }
    }
  });

  it('watches of all processes deliver the writes of all processes in one order', async () => {
    const { metadata } = (await store.get(`${maps}?limit=1`)).body;
    const since = `${maps}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    const watches = await Promise.all([store, worker].map((client) => client.watch(since)));
    const writes = [store, worker].map(async (client, number) => {
      for (let at = 0; at < 40; at++) await client.post(maps, map(`ordered-${number}-${at}`));
    });
    await Promise.all(writes);
    await worker.post(maps, map('ordered-last'));
    const [one, other] = await Promise.all(watches.map((watch) => eventsUntil(watch, 'ordered-last')));
    expect(one).toEqual(other);
    expect(one).toHaveLength(81);
    const versions = one!.map((line) => Number(line.split(' ')[2]));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
  });

  it('of concurrent creates and updates of one object, each version is made once', async () => {
    const creates = Array.from({ length: 20 }, (_, at) => [store, worker][at % 2]!.post(maps, map('contended')));
    const codes = (await Promise.all(creates)).map(({ code }) => code).sort();
    expect(codes).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    const patches = Array.from({ length: 20 }, (_, at) =>
      [store, worker][at % 2]!.patch(`${maps}/contended`, { data: { [`by-${at}`]: 'x' } }),
    );
    const made = (await Promise.all(patches)).filter(({ code }) => code === 200).length;
    expect(Object.keys((await store.get(`${maps}/contended`)).body.data)).toHaveLength(made);
  });

  it('a custom kind that one process has shown as established is served by the other', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    for (const [number, [creator, other]] of both().entries()) {
      const [plural, group] = [`gadgets${number}`, 'example.com'];
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
      const created = await creator!.post(definitions, {
        metadata: { name: `${plural}.${group}` },
        spec: {
          ...{ group, scope: 'Namespaced', names: { plural, kind: `Gadget${number}` } },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      });
      expect(created.code).toBe(201);
      const watch = await creator!.watch(
        `${definitions}?watch=1&fieldSelector=metadata.name=${plural}.${group}&resourceVersion=${created.body.metadata.resourceVersion}`,
      );
      for await (const { object } of watch) {
        const conditions: { type: string; status: string }[] = object.status?.conditions ?? [];
        if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break;
      }
      watch.close();
      const path = `/apis/${group}/v1/namespaces/default/${plural}`;
      const object = { apiVersion: `${group}/v1`, kind: `Gadget${number}`, metadata: { name: 'one' } };
      expect((await other!.post(path, object)).code).toBe(201);
      expect((await creator!.get(`${path}/one`)).code).toBe(200);
    }
  });

  it('a role that was bound through one process counts in the other, and no longer when it is taken away', async () => {
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    for (const [number, [writer, other]] of both().entries()) {
      const user = `reader-${number}`;
      const as = { 'impersonate-user': user };
      for (let round = 0; round < 5; round++) {
        await writer!.post(bindings, {
          metadata: { name: user },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
        });
        expect((await other!.get(maps, as)).code).toBe(200);
        await writer!.delete(`${bindings}/${user}`);
        expect((await other!.get(maps, as)).code).toBe(403);
      }
    }
  });

  it('a policy of admission that was created through one process refuses requests of the other', async () => {
    const policies = '/apis/admissionregistration.k8s.io/v1';
    await store.post(`${policies}/validatingadmissionpolicies`, {
      metadata: { name: 'no-forbidden' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
        validations: [{ expression: "object.metadata.name != 'forbidden'" }],
      },
    });
    await store.post(`${policies}/validatingadmissionpolicybindings`, {
      metadata: { name: 'no-forbidden' },
      spec: { policyName: 'no-forbidden', validationActions: ['Deny'] },
    });
    for (const client of [worker, store]) {
      await eventually(
        'the policy is in force',
        async () => (await client.post(`${maps}?dryRun=All`, map('forbidden'))).code === 422,
      );
    }
  });

  it('Services that are created through all processes get addresses of their own', async () => {
    const created = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        [store, worker][at % 2]!.post(`${namespace}/services`, {
          metadata: { name: `service-${at}` },
          spec: { type: 'NodePort', ports: [{ port: 80 }] },
        }),
      ),
    );
    expect(created.map(({ code }) => code)).toEqual(created.map(() => 201));
    expect(new Set(created.map(({ body }) => body.spec.clusterIP)).size).toBe(created.length);
    expect(new Set(created.map(({ body }) => body.spec.ports[0].nodePort)).size).toBe(created.length);
  });

  it('metrics count the requests of all processes, and objects once', async () => {
    const secrets = `${namespace}/secrets`;
    for (let at = 0; at < 5; at++) {
      await store.post(secrets, map(`counted-0-${at}`));
      await worker.post(secrets, map(`counted-1-${at}`));
    }
    for (const client of [store, worker]) {
      const { text } = await client.get('/metrics');
      const valueOf = (pattern: RegExp) => Number(pattern.exec(text)?.[1]);
      expect(valueOf(/^apiserver_request_total\{.*resource="secrets".*verb="POST".*code="201"\} (\d+)$/m)).toBe(10);
      expect(valueOf(/^apiserver_resource_objects\{.*resource="secrets"\} (\d+)$/m)).toBe(10);
      const helps = text.split('\n').filter((line) => line.startsWith('# HELP '));
      expect(new Set(helps).size).toBe(helps.length);
    }
  });

  it('all processes report the checks of the one with the store', async () => {
    for (const client of [store, worker]) {
      for (const endpoint of ['healthz', 'livez', 'readyz']) {
        const { code, text } = await client.get(`/${endpoint}?verbose`);
        expect([code, text.includes('[-]')]).toEqual([200, false]);
        expect(text).toContain('[+]poststarthook/start-kube-apiserver-identity-lease-controller ok');
      }
    }
    expect((await worker.get('/readyz/store-process')).code).toBe(200);
  });
}

describe('a server of two processes', () => {
  describe('in memory', () => servesAsOne(() => ['--storage-backend=memory']));
  describe('on its embedded store', () => servesAsOne(() => ['--storage-backend=embedded']));

  describeWithEtcd('on etcd', () => {
    let etcd: EtcdCluster;
    beforeAll(async () => {
      etcd = await EtcdCluster.start();
    });
    afterAll(() => etcd.stop());
    servesAsOne(() => [`--etcd-servers=${etcd.storeOptions.servers.join(',')}`]);
  });
});
