import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { ManualClock, systemClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { keyPem, makeAuthority, makeKey } from './authority.js';
import { makeEphemeralPki } from './ephemeral-pki.js';
import { ensurePki, type PkiOptions, type StoredPki } from './pki.js';

const dayMs = 86_400_000;
const proxyFiles = ['ca.crt', 'ca.key', 'client.crt', 'client.key'].map((name) => `front-proxy-${name}`);
const allFiles = 'admin.crt admin.key apiserver.crt apiserver.key ca.crt ca.key sa.key sa.pub'.split(' ');

let directory: string;
const opened: StoredPki[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pki-'));
});
afterEach(async () => {
  for (const pki of opened.splice(0)) await pki.close();
  await rm(directory, { recursive: true });
});

async function open(options: Partial<PkiOptions> = {}): Promise<StoredPki> {
  const pki = await ensurePki({ directory, clock: systemClock, logger: silentLogger, ...options });
  opened.push(pki);
  return pki;
}

async function contents(): Promise<Record<string, string>> {
  const texts = await Promise.all(allFiles.map((file) => readFile(join(directory, 'pki', file), 'utf8')));
  return Object.fromEntries(allFiles.map((file, index) => [file, texts[index]!]));
}

/** Starts twice and returns the files that the second start replaced. */
async function replacedBy(second: Partial<PkiOptions>, between: () => Promise<unknown> = async () => undefined) {
  const first = await open({ clock: new ManualClock() });
  await first.serviceAccountKey;
  const before = await contents();
  await between();
  await open({ clock: new ManualClock(), ...second });
  const after = await contents();
  return allFiles.filter((file) => before[file] !== after[file]);
}

const laterBy = (days: number) => {
  const clock = new ManualClock();
  clock.advance(days * dayMs);
  return clock;
};
const inPki = (file: string) => join(directory, 'pki', file);

