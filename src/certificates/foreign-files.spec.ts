import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { keyPem, makeAuthority, makeKey, signerOf } from './authority.js';
import { issueCertificate } from './issue-certificate.js';
import { ensurePki, type PkiOptions, type StoredPki } from './pki.js';

// No file that this server did not make is ever written over or removed, whatever is wrong with it.

const dayMs = 86_400_000;
const startMs = new ManualClock().now();

let directory: string;
let pkiDirectory: string;
const opened: StoredPki[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'foreign-'));
  pkiDirectory = join(directory, 'pki');
});
afterEach(async () => {
  for (const pki of opened.splice(0)) {
    pki.close();
    await pki.serviceAccountKey.catch(() => undefined);
  }
  await rm(directory, { recursive: true });
});

async function open(options: Partial<PkiOptions> = {}): Promise<StoredPki> {
  const pki = await ensurePki({ directory, clock: new ManualClock(), logger: silentLogger, ...options });
  await pki.serviceAccountKey;
  opened.push(pki);
  return pki;
}

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

interface Wish {
  readonly fromDay?: number;
  readonly toDay?: number;
  readonly usage?: 'server' | 'client';
  readonly organizations?: string[];
}

async function foreignPair({
  fromDay = -1,
  toDay = 7,
  usage = 'server',
  organizations = ['o'],
}: Wish = {}): Promise<Pair> {
  const [authorityKey, key] = [makeKey(), makeKey()];
  const signer = signerOf(await makeAuthority(authorityKey, startMs), authorityKey);
  const lifetime = { notBeforeMs: startMs + fromDay * dayMs, notAfterMs: startMs + toDay * dayMs };
  const names = usage === 'server' ? { dns: ['localhost'] } : { organizations };
  const request = { commonName: 'someone', usage, key, signer, ...names, ...lifetime } as const;
  return { certificate: await issueCertificate(request), key: keyPem(key) };
}

async function put(files: Record<string, string>): Promise<void> {
  await mkdir(pkiDirectory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(pkiDirectory, name), text);
}

const contents = async (names: readonly string[]) =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(pkiDirectory, name), 'utf8')] as const)),
  );

const serving = ({ certificate, key }: Pair) => ({ 'apiserver.crt': certificate, 'apiserver.key': key });

test.each<{ name: string; wish?: Wish; after?: boolean }>([
  { name: 'there before the first start' },
  { name: 'put there instead of ours', after: true },
  { name: 'of a week, less than a month before its end', wish: { toDay: 7 } },
  { name: 'that is not valid before tomorrow', wish: { fromDay: 1 } },
])('a serving pair $name is used as it is', async ({ wish, after }) => {
  if (after) (await open()).close();
  const pair = await foreignPair(wish);
  await put(serving(pair));
  const pki = await open({ hostNames: ['a.name.that.it.lacks'] });
  expect(pki.serving!.current()).toEqual(pair);
  await pki.refresh();
  expect(await contents(Object.keys(serving(pair)))).toEqual(serving(pair));
});

test.each<{ name: string; files: () => Promise<Record<string, string>>; message: RegExp }>([
  {
    name: 'an expired serving pair',
    files: async () => serving(await foreignPair({ fromDay: -9, toDay: -1 })),
    message:
      /apiserver\.crt has expired at .* replace it, or remove both .*apiserver\.crt and .*apiserver\.key to have new/,
  },
  {
    name: 'a serving certificate with the key of another',
    files: async () => serving({ ...(await foreignPair()), key: keyPem(makeKey()) }),
    message: /the key in .*apiserver\.key does not belong to the first certificate in .*apiserver\.crt\. Restore it/,
  },
  {
    name: 'a serving certificate without a key',
    files: async () => ({ 'apiserver.crt': (await foreignPair()).certificate }),
    message:
      /apiserver\.crt was not made by this server and is there without .*apiserver\.key: add that file, or remove/,
  },
  {
    name: 'a serving key without a certificate',
    files: async () => ({ 'apiserver.key': keyPem(makeKey()) }),
    message: /apiserver\.key was not made by this server and is there without .*apiserver\.crt: add/,
  },
  {
    name: 'an empty serving pair',
    files: async () => ({ 'apiserver.crt': '', 'apiserver.key': '' }),
    message: /apiserver\.crt holds no PEM certificate/,
  },
  {
    name: 'an administrator of another authority',
    files: async () => {
      const { certificate, key } = await foreignPair({ usage: 'client' });
      return { 'admin.crt': certificate, 'admin.key': key };
    },
    message: /admin\.crt cannot be used, .*ca\.crt has not signed it: restore it from a backup, or remove both/,
  },
  {
    name: 'an expired authority',
    files: async () => {
      const key = makeKey();
      return { 'ca.crt': await makeAuthority(key, startMs - 3700 * dayMs), 'ca.key': keyPem(key) };
    },
    message: /ca\.crt has expired at .*: replace it/,
  },
])('$name stops the start and stays as it is', async ({ files, message }) => {
  const given = await files();
  await put(given);
  await expect(open()).rejects.toThrow(message);
  expect(await contents(Object.keys(given))).toEqual(given);
});

