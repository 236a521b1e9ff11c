import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openKubeconfigClient } from '../../src/kubeconfig-client/open-client.js';
import type { KubeconfigClient } from '../../src/kubeconfig-client/kubeconfig-client.js';
import { runCommand } from '../harness/command-run.js';

const maps = '/api/v1/namespaces/default/configmaps';

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly data?: Record<string, string>;
}

describe('keelson fork', () => {
  let directory: string;
  let original: Awaited<ReturnType<typeof runCommand>>;
  let api: KubeconfigClient;
  const run = (...words: string[]) => runCommand({ cwd: directory, words });
  const dataOf = async (client: KubeconfigClient, name: string) =>
    (await client.get<ConfigMap>(`${maps}/${name}`)).data;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-fork-'));
    original = await run('serve', '--data-dir', 'data', '--secure-port', '0');
    expect(original.url).not.toBe('');
    api = await openKubeconfigClient({ file: join(directory, 'data/admin.kubeconfig') });
  });
  afterAll(async () => {
    api.close();
    await original.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('a fork of a running server has its objects with their uids, and its own writes', async () => {
    const created = await api.create<ConfigMap>(maps, { metadata: { name: 'a' }, data: { in: 'both' } });
    const fork = await run('fork', '--data-dir', 'data');
    const [, file = ''] = /kubeconfig {2}(\S+)/.exec(fork.stdout) ?? [];
    const copy = await openKubeconfigClient({ file });
    try {
      expect(fork.url).not.toBe(original.url);
      expect((await copy.get<ConfigMap>(`${maps}/a`)).metadata.uid).toBe(created.metadata.uid);
      await copy.patch(`${maps}/a`, { data: { in: 'fork' } });
      await api.create(maps, { metadata: { name: 'later' } });
      expect([await dataOf(copy, 'a'), await dataOf(api, 'a')]).toEqual([{ in: 'fork' }, { in: 'both' }]);
      await expect(copy.get(`${maps}/later`)).rejects.toMatchObject({ status: 404 });
    } finally {
      copy.close();
      expect(await fork.stop()).toBe(0);
    }
    expect(existsSync(dirname(file))).toBe(false);
  });

  it('a fork that is ended while it starts leaves nothing behind', async () => {
    const isCopy = (name: string) => name.startsWith('data.fork-');
    const words = ['fork', '--data-dir', 'data'];
    const child = spawn(join(__dirname, '../../bin/keelson'), words, { cwd: directory, stdio: 'ignore' });
    const ended = once(child, 'exit');
    while (!(await readdir(directory)).some(isCopy)) await new Promise((resolve) => setTimeout(resolve, 2));
    child.kill('SIGTERM');
    await ended;
    expect((await readdir(directory)).filter(isCopy)).toEqual([]);
  });

  it('a fork with --at begins with that state, and --to keeps it', async () => {
    const { metadata } = await api.create<ConfigMap>(maps, { metadata: { name: 'b' }, data: { v: '1' } });
    await api.patch(`${maps}/b`, { data: { v: '2' } });
    await api.create(maps, { metadata: { name: 'c' } });
    await api.delete(`${maps}/a`);
    const words = ['fork', '--data-dir', 'data', '--to', 'kept'];
    const fork = await run(...words, '--at', metadata.resourceVersion);
    const copy = await openKubeconfigClient({ file: join(directory, 'kept/admin.kubeconfig') });
    try {
      expect([await dataOf(copy, 'b'), await dataOf(copy, 'a')]).toEqual([{ v: '1' }, { in: 'both' }]);
      await expect(copy.get(`${maps}/c`)).rejects.toMatchObject({ status: 404 });
    } finally {
      copy.close();
      await fork.stop();
    }
    const again = await run(...words);
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringMatching(/--to: \S+ exists already; name a new directory/),
    ]);
    expect(existsSync(join(directory, 'kept/store/data.mdb'))).toBe(true);
  });

  it('a fork leaves the audit log of the original alone', async () => {
    const rules = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n';
    await writeFile(join(directory, 'policy.yaml'), rules);
    await writeFile(join(directory, 'audit.log'), '');
    await writeFile(join(directory, 'server.yaml'), 'audit-policy-file: policy.yaml\naudit-log-path: audit.log\n');
    for (const [words, path] of [
      [[], 'audit.log'],
      [['--audit-log-path', 'own.log'], 'own.log'],
    ] as const) {
      const fork = await run('fork', '--data-dir', 'data', '--config', 'server.yaml', ...words);
      const [, file = ''] = /kubeconfig {2}(\S+)/.exec(fork.stdout) ?? [];
      const copy = await openKubeconfigClient({ file });
      await copy.get(maps);
      copy.close();
      const isTold = fork.stderr.includes('the audit log of the original is left to it; give --audit-log-path');
      expect(isTold).toBe(path === 'audit.log');
      await fork.stop();
    }
    const lengths = await Promise.all(
      ['audit.log', 'own.log'].map(async (name) => (await readFile(join(directory, name))).length > 0),
    );
    expect(lengths).toEqual([false, true]);
  });

  it('a directory without a usable store is refused, and nothing is left behind', async () => {
    await mkdir(join(directory, 'text/store'), { recursive: true });
    await writeFile(join(directory, 'text/store/data.mdb'), 'no database '.repeat(1_000));
    await mkdir(join(directory, 'empty'));
    const before = await readdir(directory);
    const refused = async (...words: string[]) => {
      const { code, stderr } = await run('fork', ...words);
      return [code, stderr.split('\n').at(-2)];
    };
    expect(await refused('--data-dir', 'empty')).toEqual([1, expect.stringContaining('has no embedded store')]);
    expect(await refused('--data-dir', 'text')).toEqual([
      1,
      expect.stringContaining('is not a data file of this server'),
    ]);
    expect(await refused('--data-dir', 'data', '--at', '99999999')).toEqual([
      1,
      expect.stringContaining('has not been reached'),
    ]);
    expect(await refused('--data-dir', 'data', '--at', '-1')).toEqual([
      1,
      expect.stringContaining('is not a resourceVersion'),
    ]);
    const etcd = ['--storage-backend=etcd3', '--etcd-servers=http://127.0.0.1:1'];
    expect(await refused('--data-dir', 'data', ...etcd)).toEqual([
      1,
      expect.stringContaining('a fork has a store that is embedded, or in memory; give embedded or memory'),
    ]);
    expect(await refused('--data-dir', 'data', '--nope')).toEqual([1, expect.stringContaining('--nope: unknown flag')]);
    expect(await readdir(directory)).toEqual(before);
    expect(await readFile(join(directory, 'text/store/data.mdb'), 'utf8')).toContain('no database');
  });
});
