import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority, makeKey, makeServingPair, signerOf } from '../../src/certificates/authority.js';
import { servingNames } from '../../src/certificates/serving-names.js';
import { runCommand, type CommandOptions } from '../harness/command-run.js';

// The built command as new users start it: with all usual combinations of flags, in empty folders.

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'first-start-'));
  chmodSync(root, 0o755);
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const base = ['serve', '--secure-port=0'];

async function givenPair(): Promise<{ ca: string; words: string[] }> {
  const key = makeKey();
  const ca = await makeAuthority(key, Date.now());
  const pair = await makeServingPair(signerOf(ca, key), servingNames({}), Date.now());
  writeFileSync(join(root, 'given.crt'), pair.certificate);
  writeFileSync(join(root, 'given.key'), pair.key);
  return { ca, words: ['--tls-cert-file=given.crt', '--tls-private-key-file=given.key'] };
}

interface Row {
  readonly name: string;
  readonly words: readonly string[];
  /** Paths that must exist afterwards. */
  readonly makes: readonly string[];
  readonly options?: Partial<CommandOptions>;
  readonly prepare?: () => Promise<{ ca?: string; words?: string[] }> | void;
}

const ours = ['.keelson/pki/ca.crt', '.keelson/admin.kubeconfig'];
const rows: Row[] = [
  { name: 'no flag in an empty folder', words: [], makes: ['.keelson/store/data.mdb', ...ours] },
  {
    name: 'a nested --data-dir',
    words: ['--data-dir=a/b/c'],
    makes: ['a/b/c/store/data.mdb', 'a/b/c/admin.kubeconfig'],
  },
  { name: '--cert-dir', words: ['--cert-dir=certs'], makes: ['certs/ca.crt', '.keelson/admin.kubeconfig'] },
  {
    name: '--cert-dir with the memory store',
    words: ['--cert-dir=x/certs', '--storage-backend=memory'],
    makes: ['x/certs/ca.crt', ours[1]!],
  },
  { name: '--storage-backend=memory', words: ['--storage-backend=memory'], makes: ours },
  {
    name: '--kubeconfig-out in a new folder',
    words: ['--kubeconfig-out=k/admin'],
    makes: ['k/admin', '.keelson/pki/ca.crt'],
  },
  { name: 'no reconcilers', words: ['--controllers=-*'], makes: ours },
  { name: 'a loopback address to advertise', words: ['--advertise-address=127.0.0.1'], makes: ours },
  { name: 'no HOME and an empty environment', words: [], makes: ours, options: { env: {} } },
  { name: 'a given serving certificate', words: [], makes: ['.keelson/pki/ca.crt'], prepare: givenPair },
  {
    name: 'an existing data directory',
    words: ['--data-dir=data'],
    makes: ['data/store/data.mdb'],
    prepare: () => mkdirSync(join(root, 'data')),
  },
  {
    name: 'a folder without write permission',
    words: [`--data-dir=DATA`],
    makes: [],
    ...(isRoot && { options: { uid: nobody } }),
    prepare: () => {
      mkdirSync(join(root, 'elsewhere'));
      chmodSync(join(root, 'elsewhere'), 0o777);
      if (!isRoot) chmodSync(root, 0o555);
    },
  },
];

test.each(rows)('serves with $name', async ({ words, makes, options = {}, prepare }) => {
  const { ca, words: further = [] } = (await prepare?.()) ?? {};
  const all = [...base, ...words.map((word) => word.replace('DATA', join(root, 'elsewhere/data'))), ...further];
  const run = await runCommand({ cwd: root, words: all, ...options });
  expect({ code: run.code, stderr: run.code === undefined ? '' : run.stderr }).toEqual({ code: undefined, stderr: '' });
  try {
    expect(await readiness(run.url, ca)).toBe(200);
    expect(makes.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  } finally {
    expect(await run.stop()).toBe(0);
  }
});

test('generated files under a umask of 000 are readable by their owner only, except public certificates', async () => {
  const run = await runCommand({
    cwd: root,
    words: [...base, '--cert-dir=c', '--kubeconfig-out=k/admin'],
    umask: '000',
  });
  expect(run.code).toBeUndefined();
  const open: string[] = [];
  const walk = (path: string) => {
    const { mode } = statSync(join(root, path));
    if ((mode & 0o077) !== 0 && !/\.(crt|pub)$/.test(path)) open.push(`${path} ${(mode & 0o777).toString(8)}`);
    if ((mode & 0o022) !== 0) open.push(`${path} is writable by others`);
    if (statSync(join(root, path)).isDirectory())
      readdirSync(join(root, path)).forEach((name) => walk(join(path, name)));
  };
  for (const name of readdirSync(root)) walk(name);
  await run.stop();
  expect(readdirSync(root).sort()).toEqual(['.keelson', 'c', 'k']);
  expect(open).toEqual([]);
});

test('a server that advertised a loopback address does not affect later ones on the same store', async () => {
  const words = [...base, '--data-dir=data'];
  const misled = await runCommand({ cwd: root, words: [...words, '--advertise-address=127.0.0.1'] });
  expect(misled.code).toBeUndefined();
  await misled.stop();
  const next = await runCommand({ cwd: root, words });
  expect([next.code, await readiness(next.url)]).toEqual([undefined, 200]);
  await next.stop();
});

function readiness(url: string, ca?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, rejectUnauthorized: ca !== undefined, ...(ca !== undefined && { ca }) };
    request(`${url}/readyz`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
