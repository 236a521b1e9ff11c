import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { encryptionOf, EncryptionFile, identity, keyed } from '../harness/encryption.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import { KmsPluginProcess } from '../harness/kms-plugin.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Values in etcd are decrypted and encrypted by the code of kube-apiserver, with the same configuration file. */
const secrets = '/api/v1/namespaces/default/secrets';
const source = join(__dirname, 'go-encryption');
const buildMsMax = 900_000;

interface Answer {
  /** In base64. */
  readonly value: string;
  readonly stale: boolean;
  readonly error?: string;
}

/** The program in go-encryption, with one configuration. */
class GoTransformers {
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(program: string, configFile: string) {
    this.child = spawn(program, [configFile], { stdio: ['pipe', 'pipe', 'inherit'] });
    killedAtExit(this.child);
    this.lines = createInterface(this.child.stdout!)[Symbol.asyncIterator]();
  }

  async run(operation: 'encrypt' | 'decrypt', key: string, value: Buffer): Promise<{ value: Buffer; stale: boolean }> {
    const request = { operation, group: '', resource: 'secrets', key, value: value.toString('base64') };
    this.child.stdin!.write(`${JSON.stringify(request)}\n`);
    const line: unknown = (await this.lines.next()).value;
    if (typeof line !== 'string') throw new Error('the Go program has ended');
    const answer = JSON.parse(line) as Answer;
    if (answer.error !== undefined) throw new Error(answer.error);
    return { value: Buffer.from(answer.value, 'base64'), stale: answer.stale };
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.stdin!.end();
    await exited;
  }
}

function build(directory: string): string | undefined {
  const program = join(directory, 'go-encryption');
  const { status, error } = spawnSync('nice', ['go', 'build', '-p', '2', '-o', program, '.'], {
    cwd: source,
    stdio: ['ignore', 'ignore', 'inherit'],
    // A toolchain that is newer than the one on PATH is not downloaded.
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  });
  return status === 0 && !error ? program : undefined;
}

const hasGo = spawnSync('go', ['version']).status === 0;

describeWithEtcd("values of kube-apiserver's encryption", () => {
  if (!hasGo) {
    process.stderr.write("skipped: encryption beside kube-apiserver's code: go not found\n");
    it.skip('are exchanged with the code of kube-apiserver (go not found)', () => undefined);
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), 'keelson-go-encryption-'));
  const plugin = new KmsPluginProcess();
  let program: string | undefined;
  let etcd: EtcdCluster;
  let store: KvStore;
  let file: EncryptionFile;
  let server: TestServer | undefined;
  let go: GoTransformers | undefined;

  beforeAll(async () => {
    program = build(directory);
    if (program === undefined) {
      process.stderr.write("skipped: encryption beside kube-apiserver's code: its Go modules could not be built\n");
      return;
    }
    [etcd] = [await EtcdCluster.start(), await plugin.start()];
    store = await etcd.openStore();
  }, buildMsMax);
  beforeEach(() => void (file = new EncryptionFile()));
  afterEach(async () => {
    await go?.stop();
    await server?.stop();
    [go, server] = [undefined, undefined];
    file.remove();
  });
  afterAll(async () => {
    if (program !== undefined) {
      await store.close();
      await etcd.stop();
    }
    await plugin.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each<[string, readonly object[], string]>([
    ['aescbc', [keyed('aescbc', 'k1', 'k2')], 'aescbc:v1:k1'],
    ['aesgcm', [keyed('aesgcm', 'k2', 'k16')], 'aesgcm:v1:k2'],
    ['aesgcm with a short key', [keyed('aesgcm', 'k16')], 'aesgcm:v1:k16'],
    ['secretbox', [keyed('secretbox', 'k1')], 'secretbox:v1:k1'],
    ['a KMS plug-in', [plugin.provider(30_000)], 'kms:v2:plugin'],
  ])('are exchanged with the code of kube-apiserver: %s', async (_name, providers, prefix) => {
    if (program === undefined) return;
    file.write({ resources: ['secrets'], providers: [...providers, identity] });
    const root = `/${prefix.replaceAll(':', '-')}`;
    const own = { servers: etcd.storeOptions.servers, prefix: root };
    const config = { storage: { ...file.config(), mediaType: 'application/json', etcd: own } };
    server = await startTestServer({ store: 'etcd', naming: 'kubernetes' }, { etcd, config, reconciles: false });
    go = new GoTransformers(program, file.path);
    const { admin } = server;
    const data = { password: Buffer.from('a password').toString('base64') };
    expect((await admin.post(secrets, { metadata: { name: 'ours' }, data })).code).toBe(201);

    const key = `${root}/secrets/default/ours`;
    expect(await encryptionOf(store, key)).toBe(prefix);
    const stored = (await store.get(key)).item!.value;
    const decrypted = await go.run('decrypt', key, stored);
    const object = JSON.parse(decrypted.value.toString()) as { metadata: object; data: object };
    expect([decrypted.stale, object]).toMatchObject([false, { kind: 'Secret', metadata: { name: 'ours' }, data }]);
    // These authenticate the key, so that a value cannot be moved to another one.
    if (!prefix.startsWith('aescbc') && !prefix.startsWith('secretbox'))
      await expect(go.run('decrypt', `${key}-moved`, stored)).rejects.toThrow(/fail|authentic/i);

    const theirs = { ...object, metadata: { ...object.metadata, name: 'theirs', uid: 'a-uid' } };
    const theirKey = `${root}/secrets/default/theirs`;
    const encrypted = await go.run('encrypt', theirKey, Buffer.from(JSON.stringify(theirs)));
    await store.txn([], [{ type: 'put', key: theirKey, value: encrypted.value }]);
    await eventually('the Secret is served', async () => (await admin.get(`${secrets}/theirs`)).code === 200);
    expect((await admin.get(`${secrets}/theirs`)).body).toMatchObject({ metadata: { uid: 'a-uid' }, data });
  });

  it('are stale for the code of kube-apiserver if another key comes first', async () => {
    if (program === undefined) return;
    const key = '/registry/secrets/default/rotated';
    file.writeForSecrets(keyed('aesgcm', 'k1'), identity);
    go = new GoTransformers(program, file.path);
    const { value } = await go.run('encrypt', key, Buffer.from('{}'));
    await go.stop();
    file.writeForSecrets(keyed('aesgcm', 'k2', 'k1'), identity);
    go = new GoTransformers(program, file.path);
    expect(await go.run('decrypt', key, value)).toEqual({ value: Buffer.from('{}'), stale: true });
  });
});
