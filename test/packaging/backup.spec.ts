import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { packagingPath, runTool } from '../harness/packaging.js';
import { ServerProcess } from '../harness/server-process.js';

const collection = '/api/v1/namespaces/default/configmaps';
const embedded = ['--storage-backend=embedded'];

let folder: string;
const started: ServerProcess[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'keelson-backup-'))));
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(directory: string): Promise<{ server: ServerProcess; admin: HttpClient }> {
  const server = await ServerProcess.start(join(folder, directory), embedded);
  started.push(server);
  const { url, ca, client } = server.access;
  return { server, admin: new HttpClient({ url, ca, ...client }) };
}

async function namesIn(admin: HttpClient): Promise<string[]> {
  const { body } = await admin.get(collection);
  return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
}

const backup = (target: string) =>
  runTool(process.execPath, [packagingPath('backup.mjs'), join(folder, 'data'), join(folder, target)]);

test('a copy of a running server has every write that was acknowledged before, and serves beside it', async () => {
  const { admin } = await start('data');
  const acknowledged: string[] = [];
  let isWriting = true;
  const writer = async (lane: number) => {
    for (let n = 0; isWriting; n++) {
      const name = `w-${lane}-${n}`;
      const { code } = await admin.post(collection, { metadata: { name }, data: { text: 'x'.repeat(2_000) } });
      if (code === 201) acknowledged.push(name);
    }
  };
  const writers = [1, 2, 3, 4].map(writer);
  await eventually('some writes', () => acknowledged.length > 200);
  const before = [...acknowledged];
  await backup('first');
  await eventually('more writes', () => acknowledged.length > before.length + 50);
  await backup('second');
  isWriting = false;
  await Promise.all(writers);

  const checked = await runTool(process.execPath, [
    join(packageRoot, 'bin/keelson'),
    'check',
    `--data-dir=${join(folder, 'first')}`,
  ]);
  expect(checked).toMatch(/All \d+ objects can be read and are valid/);
  const restored = await start('first');
  const names = new Set(await namesIn(restored.admin));
  expect(before.filter((name) => !names.has(name))).toEqual([]);
  // The same CA and keys: credentials of the original are accepted.
  const { url } = restored.server.access;
  const { ca, client } = started[0]!.access;
  const other = new HttpClient({ url, ca, ...client });
  expect((await other.post(collection, { metadata: { name: 'after-restore' } })).code).toBe(201);
  expect((await admin.get(`${collection}/after-restore`)).code).toBe(404);
  for (const one of [admin, other, restored.admin]) one.close();
});

test('a plain copy of the directory of a stopped server serves the same objects', async () => {
  const { server, admin } = await start('data');
  expect((await admin.post(collection, { metadata: { name: 'kept' } })).code).toBe(201);
  admin.close();
  expect(await server.stop()).toBe(0);
  cpSync(join(folder, 'data'), join(folder, 'copy'), { recursive: true });
  const restored = await start('copy');
  expect(await namesIn(restored.admin)).toContain('kept');
  restored.admin.close();
});

test('a copy is readable by its owner only, and an existing target is refused', async () => {
  const { admin } = await start('data');
  admin.close();
  await backup('copy');
  const paths = readdirSync(join(folder, 'copy'), { recursive: true, encoding: 'utf8' });
  expect(paths).toEqual(expect.arrayContaining(['pki/ca.key', 'pki/sa.key', 'store/data.mdb']));
  const open = paths.filter((path) => (statSync(join(folder, 'copy', path)).mode & 0o077) !== 0);
  expect(open.filter((path) => !/\.(crt|pub)$/.test(path))).toEqual([]);
  await expect(backup('copy')).rejects.toThrow(/exists already; name a new directory/);
  const missing = [packagingPath('backup.mjs'), join(folder, 'absent'), join(folder, 'target')];
  await expect(runTool(process.execPath, missing)).rejects.toThrow(/has no embedded store/);
  expect(existsSync(join(folder, 'target'))).toBe(false);
});
