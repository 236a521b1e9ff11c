import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { EncryptionFile, keyed } from '../harness/encryption.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const secrets = '/api/v1/namespaces/default/secrets';
const prefix = '/registry/secrets/default/';
const secretsMade = 60;
const writersCount = 4;

/** Counts the stored Secrets by provider and key. */
async function stored(store: KvStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { value } of (await store.range(prefix)).items) {
    const by = /^k8s:enc:([a-z]+):v1:([^:]+):/.exec(value.toString('latin1'));
    const name = by ? `${by[1]} ${by[2]}` : 'plain';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Replaces each Secret by itself, as `kubectl get -o json | kubectl replace -f -` does; conflicts are tried again. */
async function rewriteAll(admin: HttpClient): Promise<void> {
  const { body } = await admin.get(secrets);
  for (let pending = body.items as KubeObject[]; pending.length > 0;) {
    const conflicts: KubeObject[] = [];
    for (const { metadata } of pending) {
      const path = `${secrets}/${metadata.name}`;
      const { code } = await admin.put(path, (await admin.get(path)).body);
      if (code === 409) conflicts.push({ metadata } as KubeObject);
      else expect(code).toBe(200);
    }
    pending = conflicts;
  }
}

function rotation(name: string, openStore: () => Promise<KvStore>): void {
  it(`on ${name}, keys are changed under load and over a restart without losing a write or an event`, async () => {
    const file = new EncryptionFile();
    let store = await openStore();
    let server: TestServer | undefined;
    let admin!: HttpClient;
    const start = async () => {
      server = await startTestServer(memory, { config: { storage: file.config(true) }, store, reconciles: false });
      admin = server.client(server.keelson.client);
    };
    try {
      file.writeForSecrets(keyed('aescbc', 'k1'));
      await start();
      for (let n = 0; n < secretsMade; n++) {
        const made = await admin.post(secrets, { metadata: { name: `s${n}` }, data: { n: '' } });
        expect(made.code).toBe(201);
      }
      const { body: list } = await admin.get(secrets);
      const watch = await admin.watch(`${secrets}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
      const seen = new Map<string, KubeObject>(list.items.map((one: KubeObject) => [one.metadata.name, one]));
      const watching = (async () => {
        for await (const { type, object } of watch) if (type === 'MODIFIED') seen.set(object.metadata.name, object);
      })().catch(() => undefined);

      // Each writer counts up its own Secrets.
      const written = new Map<string, number>();
      let isWriting = true;
      const write = async (writer: number) => {
        for (let count = 1; isWriting; count++) {
          const secret = `s${writer + writersCount * (count % 5)}`;
          const n = Buffer.from(String(count)).toString('base64');
          const { code } = await admin.patch(`${secrets}/${secret}`, { data: { n } });
          expect(code).toBe(200);
          written.set(secret, count);
        }
      };
      const writing = Promise.all(Array.from({ length: writersCount }, (_, writer) => write(writer)));
      file.writeForSecrets(keyed('aesgcm', 'k2'), keyed('aescbc', 'k1'));
      await eventually('a write uses the new key', async () => (await stored(store))['aesgcm k2'] !== undefined);
      await rewriteAll(admin);
      expect(await stored(store)).toEqual({ 'aesgcm k2': secretsMade });
      isWriting = false;
      await writing;

      const latest = (await admin.get(secrets)).body.items as (KubeObject & { data: { n: string } })[];
      await eventually('the watch has shown every write', () =>
        latest.every(({ metadata }) => seen.get(metadata.name!)?.metadata.resourceVersion === metadata.resourceVersion),
      );
      for (const secret of latest) expect(seen.get(secret.metadata.name!)).toMatchObject(secret);
      for (const { metadata, data } of latest) {
        expect(Buffer.from(data.n, 'base64').toString()).toBe(String(written.get(metadata.name!) ?? ''));
      }
      watch.close();
      await watching;

      // The old key is gone, a third comes first, and the server is started again.
      file.writeForSecrets(keyed('secretbox', 'k1'), keyed('aesgcm', 'k2'));
      await server!.stop();
      await store.close();
      store = await openStore();
      await start();
      const { body: restarted } = await admin.get(secrets);
      expect(restarted.items).toEqual(latest);
      await rewriteAll(admin);
      expect(await stored(store)).toEqual({ 'secretbox k1': secretsMade });
      const before = (await store.revision()) as number;
      await rewriteAll(admin);
      expect(await store.revision()).toBe(before);
    } finally {
      await server?.stop();
      await store.close();
      file.remove();
    }
  });
}

it('a repeated apply that changes nothing stores the object with the new key', async () => {
  const file = new EncryptionFile();
  const store = new MemoryStore();
  file.writeForSecrets(keyed('aescbc', 'k1'));
  const server = await startTestServer(memory, { config: { storage: file.config(true) }, store, reconciles: false });
  try {
    const admin = server.client(server.keelson.client);
    const config = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { x: '' } };
    const apply = async () => {
      const { code } = await admin.patch(`${secrets}/a?fieldManager=one`, config, 'application/apply-patch+yaml');
      return code;
    };
    for (const code of [201, 200, 200, 200]) expect(await apply()).toBe(code);
    expect(await stored(store)).toEqual({ 'aescbc k1': 1 });
    file.writeForSecrets(keyed('aesgcm', 'k2'), keyed('aescbc', 'k1'));
    await eventually('it is stored with the new key', async () => {
      expect(await apply()).toBe(200);
      return (await stored(store))['aesgcm k2'] === 1;
    });
    const before = await store.revision();
    for (let time = 0; time < 3; time++) expect(await apply()).toBe(200);
    expect(await store.revision()).toBe(before);
  } finally {
    await server.stop();
    await store.close();
    file.remove();
  }
});

describe('rotation', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-rotation-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  rotation('the embedded store', () => EmbeddedStore.open({ directory }));
});

describeWithEtcd('rotation on etcd', () => {
  let cluster: EtcdCluster;
  beforeAll(async () => {
    cluster = await EtcdCluster.start();
  });
  afterAll(() => cluster.stop());

  rotation('etcd', () => cluster.openStore());
});
