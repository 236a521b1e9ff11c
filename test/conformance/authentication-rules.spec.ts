import { makeTokenKeys } from '../../src/auth/token-keys.js';
import { ServiceAccountTokens } from '../../src/auth/service-account-tokens.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { isSignedBy, signatureOf } from '../harness/bootstrap-tokens.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient, Protocol } from '../harness/http-client.js';
import { RuleServers } from '../harness/rule-servers.js';
import type { NamingName, TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';
import {
  anyProxyName,
  conditions,
  denied,
  impersonation,
  methods,
  proxyFlags,
  serviceAccountTokens,
} from './authentication-rules.cases.js';
import { runTables, type Table, type World } from './case.js';

const protocols: readonly Protocol[] = ['http/1.1', 'h2'];
let ids = 0;
const unique = () => String(ids++).padStart(3, '0');

describe.each<NamingName>(['kubernetes', 'svc'])('naming profile %s', (profile) => {
  let servers: RuleServers;
  beforeAll(async () => (servers = await RuleServers.start(profile)));
  afterAll(() => servers.stop());

  describe.each(protocols)('%s', (protocol) => {
    const on = (server: (all: RuleServers) => TestServer, ...tables: readonly Table[]) => {
      let world: World;
      beforeAll(() => (world = servers.world(server(servers), protocol)));
      runTables(tables, () => world);
    };
    describe('RBAC', () => on(({ main }) => main, methods, proxyFlags, impersonation, serviceAccountTokens));
    describe('AlwaysAllow', () => on(({ allowing }) => allowing, denied('Anonymous access is off by default')));
    describe('--anonymous-auth=false', () => on(({ closed }) => closed, denied('Anonymous access is off')));
    describe('--authentication-config', () => on(({ configured }) => configured, conditions, anyProxyName));
    describe('objects that change', () => changing(() => servers, protocol));
  });

  describe('settings that exclude each other', () => {
    it('AuthenticationConfiguration: `anonymous` cannot be combined with `--anonymous-auth`', async () => {
      const configFile = servers.write('both.json', servers.configuration({ enabled: true }));
      const started = servers.start({ authentication: { configFile, anonymous: true } });
      await expect(started).rejects.toThrow('cannot be combined with --anonymous-auth');
    });

    it('AuthenticationConfiguration: `anonymous.enabled` false gives 401', async () => {
      const configFile = servers.write('off.json', servers.configuration({ enabled: false }));
      const server = await servers.start({ authentication: { configFile } });
      expect((await server.client().get('/livez')).code).toBe(401);
      expect((await server.admin.get('/livez')).code).toBe(200);
    });

    it.each([
      ['--requestheader-client-ca-file: required', { usernameHeaders: ['X-Remote-User'] }, 'client-ca-file'],
      ['--requestheader-username-headers: required', { clientCaFile: 'proxy-ca.crt' }, 'username-headers'],
    ])('%s', async (_rule, { clientCaFile, ...more }: { clientCaFile?: string; usernameHeaders?: string[] }, flag) => {
      const given = { ...more, ...(clientCaFile !== undefined && { clientCaFile: servers.path(clientCaFile) }) };
      await expect(servers.start({ authentication: { requestHeader: given } })).rejects.toThrow(
        `--requestheader-${flag}`,
      );
    });
  });
});

/** Rules on objects that the server or a client changes after the first request. */
function changing(servers: () => RuleServers, protocol: Protocol): void {
  const namespaces = '/api/v1/namespaces';
  let server: TestServer;
  let admin: HttpClient;
  beforeAll(() => {
    server = servers().main;
    admin = server.client({ ...server.keelson.client, protocol });
  });
  const make = async (collection: string, object: object): Promise<Answer> => {
    const answer = await admin.post(collection, object);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
    return answer;
  };
  async function namespace(): Promise<string> {
    const name = `changing-${unique()}`;
    await make(namespaces, { metadata: { name } });
    await until(admin, `${namespaces}/${name}/serviceaccounts`, 'default', (found) => found !== undefined);
    return `${namespaces}/${name}`;
  }
  async function nameOf(token: string): Promise<unknown> {
    const group = servers().naming.group('authentication');
    const client = server.client({ protocol, token });
    const review = { kind: 'SelfSubjectReview', apiVersion: `${group}/v1` };
    const { code, body } = await client.post(`/apis/${group}/v1/selfsubjectreviews`, review);
    client.close();
    return code === 201 ? (body.status.userInfo.username as string) : code;
  }

  it('Service account tokens: a default ServiceAccount named `default` exists in each namespace', async () => {
    const { body } = await admin.get(`${await namespace()}/serviceaccounts/default`);
    expect(body.metadata.name).toBe('default');
  });

  it('Service account tokens: the token expires when the Pod is deleted', async () => {
    const at = await namespace();
    await make(`${at}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const spec = { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } };
    const token = (await make(`${at}/serviceaccounts/default/token`, { spec })).body.status.token as string;
    expect(await nameOf(token)).toBe(`system:serviceaccount:${at.slice(namespaces.length + 1)}:default`);
    expect((await admin.delete(`${at}/pods/p?gracePeriodSeconds=0`)).code).toBe(200);
    await eventually('the token is rejected', async () => (await nameOf(token)) === 401);
  });

  it('Service account tokens: the control plane fills in the token of a Secret with the annotation', async () => {
    const at = await namespace();
    const { naming } = servers();
    const annotations = { [naming.label('service-account.name')]: 'default' };
    await make(`${at}/secrets`, {
      metadata: { name: 's', annotations },
      type: naming.label('service-account-token'),
    });
    const tokenIn = (secret: KubeObject | undefined) =>
      Buffer.from((secret?.['data'] as Record<string, string> | undefined)?.['token'] ?? '', 'base64').toString();
    const token = tokenIn(await until(admin, `${at}/secrets`, 's', (secret) => tokenIn(secret) !== ''));
    expect(await nameOf(token)).toBe(`system:serviceaccount:${at.slice(namespaces.length + 1)}:default`);
  });

  it('Service account tokens: tokens of a key in `--service-account-key-file` are accepted', async () => {
    const at = await namespace();
    const { naming, otherKey } = servers();
    const { accountTokens } = server.keelson.components;
    const others = new ServiceAccountTokens({
      issuers: [accountTokens.issuer],
      privateClaim: naming.labelDomain,
      keys: () => Promise.resolve(makeTokenKeys({ name: 'other', pem: otherKey })),
    });
    const { uid } = (await admin.get(`${at}/serviceaccounts/default`)).body.metadata as { uid: string };
    const name = at.slice(namespaces.length + 1);
    const life = {
      ...{ id: 'other', audiences: [accountTokens.issuer], seconds: 600 },
      nowSeconds: Math.floor(Date.now() / 1000),
    };
    const token = await others.issue({ namespace: name, account: { name: 'default', uid } }, life);
    expect(await nameOf(token)).toBe(`system:serviceaccount:${name}:default`);
  });

  it('Bootstrap token: controller `tokencleaner` deletes expired ones', async () => {
    const id = `tok${unique()}`;
    await servers().createBootstrapToken(id, { expiration: '2020-01-01T00:00:00Z' });
    const secrets = `${namespaces}/${servers().naming.systemNamespace('system')}/secrets`;
    await untilGone(admin, secrets, `bootstrap-token-${id}`);
  });

  it('Cluster-info signing: HS256 with the full token as the shared secret, under jws-kubeconfig-<token_id>', async () => {
    const id = `tok${unique()}`;
    await servers().createBootstrapToken(id, {});
    const infos = `${namespaces}/${servers().naming.systemNamespace('public')}/configmaps`;
    const info = await until(admin, infos, 'cluster-info', (found) => signatureOf(found, id) !== '');
    expect(isSignedBy(info, id, `${id}.0123456789abcdef`)).toBe(true);
    expect([isSignedBy(info, id, '0123456789abcdef'), isSignedBy(info, id, `${id}.0123456789abcdeg`)]).toEqual([
      false,
      false,
    ]);
    const [header = ''] = signatureOf(info, id).split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', kid: id });
  });

  it('Cluster-info signing: a token without usage-bootstrap-signing does not sign', async () => {
    const [id, later] = [`tok${unique()}`, `tok${unique()}`];
    await servers().createBootstrapToken(id, { 'usage-bootstrap-signing': 'false' });
    await servers().createBootstrapToken(later, {});
    const infos = `${namespaces}/${servers().naming.systemNamespace('public')}/configmaps`;
    const info = await until(admin, infos, 'cluster-info', (found) => signatureOf(found, later) !== '');
    expect(signatureOf(info, id)).toBe('');
  });
}