test('an authority of the user that ends soon is not renewed', async () => {
  const key = makeKey();
  const given = { 'ca.crt': await makeAuthority(key, startMs - 3640 * dayMs), 'ca.key': keyPem(key) };
  await put(given);
  await open();
  expect(await contents(['ca.crt', 'ca.key'])).toEqual(given);
});

test('a public key of the user in another form stays', async () => {
  const pki = await open();
  const inOtherForm = (await pki.serviceAccountKey).publicKey.replaceAll('\n', '\r\n');
  await put({ 'sa.pub': inOtherForm });
  await open();
  expect(await contents(['sa.pub'])).toEqual({ 'sa.pub': inOtherForm });
});

test('a serving pair of the user that is replaced while the server runs is followed', async () => {
  await put(serving(await foreignPair()));
  const clock = new ManualClock();
  const pki = await open({ clock });
  const next = await foreignPair();
  const replaced = new Promise((resolve) => pki.serving!.onChange(resolve));
  await put(serving(next));
  clock.advance(5_000);
  expect(await replaced).toEqual(next);
});

test('with a given serving pair none is looked for or made', async () => {
  await put({ 'apiserver.crt': 'broken' });
  const pki = await open({ isServingPairGiven: true });
  expect(pki.serving).toBeUndefined();
  expect(await readdir(pkiDirectory)).not.toContain('apiserver.key');
});

test.each<{ name: string; text: string; isKept: boolean }>([
  { name: 'of other clusters', text: 'apiVersion: v1\nkind: Config\nclusters:\n- name: prod\n', isKept: true },
  {
    name: 'that kubectl has added a cluster to',
    text: 'apiVersion: v1\nclusters:\n- name: keelson\n- name: p\n',
    isKept: true,
  },
  { name: 'that is no kubeconfig', text: 'notes', isKept: true },
  { name: 'that is empty', text: '', isKept: false },
])('a kubeconfig $name', async ({ text, isKept }) => {
  const kubeconfigFile = join(directory, 'deep/config');
  await mkdir(join(directory, 'deep'));
  await writeFile(kubeconfigFile, text);
  const saving = (await open({ kubeconfigFile })).saveAdminKubeconfig('https://127.0.0.1:6443');
  if (isKept)
    await expect(saving).rejects.toThrow(/config was not written by this server and stays as it is: name another/);
  else expect(await saving).toBe(kubeconfigFile);
  expect((await readFile(kubeconfigFile, 'utf8')) === text).toBe(isKept);
});

test('every directory that is written to is made', async () => {
  const kubeconfigFile = join(directory, 'not/there/config');
  const pki = await open({ certificateDirectory: join(directory, 'nor/here'), kubeconfigFile });
  expect(await pki.saveAdminKubeconfig('https://127.0.0.1:6443')).toBe(kubeconfigFile);
  expect((await readdir(directory)).sort()).toEqual(['nor', 'not']);
});

test('an earlier data directory without a record is served from, and only what has to be new is asked for', async () => {
  await (await open()).refresh();
  await rename(join(pkiDirectory, '.made-by-keelson'), join(directory, 'record'));
  const before = await contents(['apiserver.crt', 'admin.crt', 'ca.crt']);
  await open();
  expect(await contents(Object.keys(before))).toEqual(before);
});
