import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { ClientError, openKubeconfigClient, type ClientOptions, type KubeconfigClient } from '../../src/client.js';
import { ManualClock, systemClock } from '../../src/std/clock.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { RevocableTokens } from '../harness/revocable-tokens.js';

/** The client of `keelson/client` with a real server. */
const tokens = new RevocableTokens('one', 'two');

let keelson: Keelson;
let files: ClientKubeconfigs;
let opened: KubeconfigClient[] = [];
beforeAll(async () => {
  files = new ClientKubeconfigs();
  keelson = await startKeelson({ clock: tokens.clock, authenticators: [tokens.authenticator] });
});
afterEach(() => {
  for (const client of opened) client.close();
  opened = [];
});
afterAll(async () => {
  await keelson.stop();
  files.remove();
});

const openFile = async (file: string, options: ClientOptions = {}) => {
  const client = await openKubeconfigClient({ file, ...options });
  opened.push(client);
  return client;
};
const openUser = (user: Record<string, unknown>, options?: ClientOptions) =>
  openFile(files.kubeconfig(keelson, user), options);

interface Review {
  readonly status: { readonly userInfo: { readonly username: string } };
}
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const userOf = async (client: KubeconfigClient) =>
  (await client.create<Review>('/apis/authentication.k8s.io/v1/selfsubjectreviews', review)).status.userInfo.username;

describe('credentials of a kubeconfig', () => {
  it('a token', async () => {
    expect(await userOf(await openUser({ token: 'one' }))).toBe('user-one');
  });

  it('a client certificate as data', async () => {
    expect(await userOf(await openFile(await keelson.kubeconfigFile()))).toBe('kubernetes-admin');
  });

  it('a kubeconfig given as text', async () => {
    const client = await openKubeconfigClient({ text: keelson.kubeconfig });
    opened.push(client);
    expect(await userOf(client)).toBe('kubernetes-admin');
  });

  it('impersonation', async () => {
    expect(await userOf(await openUser({ token: 'one', as: 'jäne', 'as-groups': ['system:masters'] }))).toBe('jäne');
  });

  it('a token file whose token changes, at most a second later', async () => {
    const clock = new ManualClock(Date.now());
    const client = await openUser({ tokenFile: files.write('token', 'one\n') }, { clock });
    expect(await userOf(client)).toBe('user-one');
    files.write('token', 'two\n');
    expect(await userOf(client)).toBe('user-one');
    clock.advance(1_000);
    expect(await userOf(client)).toBe('user-two');
  });

  it('a token file is read at once after an answer 401', async () => {
    tokens.accept('three');
    const client = await openUser(
      { tokenFile: files.write('expiring', 'three') },
      { clock: new ManualClock(Date.now()) },
    );
    expect(await userOf(client)).toBe('user-three');
    tokens.revoke('three');
    files.write('expiring', 'two');
    expect(await userOf(client)).toBe('user-two');
    files.write('expiring', 'four');
    tokens.revoke('two');
    const error = await userOf(client).catch((reason: unknown) => reason);
    tokens.accept('two');
    expect(error).toMatchObject({ code: 'Status', status: 401, reason: 'Unauthorized' });
    expect(String(error)).toMatch(/^ClientError: POST https:\/\/127\.0\.0\.1:\d+\/apis\/auth.*: 401 Unauthorized/);
  });

  it('certificate files that change open new connections, when both have been written', async () => {
    const pki = await makeEphemeralPki({ clock: systemClock });
    const [anna, bert] = [
      await pki.issueClient({ commonName: 'anna', organizations: ['system:masters'] }),
      await pki.issueClient({ commonName: 'bert', organizations: ['system:masters'] }),
    ];
    const clock = new ManualClock(Date.now());
    const user = { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' };
    files.write('tls.crt', anna.certificate);
    files.write('tls.key', anna.key);
    const client = await openUser(user, { clock });
    expect(await userOf(client)).toBe('anna');
    files.write('tls.crt', bert.certificate);
    clock.advance(1_000);
    expect(await userOf(client)).toBe('anna');
    files.write('tls.key', bert.key);
    clock.advance(1_000);
    expect(await userOf(client)).toBe('bert');
  });
});

describe('a cluster of a kubeconfig', () => {
  const failureOf = async (cluster: Record<string, unknown>): Promise<ClientError> => {
    const client = await openFile(files.kubeconfig(keelson, { token: 'one' }, cluster));
    const error: unknown = await client.get('/version').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ClientError);
    expect(String(error)).not.toContain('Bearer');
    return error as ClientError;
  };

  it('tls-server-name is the name that the certificate must have', async () => {
    const right = await openFile(files.kubeconfig(keelson, {}, { 'tls-server-name': 'localhost' }));
    expect(await right.get('/version')).toHaveProperty('gitVersion');
    const wrong = await failureOf({ 'tls-server-name': 'example.com' });
    expect(wrong.message).toMatch(
      /^GET https:.*: the certificate of the server is for other names; correct server, or/,
    );
  });

  it('insecure-skip-tls-verify accepts every certificate', async () => {
    const skipping = { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true };
    const client = await openFile(files.kubeconfig(keelson, {}, skipping));
    expect(await client.get('/version')).toHaveProperty('gitVersion');
  });

  it('another certificate authority is refused', async () => {
    const other = await makeEphemeralPki({ clock: systemClock, hostNames: ['other'] });
    const ca = Buffer.from(other.authority.current().pem).toString('base64');
    const error = await failureOf({ 'certificate-authority-data': ca });
    expect([error.code, error.message]).toEqual([
      'Connection',
      expect.stringMatching(/is not signed by certificate-auth/),
    ]);
  });

  it('a certificate authority without a certificate is refused before the first request', async () => {
    const file = files.kubeconfig(keelson, {}, { 'certificate-authority-data': Buffer.from('x').toString('base64') });
    await expect(openFile(file)).rejects.toThrow('certificate-authority has no certificate in PEM');
  });

  it('a port without a server is named', async () => {
    const error = await failureOf({ server: 'https://127.0.0.1:1' });
    expect(error.message).toMatch(/^GET https:\/\/127\.0\.0\.1:1\/version: nothing listens there; start the server/);
  });

  it('credentials are not sent to an http server', async () => {
    const file = files.kubeconfig(keelson, { token: 'one' }, { server: 'http://127.0.0.1:1' });
    await expect(openFile(file)).rejects.toThrow('credentials are not sent to http://127.0.0.1:1; use https in server');
  });
});

