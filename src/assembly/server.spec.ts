import { mkdtemp, rm, writeFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { HttpClient, type ClientOptions } from '../../test/harness/http-client.js';
import { keyPem, makeAuthority, makeKey, makeServingPair, signerOf } from '../certificates/authority.js';
import { issueCertificate, type Signer } from '../certificates/issue-certificate.js';
import { servingNames } from '../certificates/serving-names.js';
import { defaultConfig, type ConfigOverrides } from '../config/load-config.js';
import { systemClock, type Clock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { startOpenServer } from './server.js';
import { startOpenKeelson, type Keelson } from './start-keelson.js';

// Effects of single flags on a whole server. Components behind the flags have specs of their own.

const undo: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(config: ConfigOverrides): Promise<Keelson> {
  const keelson = await startOpenKeelson({ config });
  undo.push(() => keelson.stop());
  return keelson;
}

function client({ url, ca }: Keelson, options: Partial<ClientOptions>): HttpClient {
  const made = new HttpClient({ url, ca, ...options });
  undo.push(() => made.close());
  return made;
}

const administrator = (keelson: Keelson) => client(keelson, keelson.client);

async function folder(): Promise<(name: string, text: string) => Promise<string>> {
  const directory = await mkdtemp(join(tmpdir(), 'server-'));
  undo.push(() => rm(directory, { recursive: true }));
  return async (name, text) => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
}

async function authority(): Promise<{ pem: string; signer: Signer }> {
  const key = makeKey();
  const pem = await makeAuthority(key, Date.now());
  return { pem, signer: signerOf(pem, key) };
}

const pod = (name: string, securityContext: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'a', securityContext }] },
});

test('a privileged container is rejected with --allow-privileged=false', async () => {
  const admin = administrator(await start({ admission: { allowPrivileged: false } }));
  const path = '/api/v1/namespaces/default/pods';
  const refused = await admin.post(path, pod('a', { privileged: true }));
  expect([refused.code, refused.body.message]).toEqual([
    422,
    'Pod "a" is invalid: spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
  ]);
  expect((await admin.post(path, pod('b', { privileged: false }))).code).toBe(201);
});

test('a plug-in named in --disable-admission-plugins does not run', async () => {
  const lost = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const path = '/api/v1/namespaces/nowhere/configmaps';
  const usual = administrator(await start({}));
  const loose = administrator(await start({ admission: { disabledPlugins: ['NamespaceLifecycle'] } }));
  expect([(await usual.post(path, lost)).code, (await loose.post(path, lost)).code]).toEqual([404, 201]);
});

test('a CORS preflight of an allowed origin is answered before authentication', async () => {
  const keelson = await start({
    serving: { corsAllowedOrigins: ['^https://a\\.io$'] },
    authentication: { anonymous: false },
  });
  const nobody = client(keelson, { headers: { origin: 'https://a.io' } });
  const preflight = await nobody.request('OPTIONS', '/api/v1/pods');
  expect([preflight.code, preflight.headers['access-control-allow-origin']]).toEqual([204, 'https://a.io']);
  const answer = await nobody.get('/api/v1/pods');
  expect([answer.code, answer.headers['access-control-allow-origin']]).toEqual([401, 'https://a.io']);
});

test('a name of --tls-sni-cert-key gets its certificate in the TLS handshake', async () => {
  const write = await folder();
  const { signer } = await authority();
  const pair = await makeServingPair(signer, servingNames({ hostNames: ['own.example'] }), Date.now());
  const files = { certFile: await write('a.crt', pair.certificate), keyFile: await write('a.key', pair.key) };
  const keelson = await start({ serving: { sniCertKeys: [{ ...files, names: ['x.example', '*.y.example'] }] } });
  const shown = async (servername: string) => {
    const socket = connect({
      host: '127.0.0.1',
      port: Number(new URL(keelson.url).port),
      servername,
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    const { subjectaltname } = socket.getPeerCertificate();
    socket.destroy();
    return subjectaltname!.includes('own.example');
  };
  expect(await shown('X.example')).toBe(true);
  expect(await shown('b.y.example')).toBe(true);
  expect(await shown('a.b.y.example')).toBe(false);
  expect(await shown('own.example')).toBe(false);
});

test('X-Remote-User is accepted only with a certificate of the request header CA', async () => {
  const write = await folder();
  const { pem, signer } = await authority();
  const keelson = await start({
    authentication: {
      requestHeader: {
        clientCaFile: await write('ca.crt', pem),
        allowedNames: ['front'],
        usernameHeaders: ['X-Remote-User'],
        groupHeaders: ['X-Remote-Group'],
      },
    },
  });
  const headers = { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' };
  const signed = async (commonName: string) => {
    const key = makeKey();
    const now = Date.now();
    const lifetime = { notBeforeMs: now - 1000, notAfterMs: now + 60_000 };
    return {
      certificate: await issueCertificate({ commonName, usage: 'client', key, signer, ...lifetime }),
      key: keyPem(key),
    };
  };
  const codeFor = async (options: Partial<ClientOptions>) =>
    (await client(keelson, options).get('/api/v1/namespaces')).code;
  const front = await signed('front');
  expect(await codeFor({ ...front, headers })).toBe(200);
  expect(await codeFor({ ...front, headers, protocol: 'h2' })).toBe(200);
  expect(await codeFor({ ...front, headers: { 'x-remote-user': 'jane' } })).toBe(403);
  expect(await codeFor({ ...(await signed('back')), headers })).toBe(401);
  expect(await codeFor({ headers })).toBe(403);
  // The administrator's certificate is not one of the request header CA: the header is ignored.
  expect(await codeFor({ ...keelson.client, headers: { 'x-remote-user': 'jane' } })).toBe(200);
});

test('with --endpoint-reconciler-type=none no Endpoints of the kubernetes Service are written', async () => {
  const admin = administrator(await start({ network: { endpointReconciler: 'none', serverServiceNodePort: 30443 } }));
  expect((await admin.get('/api/v1/namespaces/default/endpoints/kubernetes')).code).toBe(404);
  const { body } = await admin.get('/api/v1/namespaces/default/services/kubernetes');
  expect(body.spec).toMatchObject({ type: 'NodePort', ports: [{ port: 443, nodePort: 30443 }] });
});

test('a start that fails at its last step stops the loops that compare the caches with the store', async () => {
  const write = await folder();
  const kubeconfigOut = await write('config', 'of another program');
  const pendingMs = new Set<number>();
  const clock: Clock = {
    ...systemClock,
    after(delayMs, task) {
      pendingMs.add(delayMs);
      const timer = systemClock.after(delayMs, task);
      return { cancel: () => (pendingMs.delete(delayMs), timer.cancel()) };
    },
  };
  const intervalMs = 3_456_789;
  const storage = {
    backend: 'memory',
    cacheCheckIntervalMs: intervalMs,
    dataDirectory: dirname(kubeconfigOut),
  } as const;
  const config = defaultConfig({ storage, kubeconfigOut, serving: { securePort: 0, bindAddress: '127.0.0.1' } });
  const started = startOpenServer(config, { clock, logger: silentLogger });
  await expect(started).rejects.toThrow('was not written by this server');
  // The start rejects only after the generated key was written, so that no write follows.
  expect(await readdir(join(dirname(kubeconfigOut), 'pki'))).toEqual(expect.arrayContaining(['sa.key', 'sa.pub']));
  expect(pendingMs).not.toContain(intervalMs);
});
