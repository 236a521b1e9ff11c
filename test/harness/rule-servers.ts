import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyPem, makeAuthority, makeClientPair, makeKey, signerOf } from '../../src/certificates/authority.js';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { namingProfile, type NamingProfile } from '../../src/config/naming-profile.js';
import { systemClock } from '../../src/std/clock.js';
import { makeWorld, type World } from '../conformance/case.js';
import { tokenSecret } from './bootstrap-tokens.js';
import { ClientKubeconfigs } from './client-kubeconfigs.js';
import { eventually } from './eventually.js';
import type { ClientOptions, HttpClient, Protocol } from './http-client.js';
import { startTestServer, type NamingName, type TestServer } from './servers.js';
import { respond, WebhookServer } from './token-webhook.js';

const clusterInfo = '{"kind":"Config","apiVersion":"v1","clusters":[]}';
const tokenLines = [
  'root-token,root,1,"system:masters"',
  'dev-token,dev,2,"dev"',
  'imp-token,imp,3',
  'local-token,local,4',
];

/** The servers of one naming profile on which the rules of authentication hold, and their clients. */
export class RuleServers {
  readonly naming: NamingProfile;
  /** Signs a token that --service-account-key-file verifies. */
  readonly otherKey = keyPem(makeKey());
  /** RBAC, and all methods of authentication. */
  main!: TestServer;
  /** --authorization-mode=AlwaysAllow, without --anonymous-auth. */
  allowing!: TestServer;
  /** --anonymous-auth=false. */
  closed!: TestServer;
  /** --authentication-config with anonymous access to two paths, and proxies of any name. */
  configured!: TestServer;
  private readonly running: TestServer[] = [];
  private webhook: WebhookServer | undefined;
  private readonly directory = mkdtempSync(join(tmpdir(), 'keelson-rules-'));
  private readonly kubeconfigs = new ClientKubeconfigs();
  private certificates: Readonly<Record<string, Partial<ClientOptions>>> = {};

  private constructor(private readonly profile: NamingName) {
    this.naming = namingProfile(profile);
  }

  static async start(profile: NamingName): Promise<RuleServers> {
    const servers = new RuleServers(profile);
    try {
      await servers.startAll();
      return servers;
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const server of this.running) await server.stop();
    await this.webhook?.stop();
    this.kubeconfigs.remove();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Clients of a server, by the names that the tables use. */
  world(server: TestServer, protocol: Protocol): World {
    const clients = Object.entries({ ...this.certificates, nobody: {} }).map(
      ([name, options]): [string, HttpClient] => [name, server.client({ ...options, protocol })],
    );
    return makeWorld(server, protocol, Object.fromEntries(clients));
  }

  async start(config: ConfigOverrides): Promise<TestServer> {
    const server = await startTestServer({ store: 'memory', naming: this.profile }, { config });
    this.running.push(server);
    return server;
  }

  /** The path of a file of write(); proxy-ca.crt is one. */
  path(name: string): string {
    return join(this.directory, name);
  }

  write(name: string, text: string): string {
    const file = this.path(name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  /** Content of --authentication-config. */
  configuration(anonymous: object): string {
    const apiVersion = `${this.naming.group('apiserver.config')}/v1`;
    return JSON.stringify({ apiVersion, kind: 'AuthenticationConfiguration', anonymous });
  }

  private async startAll(): Promise<void> {
    const proxyKey = makeKey();
    const proxyCa = await makeAuthority(proxyKey, Date.now());
    const clientCaFile = this.write('proxy-ca.crt', proxyCa);
    const proxySigner = signerOf(proxyCa, proxyKey);
    const proxy = (commonName: string) => makeClientPair(proxySigner, { commonName, organizations: [] }, Date.now());
    const ours = await makeEphemeralPki({ clock: systemClock });
    const another = await makeEphemeralPki({ clock: systemClock, hostNames: ['another'] });
    this.certificates = {
      carl: await ours.issueClient({ commonName: 'carl', organizations: ['dev'] }),
      stranger: await another.issueClient({ commonName: 'carl', organizations: ['system:masters'] }),
      proxy: await proxy('front-proxy'),
      otherProxy: await proxy('other-proxy'),
    };
    const tokenAuthFile = this.write('tokens.csv', `${tokenLines.join('\n')}\n`);
    await this.startMain(clientCaFile, tokenAuthFile);
    this.allowing = await this.start({
      authorization: { modes: ['AlwaysAllow'] },
      authentication: { tokenAuthFile },
    });
    this.closed = await this.start({ authentication: { tokenAuthFile, anonymous: false } });
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }] };
    const configFile = this.write('authentication.json', this.configuration(anonymous));
    // Without allowed names, the CA of the proxies must not be one of clients.
    const requestHeader = { clientCaFile, usernameHeaders: ['X-Remote-User'] };
    this.configured = await this.start({ authentication: { tokenAuthFile, configFile, requestHeader } });
  }