describe('objects', () => {
  const path = '/api/v1/namespaces/default/configmaps';
  interface ConfigMap {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
    readonly data: Record<string, string>;
  }
  const named = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' } });

  it('are created, read, listed, updated, patched and deleted', async () => {
    const client = await openUser({ token: 'one' });
    const created = await client.create<ConfigMap>(path, named('typed'));
    expect(await client.get<ConfigMap>(`${path}/typed`)).toEqual(created);
    const { items } = await client.list<ConfigMap>(path, { query: { fieldSelector: 'metadata.name=typed', limit: 5 } });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['typed']);
    const updated = await client.update<ConfigMap>(`${path}/typed`, { ...created, data: { a: '2' } });
    expect(updated.data).toEqual({ a: '2' });
    expect((await client.patch<ConfigMap>(`${path}/typed`, { data: { b: '3' } })).data).toEqual({ a: '2', b: '3' });
    const applied = { ...named('typed'), data: { c: '4' } };
    const query = { fieldManager: 'me', force: true };
    expect((await client.patch<ConfigMap>(`${path}/typed`, applied, { type: 'apply', query })).data).toHaveProperty(
      'c',
    );
    await client.delete(`${path}/typed`, {}, { propagationPolicy: 'Background' });
    await expect(client.get(`${path}/typed`)).rejects.toMatchObject({
      code: 'Status',
      status: 404,
      reason: 'NotFound',
    });
  });

  it('are watched until the caller ends it', async () => {
    const client = await openUser({ token: 'one' });
    const { metadata } = await client.list(path);
    await client.create(path, named('watched'));
    await client.delete(`${path}/watched`);
    const seen: string[] = [];
    for await (const { type, object } of client.watch<ConfigMap>(path, {
      query: { resourceVersion: metadata.resourceVersion },
    })) {
      seen.push(`${type} ${object.metadata.name}`);
      if (type === 'DELETED') break;
    }
    expect(seen).toEqual(['ADDED watched', 'DELETED watched']);
  });

  it('a watch ends with the signal of its caller, and by timeoutSeconds', async () => {
    const client = await openUser({ token: 'one' });
    const stop = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => stop.abort(reason), 50);
    const all = async (options: Parameters<KubeconfigClient['watch']>[1]) => {
      for await (const { type } of client.watch(path, options)) expect(type).toBe('ADDED');
    };
    await expect(all({ signal: stop.signal })).rejects.toBe(reason);
    await expect(all({ query: { timeoutSeconds: 1 } })).resolves.toBeUndefined();
  });

  it('a watch of what is forbidden or gone throws the Status', async () => {
    const anonymous = await openUser({});
    await expect(anonymous.watch(path).next()).rejects.toMatchObject({ code: 'Status', status: 403 });
    const client = await openUser({ token: 'one' });
    const next = client.watch(path, { query: { resourceVersion: 'x' } }).next();
    await expect(next).rejects.toMatchObject({ code: 'Status', status: 400 });
  });
});