it('generates all files at the first start, with modes for the owner only', async () => {
  const pki = await open({
    directory: join(directory, 'data'),
    serviceAddress: '10.96.0.1',
    hostNames: ['Host-1.example.'],
    addresses: ['192.0.2.7', '0.0.0.0'],
  });
  const { privateKey, publicKey } = await pki.serviceAccountKey;
  const kubeconfig = await pki.saveAdminKubeconfig('https://127.0.0.1:6443');
  const modes: Record<string, string> = {};
  for (const path of ['pki', 'admin.kubeconfig', ...allFiles.map((file) => `pki/${file}`)]) {
    modes[path] = ((await stat(join(directory, 'data', path))).mode & 0o777).toString(8);
  }
  expect(kubeconfig).toBe(join(directory, 'data', 'admin.kubeconfig'));
  expect((await readdir(join(directory, 'data', 'pki'))).sort()).toEqual(
    ['.made-by-keelson', ...allFiles, ...proxyFiles].sort(),
  );
  expect(modes).toMatchObject({
    pki: '700',
    'admin.kubeconfig': '600',
    'pki/ca.key': '600',
    'pki/apiserver.key': '600',
  });
  expect(modes).toMatchObject({ 'pki/admin.key': '600', 'pki/sa.key': '600', 'pki/ca.crt': '644' });

  const serving = new X509Certificate(pki.serving!.current().certificate);
  const authority = pki.authority.current().certificates[0]!;
  expect(serving.verify(authority.publicKey)).toBe(true);
  for (const name of [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'host-1.example',
    'kubernetes.default.svc.cluster.local',
  ]) {
    expect(serving.checkHost(name, { subject: 'never' })).toBe(name);
  }
  for (const address of ['127.0.0.1', '::1', '10.96.0.1', '192.0.2.7']) expect(serving.checkIP(address)).toBe(address);
  expect(new X509Certificate(pki.admin.current().certificate).subject).toBe('O=system:masters\nCN=kubernetes-admin');
  expect(createPrivateKey(privateKey).asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
  expect(publicKey).toBe(await readFile(join(directory, 'data', 'pki', 'sa.pub'), 'utf8'));
});

describe('at the second start', () => {
  it.each<[string, Partial<PkiOptions>, string[]]>([
    ['nothing', {}, []],
    ['300 days', { clock: laterBy(300) }, []],
    [
      '340 days: less than a month left',
      { clock: laterBy(340) },
      ['admin.crt', 'admin.key', 'apiserver.crt', 'apiserver.key'],
    ],
    ['400 days: all expired', { clock: laterBy(400) }, ['admin.crt', 'admin.key', 'apiserver.crt', 'apiserver.key']],
    ['a clock before the start', { clock: laterBy(-2) }, ['admin.crt', 'admin.key', 'apiserver.crt', 'apiserver.key']],
    ['a further name', { hostNames: ['api.example'] }, ['apiserver.crt', 'apiserver.key']],
    ['a further wildcard', { hostNames: ['*.api.example'] }, ['apiserver.crt', 'apiserver.key']],
    ['a further address', { addresses: ['2001:db8::1'] }, ['apiserver.crt', 'apiserver.key']],
    ['another administrator', { admin: { commonName: 'root', organizations: ['a', 'b'] } }, ['admin.crt', 'admin.key']],
    [
      'a CA that expires soon keeps its key',
      { clock: laterBy(3640) },
      ['admin.crt', 'admin.key', 'apiserver.crt', 'apiserver.key', 'ca.crt'],
    ],
  ])('replaces only what is needed: %s', async (_name, second, replaced) => {
    expect(await replacedBy(second)).toEqual(replaced);
  });

  it.each<[string, string[], string[]]>([
    ['a lost serving certificate', ['apiserver.crt'], ['apiserver.crt', 'apiserver.key']],
    ['a lost admin key', ['admin.key'], ['admin.crt', 'admin.key']],
    ['a lost public key is derived', ['sa.pub'], []],
    ['a lost CA certificate is issued again with its key', ['ca.crt'], ['ca.crt']],
    ['nothing if only the CA key is lost', ['ca.key'], []],
  ])('after a file was removed: %s', async (_name, lost, replaced) => {
    const removal = () => Promise.all(lost.map((file) => rm(inPki(file))));
    if (lost[0] !== 'ca.key') return expect(await replacedBy({}, removal)).toEqual(replaced);
    const first = await open();
    await removal();
    const second = await open();
    expect(second.serving!.current()).toEqual(first.serving!.current());
    await expect(open({ hostNames: ['further.example'] })).rejects.toThrow(
      /does not name further.example, and without .*ca\.key/,
    );
    await expect(second.issueClient({ commonName: 'x', organizations: [] })).rejects.toThrow('no CA key');
  });

  it('does not issue the certificate again for the same wildcard name', async () => {
    const names = { hostNames: ['*.api.example'], addresses: ['::ffff:192.0.2.1'] };
    const first = await open(names);
    const second = await open(names);
    expect(second.serving!.current()).toEqual(first.serving!.current());
  });
});

describe('a damaged file is an error that names it, and is not changed', () => {
  it.each([
    ['ca.crt', /ca\.crt holds no PEM certificate\. Restore it from a backup, or remove both .*ca\.crt and .*ca\.key/],
    ['ca.key', /ca\.key holds no usable unencrypted PEM private key: .*\. Restore it/],
    ['apiserver.crt', /apiserver\.crt holds no PEM certificate/],
    ['admin.key', /admin\.key holds no usable unencrypted PEM private key/],
    ['sa.key', /sa\.key holds no usable unencrypted PEM private key/],
  ])('%s', async (file, message) => {
    await (
      await open()
    ).serviceAccountKey;
    await writeFile(inPki(file), 'not PEM');
    const before = await contents();
    await expect(open()).rejects.toThrow(message);
    expect(await contents()).toEqual(before);
  });

  it('a certificate with a broken body', async () => {
    const pki = await open();
    const broken = pki.authority.current().pem.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
    await writeFile(inPki('ca.crt'), broken);
    await expect(open()).rejects.toThrow(/certificate 1 of .*ca\.crt is damaged: /);
  });

  it('is reported after the new service account key is written, so that nothing is written later', async () => {
    await open().then((pki) => pki.serviceAccountKey);
    await Promise.all([rm(inPki('sa.key')), rm(inPki('sa.pub')), writeFile(inPki('ca.crt'), 'broken')]);
    await expect(open()).rejects.toThrow(/ca\.crt/);
    const written = await readdir(join(directory, 'pki'));
    expect(written).toEqual(expect.arrayContaining(['sa.key', 'sa.pub']));
  });

  it('the key of another authority', async () => {
    await open();
    await writeFile(inPki('ca.key'), keyPem(makeKey()));
    await expect(open()).rejects.toThrow(/ca\.key is not the key of .*ca\.crt: restore it/);
  });
});

it('uses an RSA CA of the user without changing it', async () => {
  const { generateKeyPairSync } = await import('node:crypto');
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = await makeAuthority(key, Date.now());
  await (
    await open()
  ).serviceAccountKey;
  await writeFile(inPki('ca.crt'), pem);
  await writeFile(inPki('ca.key'), key.export({ type: 'pkcs1', format: 'pem' }));
  const pki = await open();
  expect(pki.authority.current().pem).toBe(pem);
  expect(new X509Certificate(pki.serving!.current().certificate).verify(new X509Certificate(pem).publicKey)).toBe(true);
});

it('two processes that start at the same time use the same CA', async () => {
  const [one, other] = await Promise.all([open(), open()]);
  const third = await open();
  for (const pki of [one, other]) {
    const serving = new X509Certificate(pki.serving!.current().certificate);
    expect(serving.verify(third.authority.current().certificates[0]!.publicKey)).toBe(true);
  }
  expect(await one.serviceAccountKey).toEqual(await other.serviceAccountKey);
});

it('renews certificates while the server runs, and rewrites the kubeconfig', async () => {
  const clock = new ManualClock();
  const pki = await open({ clock });
  const before = pki.serving!.current();
  const file = await pki.saveAdminKubeconfig('https://127.0.0.1:6443');
  const renewed = new Promise((resolve) => pki.admin.onChange(resolve));
  clock.advance(340 * dayMs);
  await renewed;
  await pki.refresh();
  expect(pki.serving!.current()).not.toEqual(before);
  expect(await readFile(file, 'utf8')).toContain(Buffer.from(pki.admin.current().certificate).toString('base64'));
});

it('keeps edits of the kubeconfig while its server and credentials are valid', async () => {
  const pki = await open();
  const file = await pki.saveAdminKubeconfig('https://127.0.0.1:6443');
  const edited = `${await readFile(file, 'utf8')}# mine\n`;
  await writeFile(file, edited);
  await pki.saveAdminKubeconfig('https://127.0.0.1:6443');
  expect(await readFile(file, 'utf8')).toBe(edited);
  await pki.saveAdminKubeconfig('https://127.0.0.1:7443');
  expect(load(await readFile(file, 'utf8'))).toMatchObject({
    clusters: [{ name: 'keelson', cluster: { server: 'https://127.0.0.1:7443' } }],
    'current-context': 'keelson',
  });
});

it('ephemeral certificates are generated once and can be served', async () => {
  const pki = await makeEphemeralPki({ clock: systemClock, hostNames: ['once.example'] });
  expect(await makeEphemeralPki({ clock: systemClock, hostNames: ['once.example'] })).toBe(pki);
  const { certificate: cert, key } = pki.serving!.current();
  const ca = pki.authority.current().pem;
  const server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: true }, (socket: TLSSocket) => {
    socket.end(String(socket.getPeerCertificate().subject.CN));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const user = await pki.issueClient({ commonName: 'joe', organizations: ['dev'] });
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    ca,
    cert: user.certificate,
    key: user.key,
  });
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(String(answer)).toBe('joe');
  client.destroy();
  server.close();
  expect((await pki.serviceAccountKey).privateKey).toContain('BEGIN PRIVATE KEY');
});
