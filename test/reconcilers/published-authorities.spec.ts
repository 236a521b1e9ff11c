import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyPem, makeAuthority, makeKey, makeServingPair, signerOf } from '../../src/certificates/authority.js';
import { ensurePki } from '../../src/certificates/pki.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { until } from '../harness/until.js';

const system = '/api/v1/namespaces/kube-system/configmaps';

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'keelson-authorities-'))));
afterAll(() => rm(directory, { recursive: true, force: true }));

async function authority(name: string) {
  const key = makeKey();
  const pem = await makeAuthority(key, Date.now());
  await writeFile(join(directory, `${name}.crt`), pem);
  await writeFile(join(directory, `${name}.key`), keyPem(key));
  return { pem, signer: signerOf(pem, key), file: join(directory, `${name}.crt`) };
}
async function servingFiles(name: string, { signer }: Awaited<ReturnType<typeof authority>>, chain = '') {
  const names = { dns: ['localhost'], ip: ['127.0.0.1'], refused: [] };
  const { certificate, key } = await makeServingPair(signer, names, Date.now());
  const files = { tlsCertFile: join(directory, `${name}.crt`), tlsPrivateKeyFile: join(directory, `${name}.key`) };
  await writeFile(files.tlsCertFile, certificate + chain);
  await writeFile(files.tlsPrivateKeyFile, key);
  return files;
}
const clientOf = ({ url, client }: Keelson, ca: string) => new HttpClient({ url, ca, ...client });
const data = async (client: HttpClient, name: string) => (await client.get(`${system}/${name}`)).body.data;

it('kube-root-ca.crt verifies a given serving certificate', async () => {
  const given = await authority('given');
  const files = await servingFiles('serving', given, given.pem);
  const keelson = await startKeelson({ config: { serving: files } });
  const client = clientOf(keelson, given.pem);
  try {
    const { 'ca.crt': published } = (await data(client, 'kube-root-ca.crt')) as Record<string, string>;
    expect(new X509Certificate(published!).fingerprint256).toBe(given.signer.certificate.fingerprint256);
    await client.post('/api/v1/namespaces', { metadata: { name: 'late' } });
    const late = await until(client, '/api/v1/namespaces/late/configmaps', 'kube-root-ca.crt', (found) => !!found);
    expect(late!['data']).toEqual({ 'ca.crt': published });
  } finally {
    client.close();
    await keelson.stop();
  }
});

it('--root-ca-file is published unchanged', async () => {
  const root = await authority('root');
  const keelson = await startKeelson({ config: { reconcilers: { rootCaFile: root.file } } });
  const client = clientOf(keelson, keelson.ca);
  try {
    expect(await data(client, 'kube-root-ca.crt')).toEqual({ 'ca.crt': root.pem });
  } finally {
    client.close();
    await keelson.stop();
  }
});

it('the written kubeconfig trusts the CA of a given serving certificate', async () => {
  const given = await authority('kubeconfig');
  const pki = await ensurePki({
    directory: join(directory, 'data'),
    clock: systemClock,
    logger: silentLogger,
    isServingPairGiven: true,
  });
  try {
    await pki.saveAdminKubeconfig('https://127.0.0.1:1', () => given.pem);
    expect(pki.adminKubeconfig('https://127.0.0.1:1', given.pem)).toContain(Buffer.from(given.pem).toString('base64'));
  } finally {
    await pki.close();
  }
});

it('extension-apiserver-authentication has the client CA and the request header settings', async () => {
  const [clients, proxies] = [await authority('clients'), await authority('proxies')];
  const requestHeader = {
    clientCaFile: proxies.file,
    allowedNames: ['front'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  };
  const config = { authentication: { clientCaFile: clients.file, requestHeader } };
  const keelson = await startKeelson({ config });
  const client = clientOf(keelson, keelson.ca);
  const name = 'extension-apiserver-authentication';
  try {
    const want = {
      'requestheader-client-ca-file': proxies.pem,
      'requestheader-allowed-names': '["front"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    };
    const published = (await data(client, name)) as Record<string, string>;
    expect(published).toMatchObject(want);
    expect(published['client-ca-file']).toContain(clients.pem.trim());
    expect(published['client-ca-file']).toContain(keelson.ca.trim());
    await client.delete(`${system}/${name}`);
    const again = await until(client, system, name, (found) => found !== undefined);
    expect(again!['data']).toEqual(published);
  } finally {
    client.close();
    await keelson.stop();
  }
});

it('extension-apiserver-authentication gets the CA certificates of changed files', async () => {
  const [clients, proxies, newClients, newProxies] = [
    await authority('first-clients'),
    await authority('first-proxies'),
    await authority('second-clients'),
    await authority('second-proxies'),
  ];
  const requestHeader = { clientCaFile: proxies.file, usernameHeaders: ['X-Remote-User'] };
  const keelson = await startKeelson({ config: { authentication: { clientCaFile: clients.file, requestHeader } } });
  const client = clientOf(keelson, keelson.ca);
  const publishes = (key: string, { pem }: { pem: string }) =>
    until(
      client,
      system,
      'extension-apiserver-authentication',
      (found) => ((found?.['data'] ?? {}) as Record<string, string>)[key]?.includes(pem.trim()) === true,
    );
  try {
    await publishes('client-ca-file', clients);
    await publishes('requestheader-client-ca-file', proxies);
    await writeFile(clients.file, newClients.pem);
    await publishes('client-ca-file', newClients);
    await writeFile(proxies.file, newProxies.pem);
    await publishes('requestheader-client-ca-file', newProxies);
  } finally {
    client.close();
    await keelson.stop();
  }
});