  private async startMain(clientCaFile: string, tokenAuthFile: string): Promise<void> {
    const requestHeader = {
      clientCaFile,
      allowedNames: ['front-proxy'],
      usernameHeaders: ['X-Remote-User', 'x-other-user'],
      groupHeaders: ['X-Remote-Group', 'X-Other-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
    };
    const serviceAccount = {
      signingKeyFile: this.write('sa.key', keyPem(makeKey())),
      keyFiles: [this.write('other.pub', publicPem(this.otherKey))],
    };
    const tokenWebhook = { configFile: this.kubeconfigs.kubeconfig(await this.startWebhook(), {}) };
    this.main = await this.start({
      authentication: { tokenAuthFile, bootstrapTokens: true, requestHeader, serviceAccount, tokenWebhook },
      authorization: { modes: ['RBAC'] },
      reconcilers: { controllers: ['*', 'bootstrapsigner', 'tokencleaner'] },
    });
    await this.createRoles();
    await this.createBootstrapTokens();
  }

  private async startWebhook(): Promise<WebhookServer> {
    const webhook = await WebhookServer.start();
    this.webhook = webhook;
    const apiVersion = `${this.naming.group('authentication')}/v1beta1`;
    webhook.answer = (token, response) => {
      const username = token.startsWith('hook-') && token !== 'hook-refused' ? token.slice('hook-'.length) : undefined;
      const error = username === 'with-error' ? { error: 'a part of it failed' } : {};
      const user = { username, groups: ['hooked'] };
      respond(response, username === undefined ? { authenticated: false } : { authenticated: true, user, ...error }, {
        apiVersion,
      });
    };
    return webhook;
  }

  /** Lets everybody ask for its user, and the users imp and local impersonate others. */
  private async createRoles(): Promise<void> {
    const { naming, main } = this;
    const group = naming.group('rbac.authorization');
    const identities = naming.group('authentication');
    const rbac = `/apis/${group}/v1`;
    const names = (apiGroup: string, resource: string, ...resourceNames: string[]) => ({
      ...{ apiGroups: [apiGroup], resources: [resource], verbs: ['impersonate'], resourceNames },
    });
    const rules = [
      names('', 'users', 'alice'),
      names('', 'groups', 'readers', 'writers'),
      names('', 'serviceaccounts', 'default'),
      names(identities, 'userextras/scopes', 'view', 'edit'),
      names(identities, 'userextras/example.com/team', 'blue'),
      names(identities, 'uids', 'any: text/7'),
    ];
    const reviews = [{ apiGroups: [identities], resources: ['selfsubjectreviews'], verbs: ['create'] }];
    const bind = (name: string, kind: string, subject: string) => ({
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: name === 'local' ? 'imp' : name },
      subjects: [{ apiGroup: group, kind, name: subject }],
    });
    await this.create(`${rbac}/clusterroles`, { metadata: { name: 'imp' }, rules });
    await this.create(`${rbac}/clusterroles`, { metadata: { name: 'who' }, rules: reviews });
    await this.create(`${rbac}/clusterrolebindings`, bind('imp', 'User', 'imp'));
    await this.create(`${rbac}/clusterrolebindings`, bind('who', 'Group', 'system:unauthenticated'));
    await this.create(`${rbac}/namespaces/default/rolebindings`, bind('local', 'User', 'local'));
    const review = { kind: 'SelfSubjectReview', apiVersion: `${identities}/v1` };
    const who = (client: HttpClient) => client.post(`/apis/${identities}/v1/selfsubjectreviews`, review);
    const nobody = main.client();
    const imp = main.client({ token: 'imp-token', headers: { 'impersonate-user': 'alice' } });
    await eventually('the roles are in force', async () =>
      (await Promise.all([who(nobody), who(imp)])).every(({ code }) => code === 201),
    );
  }

  private async createBootstrapTokens(): Promise<void> {
    const { naming } = this;
    const infos = `/api/v1/namespaces/${naming.systemNamespace('public')}/configmaps`;
    await this.create(infos, { metadata: { name: 'cluster-info' }, data: { kubeconfig: clusterInfo } });
    await this.createBootstrapToken('tokjoi', { 'auth-extra-groups': 'system:bootstrappers:workers' });
    await this.createBootstrapToken('toksig', { 'usage-bootstrap-authentication': 'false' });
    await this.createBootstrapToken('tokold', { expiration: '2020-01-01T00:00:00Z' });
  }

  async createBootstrapToken(id: string, data: Record<string, string>): Promise<void> {
    const type = this.naming.label('token', 'bootstrap');
    const secrets = `/api/v1/namespaces/${this.naming.systemNamespace('system')}/secrets`;
    await this.create(secrets, tokenSecret(id, '0123456789abcdef', data, type));
  }

  private async create(collection: string, object: object): Promise<void> {
    const { code, text } = await this.main.admin.post(collection, object);
    if (code !== 201) throw new Error(`${collection}: ${code} ${text}`);
  }
}

const publicPem = (privatePem: string) => String(createPublicKey(privatePem).export({ type: 'spki', format: 'pem' }));
