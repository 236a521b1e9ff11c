import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { openKubeconfigClient, type KubeconfigClient } from '../../src/client.js';
import type { NamingProfile } from '../../src/config/naming-profile.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { RevocableTokens } from '../harness/revocable-tokens.js';
import { startTestServer, type NamingName, type TestServer } from '../harness/servers.js';

// One clock for both servers, since they share the CA that issues client certificates.
const tokens = new RevocableTokens('a');
const { clock } = tokens;

/**
 * One row for each rule on credential plug-ins, with the words of the rule: real plug-ins, the client of this project and
 * a real server. The client speaks HTTP/1.1.
 */
describe.each<NamingName>(['kubernetes', 'svc'])('naming profile %s', (profile) => {
  let server: TestServer;
  let naming: NamingProfile;
  let files: ClientKubeconfigs;
  const open: KubeconfigClient[] = [];
  const terminal = Object.getOwnPropertyDescriptor(process.stdin, 'isTTY');

  beforeAll(async () => {
    // As in a service, also if the tests are started from a terminal.
    Object.defineProperty(process.stdin, 'isTTY', { value: undefined, configurable: true });
    const options = { clock, authenticators: [tokens.authenticator] };
    server = await startTestServer({ store: 'memory', naming: profile }, options);
    ({ naming } = server.keelson.components.config);
    files = new ClientKubeconfigs();
    const script = [
      '#!/bin/sh',
      'cd "$(dirname "$0")"',
      `printf '%s\\n' "$*" >> runs`,
      `printf '%s' "$${naming.execInfoVariable}" > info`,
      `printf '%s' "$EXTRA" > extra`,
      'cat output',
    ];
    files.write('plugin.sh', `${script.join('\n')}\n`, 0o700);
  });
  beforeEach(() => {
    rmSync(join(files.directory, 'runs'), { force: true });
    prints({ token: 'a' });
  });
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });
  afterAll(async () => {
    if (terminal) Object.defineProperty(process.stdin, 'isTTY', terminal);
    await server.stop();
    files.remove();
  });

  const group = () => naming.group('client.authentication');
  const version = (name: string) => `${group()}/${name}`;
  const read = (name: string) => readFileSync(join(files.directory, name), 'utf8');
  const runs = () => (existsSync(join(files.directory, 'runs')) ? read('runs').split('\n').length - 1 : 0);
  const prints = (status: object, apiVersion = version('v1')) =>
    void files.write('output', JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));
  const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString();
  async function clientOf(exec: object = {}): Promise<KubeconfigClient> {
    const user = { exec: { apiVersion: version('v1'), command: './plugin.sh', interactiveMode: 'Never', ...exec } };
    const client = await openKubeconfigClient({ file: files.kubeconfig(server.keelson, user), naming, clock });
    open.push(client);
    return client;
  }
  async function nameOf(client: KubeconfigClient): Promise<string> {
    const identities = naming.group('authentication');
    const review = { apiVersion: `${identities}/v1`, kind: 'SelfSubjectReview' };
    const path = `/apis/${identities}/v1/selfsubjectreviews`;
    const { status } = await client.create<{ status: { userInfo: { username: string } } }>(path, review);
    return status.userInfo.username;
  }
  const input = () =>
    JSON.parse(read('info')) as { apiVersion: string; kind: string; spec: { cluster?: object; interactive: boolean } };
  const keyPair = async (commonName: string) => {
    const pki = await makeEphemeralPki({ clock });
    const { certificate, key } = await pki.issueClient({ commonName, organizations: ['system:masters'] });
    return { clientCertificateData: certificate, clientKeyData: key };
  };

  it('`command`: a relative path is relative to the directory of the configuration file', async () => {
    expect([await nameOf(await clientOf()), runs()]).toEqual(['user-a', 1]);
  });

  it.each([
    ['command', { command: undefined }],
    ['apiVersion', { apiVersion: undefined }],
    ['interactiveMode', { interactiveMode: undefined }],
  ])('`%s`: required', async (field, exec) => {
    await expect(clientOf(exec)).rejects.toMatchObject({
      code: 'Kubeconfig',
      message: expect.stringContaining(`users[0].user.exec.${field}`),
    });
  });

  it.each(['v1', 'v1beta1'])('`apiVersion`: %s', async (name) => {
    prints({ token: 'a' }, version(name));
    expect(await nameOf(await clientOf({ apiVersion: version(name) }))).toBe('user-a');
    expect(input()).toMatchObject({ apiVersion: version(name), kind: 'ExecCredential' });
  });

  it('`apiVersion`: the output of the plug-in must match', async () => {
    prints({ token: 'a' }, version('v1beta1'));
    await expect(nameOf(await clientOf())).rejects.toMatchObject({
      code: 'Credentials',
      message: expect.stringContaining(`apiVersion must be ${version('v1')}`),
    });
  });

  it('`apiVersion`: one of another domain is an error', async () => {
    const apiVersion = `client.authentication.${profile === 'svc' ? 'k8s.io' : 'svc.example'}/v1`;
    await expect(clientOf({ apiVersion })).rejects.toThrow(`apiVersion must be ${version('v1')}`);
  });

  it('`env`: a list of name/value pairs', async () => {
    await nameOf(await clientOf({ env: [{ name: 'EXTRA', value: 'of the kubeconfig' }] }));
    expect(read('extra')).toBe('of the kubeconfig');
  });

  it('`args`: a list', async () => {
    await nameOf(await clientOf({ args: ['login', '--for=me'] }));
    expect(read('runs')).toBe('login --for=me\n');
  });

  it('`installHint`: shown when the executable is missing', async () => {
    const client = await clientOf({ command: './missing', installHint: 'Install it from the intranet.' });
    await expect(nameOf(client)).rejects.toMatchObject({
      code: 'Credentials',
      message: expect.stringMatching(/was not found[^]*Install it from the intranet\.$/),
    });
  });

  it('`provideClusterInfo`: true gives the plug-in the cluster in spec.cluster', async () => {
    await nameOf(await clientOf({ provideClusterInfo: true }));
    const authority = Buffer.from(server.keelson.ca).toString('base64');
    expect(input().spec.cluster).toMatchObject({ server: server.url, 'certificate-authority-data': authority });
  });

  it('`provideClusterInfo`: false by default', async () => {
    await nameOf(await clientOf());
    expect(input().spec).toEqual({ interactive: false });
  });

  it.each([
    ['Never', 'v1'],
    ['IfAvailable', 'v1'],
    [undefined, 'v1beta1'],
  ])('`interactiveMode`: %s of %s runs the plug-in without a terminal', async (interactiveMode, name) => {
    prints({ token: 'a' }, version(name));
    expect(await nameOf(await clientOf({ interactiveMode, apiVersion: version(name) }))).toBe('user-a');
    expect(input().spec.interactive).toBe(false);
  });

  it('`interactiveMode`: Always without a terminal is an error, and the plug-in does not run', async () => {
    await expect(nameOf(await clientOf({ interactiveMode: 'Always' }))).rejects.toMatchObject({ code: 'Credentials' });
    expect(runs()).toBe(0);
  });

  it('the input is in the environment variable of the profile', async () => {
    await nameOf(await clientOf());
    expect([naming.execInfoVariable, input().kind]).toEqual([
      profile === 'svc' ? 'SVC_EXEC_INFO' : 'KUBERNETES_EXEC_INFO',
      'ExecCredential',
    ]);
  });

  it('with `expirationTimestamp`, a token is cached until that time', async () => {
    tokens.accept('b');
    prints({ token: 'a', expirationTimestamp: inSeconds(60) });
    const client = await clientOf();
    expect([await nameOf(client), await nameOf(client), runs()]).toEqual(['user-a', 'user-a', 1]);
    prints({ token: 'b' });
    tokens.advance(60_000);
    expect([await nameOf(client), runs()]).toEqual(['user-b', 2]);
  });

  it('with `expirationTimestamp`, a certificate is cached until that time', async () => {
    prints({ ...(await keyPair('anna')), expirationTimestamp: inSeconds(60) });
    const client = await clientOf();
    expect([await nameOf(client), await nameOf(client), runs()]).toEqual(['anna', 'anna', 1]);
    prints(await keyPair('bert'));
    tokens.advance(60_000);
    expect([await nameOf(client), runs()]).toEqual(['bert', 2]);
  });

  it('without it, a token is cached until the server answers 401', async () => {
    tokens.accept('c', 'd');
    prints({ token: 'c' });
    const client = await clientOf();
    expect(await nameOf(client)).toBe('user-c');
    tokens.advance(24 * 3_600_000);
    expect([await nameOf(client), runs()]).toEqual(['user-c', 1]);
    tokens.revoke('c');
    prints({ token: 'd' });
    expect([await nameOf(client), runs()]).toEqual(['user-d', 2]);
  });

  it('another certificate closes the connection, and makes a new TLS handshake', async () => {
    prints({ ...(await keyPair('anna')), expirationTimestamp: inSeconds(60) });
    const client = await clientOf();
    const path = '/api/v1/namespaces/default/configmaps';
    expect(await nameOf(client)).toBe('anna');
    const watch = client.watch(path);
    expect(await watch.next()).toMatchObject({ done: false });
    prints(await keyPair('bert'));
    tokens.advance(60_000);
    expect(await nameOf(client)).toBe('bert');
    let last = await watch.next();
    while (last.done !== true) last = await watch.next();
    expect(last.done).toBe(true);
  });

  it.each(['clientCertificateData', 'clientKeyData'] as const)(
    'with the certificate form, `%s` alone is an error',
    async (field) => {
      const pair = await keyPair('anna');
      prints({ [field]: pair[field] });
      await expect(nameOf(await clientOf())).rejects.toMatchObject({
        code: 'Credentials',
        message: expect.stringMatching(/is required, too$/),
      });
    },
  );
});
