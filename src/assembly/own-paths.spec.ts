import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { systemClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { ensurePki } from '../certificates/pki.js';
import { defaultConfig } from '../config/load-config.js';
import { tightenOwnPaths } from './own-paths.js';
import { EmbeddedStore } from '../storage/backends/embedded/embedded-store.js';

let root: string;
let umask: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'own-paths-'));
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
  rmSync(root, { recursive: true });
});

const secrets = ['', 'store', 'store/data.mdb', 'store/lock.mdb', 'pki', 'pki/.made-by-keelson'];
const keys = ['pki/ca.key', 'pki/apiserver.key', 'pki/admin.key', 'pki/sa.key', 'admin.kubeconfig'];
const publics = ['pki/ca.crt', 'pki/apiserver.crt', 'pki/admin.crt', 'pki/sa.pub'];

/** Generates all files of a first start, under a umask of 000. */
async function generate(directory: string): Promise<void> {
  const store = await EmbeddedStore.open({ directory: join(directory, 'store') });
  const pki = await ensurePki({ directory, clock: systemClock, logger: silentLogger });
  await pki.serviceAccountKey;
  await pki.saveAdminKubeconfig('https://127.0.0.1:1');
  await pki.close();
  expect((statSync(join(directory, 'store/owner')).mode & 0o777).toString(8)).toBe('600');
  await store.close();
}

async function linesOf(directory: string): Promise<{ message: string; paths: string[] }[]> {
  const lines: { message: string; paths: string[] }[] = [];
  const warn = (message: string, fields?: Record<string, unknown>) =>
    void lines.push({ message, paths: (fields!['paths'] as string[]).map((path) => relative(directory, path)).sort() });
  const config = defaultConfig({ storage: { dataDirectory: directory } });
  await tightenOwnPaths(config, { ...silentLogger, warn });
  return lines;
}

const modes = (directory: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)]));
const all = (names: readonly string[], mode: (name: string) => string) =>
  Object.fromEntries(names.map((name) => [name, mode(name)]));
const privateMode = (name: string) => (['', 'store', 'pki'].includes(name) ? '700' : '600');

test('generated secret files are accessible to their owner only, under a umask of 000', async () => {
  const directory = join(root, 'data');
  await generate(directory);
  expect(modes(directory, [...secrets, ...keys])).toEqual(all([...secrets, ...keys], privateMode));
  expect(modes(directory, publics)).toEqual(all(publics, () => '644'));
  expect(await linesOf(directory)).toEqual([]);
});

test('permissions of other users are removed once, with one log line', async () => {
  const directory = join(root, 'data');
  await generate(directory);
  for (const name of [...secrets, ...keys]) chmodSync(join(directory, name), name.includes('.') ? 0o644 : 0o755);
  const message = 'removed the permissions of other users from files of this server';
  expect(await linesOf(directory)).toEqual([{ message, paths: [...secrets, ...keys].sort() }]);
  expect(modes(directory, [...secrets, ...keys])).toEqual(all([...secrets, ...keys], privateMode));
  expect(await linesOf(directory)).toEqual([]);
});

test('files of the user, and directories that contain any, keep their modes', async () => {
  await generate(root);
  mkdirSync(join(root, 'photos'));
  chmodSync(root, 0o755);
  writeFileSync(join(root, 'pki/ca.key'), 'of the user');
  writeFileSync(join(root, 'admin.kubeconfig'), 'of the user');
  for (const name of ['pki', 'pki/ca.key', 'admin.kubeconfig']) chmodSync(join(root, name), 0o755);
  expect(await linesOf(root)).toEqual([]);
  expect(modes(root, ['', 'photos', 'pki', 'pki/ca.key', 'admin.kubeconfig'])).toMatchObject({
    '': '755',
    pki: '755',
    'pki/ca.key': '755',
    'admin.kubeconfig': '755',
  });
});

test('a data directory that does not exist or is a file is skipped', async () => {
  writeFileSync(join(root, 'file'), '');
  expect(await linesOf(join(root, 'missing'))).toEqual([]);
  expect(await linesOf(join(root, 'file'))).toEqual([]);
});
