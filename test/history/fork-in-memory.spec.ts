import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KubeconfigClient } from '../../src/kubeconfig-client/kubeconfig-client.js';
import { openKubeconfigClient } from '../../src/kubeconfig-client/open-client.js';
import { runCommand } from '../harness/command-run.js';

const maps = '/api/v1/namespaces/default/configmaps';
const inMemory = ['--storage-backend', 'memory'];

let directory: string;
let original: Awaited<ReturnType<typeof runCommand>>;
let api: KubeconfigClient;
const run = (...words: string[]) => runCommand({ cwd: directory, words });
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-fork-in-memory-'));
  original = await run('serve', '--data-dir', 'data', '--secure-port', '0');
  api = await openKubeconfigClient({ file: join(directory, 'data/admin.kubeconfig') });
});
afterAll(async () => {
  api.close();
  await original.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Runs a fork, and its files while it serves. */
async function withFork(words: readonly string[], use: (copy: KubeconfigClient, stderr: string) => Promise<void>) {
  const fork = await run('fork', ...words);
  const [, file = ''] = /kubeconfig {2}(\S+)/.exec(fork.stdout) ?? [];
  expect(fork.stdout).toContain('(store: memory;');
  const copy = await openKubeconfigClient({ file });
  try {
    expect(existsSync(join(dirname(file), 'store'))).toBe(false);
    await use(copy, fork.stderr);
  } finally {
    copy.close();
    expect(await fork.stop()).toBe(0);
  }
  expect(existsSync(dirname(file))).toBe(false);
}

async function textsAt(client: KubeconfigClient, resourceVersion: string) {
  const { items } = await client.list(maps, { query: { resourceVersion, resourceVersionMatch: 'Exact' } });
  return items.map(({ metadata, data }) => [metadata.name, metadata.uid, metadata.resourceVersion, data]);
}

it('a fork of --data-dir has the objects with uids, resourceVersions and past states, and its own writes', async () => {
  const first = await api.create(maps, { metadata: { name: 'a' }, data: { v: '1' } });
  await api.create(maps, { metadata: { name: 'gone' } });
  const second = await api.patch(`${maps}/a`, { data: { v: '2' } });
  await api.delete(`${maps}/gone`);
  const versions = [first, second].map(({ metadata }) => metadata.resourceVersion!);
  const original = await Promise.all(versions.map((version) => textsAt(api, version)));
  await withFork(['--data-dir', 'data', ...inMemory], async (copy, stderr) => {
    expect(stderr).toMatch(/copied \S+data to memory in [\d.]+ s/);
    expect(await Promise.all(versions.map((version) => textsAt(copy, version)))).toEqual(original);
    expect(await copy.get(`${maps}/a`)).toEqual(await api.get(`${maps}/a`));
    // A watch from the first write on has what followed in the original, and then what the fork writes.
    const watch = copy.watch(maps, { query: { resourceVersion: versions[0]! } });
    await copy.patch(`${maps}/a`, { data: { v: 'fork' } });
    const seen: string[] = [];
    for await (const { type, object } of watch) {
      // The reconcilers of both servers write ConfigMaps, too.
      if (['a', 'gone'].includes(object.metadata.name!)) seen.push(`${type} ${object.metadata.name}`);
      if ((object['data'] as { readonly v?: string } | undefined)?.v === 'fork') break;
    }
    expect(seen).toEqual(['ADDED gone', 'MODIFIED a', 'DELETED gone', 'MODIFIED a']);
    expect((await api.get(`${maps}/a`))['data']).toEqual({ v: '2' });
  });
});

it('--at begins with a past state', async () => {
  const { metadata } = await api.create(maps, { metadata: { name: 'past' }, data: { v: '1' } });
  await api.patch(`${maps}/past`, { data: { v: '2' } });
  await withFork(
    ['--data-dir', 'data', '--storage-backend=memory', '--at', metadata.resourceVersion!],
    async (copy) => {
      expect((await copy.get(`${maps}/past`))['data']).toEqual({ v: '1' });
    },
  );
});

it('a fork of a running server has its objects, and refuses the past', async () => {
  const { metadata } = await api.create(maps, { metadata: { name: 'live' }, data: { in: 'both' } });
  await withFork(['--kubeconfig', 'data/admin.kubeconfig', ...inMemory], async (copy, stderr) => {
    expect(stderr).toMatch(/copied \d+ keys at resourceVersion \d+ to memory in [\d.]+ s/);
    expect(await copy.get(`${maps}/live`)).toEqual(await api.get(`${maps}/live`));
    await expect(textsAt(copy, metadata.resourceVersion!)).rejects.toMatchObject({ status: 410 });
    const { metadata: list } = await copy.list(maps);
    const query = { resourceVersion: list.resourceVersion!, fieldSelector: 'metadata.name=live' };
    const next = copy.watch(maps, { query }).next();
    await copy.delete(`${maps}/live`);
    expect((await next).value).toMatchObject({ type: 'DELETED', object: { data: { in: 'both' } } });
  });
});

it('flags that contradict a fork in memory are refused, and nothing is left behind', async () => {
  const before = await readdir(directory);
  const refused = async (...words: string[]) => {
    const { code, stderr } = await run('fork', '--data-dir', 'data', ...words);
    return [code, stderr.split('\n').at(-2)];
  };
  expect(await refused(...inMemory, '--to', 'kept')).toEqual([
    1,
    expect.stringMatching(/--to: a fork in memory leaves/),
  ]);
  expect(await refused(...inMemory, '--workers', '2')).toEqual([
    1,
    expect.stringMatching(/--workers: a fork in memory/),
  ]);
  for (const other of [['--storage-backend=etcd3'], ['--storage-backend', '__proto__'], ['--storage-backend=']]) {
    expect(await refused(...other)).toEqual([1, expect.stringMatching(/--storage-backend/)]);
  }
  expect(await refused(...inMemory, '--at', '99999999')).toEqual([1, expect.stringContaining('has not been reached')]);
  expect(await readdir(directory)).toEqual(before);
});
