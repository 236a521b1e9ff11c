import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient, Protocol } from '../harness/http-client.js';
import { startTestServer, type NamingName, type TestServer } from '../harness/servers.js';

// The rules of authorization, titled by their wording.

const shop = '/api/v1/namespaces/shop';
const configMaps = `${shop}/configmaps`;
const mergePatch = { 'content-type': 'application/merge-patch+json' };

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}
const core = (resource: string, ...verbs: string[]): Rule => ({ apiGroups: [''], resources: [resource], verbs });

/** A server with RBAC, and users with rules of their own. */
class World {
  private count = 0;
  constructor(
    readonly server: TestServer,
    readonly group: string,
    private readonly protocol: Protocol,
    readonly prefix: string,
  ) {}

  get rbac(): string {
    return `/apis/${this.group}/v1`;
  }

  async create(path: string, object: object): Promise<void> {
    const answer = await this.server.admin.post(path, object);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  }

  /** A client of a new user who holds the rules in all namespaces, or in one. */
  async user(rules: readonly Rule[], namespace?: string): Promise<HttpClient> {
    const name = `${this.prefix}-${++this.count}`;
    const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
    const [role, binding] = namespace === undefined ? ['ClusterRole', 'clusterrolebindings'] : ['Role', 'rolebindings'];
    await this.create(`${this.rbac}${scope}/${role.toLowerCase()}s`, { metadata: { name }, rules });
    await this.create(`${this.rbac}${scope}/${binding}`, {
      metadata: { name },
      roleRef: { apiGroup: this.group, kind: role, name },
      subjects: [{ apiGroup: this.group, kind: 'User', name }],
    });
    return this.as(name);
  }

  as(name: string): HttpClient {
    const headers = { 'impersonate-user': name };
    return this.server.client({ ...this.server.keelson.client, protocol: this.protocol, headers });
  }
}

let directory: string;
let tokenAuthFile: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-rules-'));
  tokenAuthFile = join(directory, 'tokens.csv');
  await writeFile(tokenAuthFile, 'imp-one-token,imp-one,1\nimp-two-token,imp-two,2');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function start(naming: NamingName, authorization: ConfigOverrides['authorization'] = { modes: ['RBAC'] }) {
  const apiDomain = naming === 'svc' ? 'example.com' : 'k8s.io';
  const server = await startTestServer(
    { store: 'memory', naming },
    { config: { authorization, authentication: { tokenAuthFile }, naming: { apiDomain } } },
  );
  return { server, group: `rbac.authorization.${apiDomain}` };
}

describe.each<NamingName>(['kubernetes', 'svc'])('naming profile %s', (naming) => {
  let started: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    started = await start(naming);
    const { admin } = started.server;
    expect((await admin.post('/api/v1/namespaces', { metadata: { name: 'shop' } })).code).toBe(201);
    expect((await admin.post(configMaps, { metadata: { name: 'one' }, data: { a: 'b' } })).code).toBe(201);
  });
  afterAll(() => started.server.stop());

  describe.each<Protocol>(['http/1.1', 'h2'])('%s', (protocol) => {
    let world: World;
    beforeAll(() => {
      world = new World(started.server, started.group, protocol, protocol === 'h2' ? 'two' : 'one');
    });

    it('authorization runs after authentication: invalid credentials are 401, not 403', async () => {
      const { code } = await world.server.client({ token: 'unknown', protocol }).get(configMaps);
      expect(code).toBe(401);
    });

    it('authorization runs before admission: an object that admission refuses is 403', async () => {
      const stranger = await world.user([]);
      const inLostNamespace = '/api/v1/namespaces/lost/configmaps';
      expect((await stranger.post(inLostNamespace, { metadata: { name: 'x' } })).code).toBe(403);
      expect((await world.server.admin.post(inLostNamespace, { metadata: { name: 'x' } })).code).toBe(404);
    });

    it('the default is deny', async () => {
      const stranger = await world.user([]);
      const { code, body } = await stranger.get(`${configMaps}/one`);
      expect([code, body.reason, body.message]).toEqual([
        403,
        'Forbidden',
        expect.stringMatching(
          /^configmaps "one" is forbidden: User "\S+" cannot get resource "configmaps" in API group "" in the namespace "shop"$/,
        ),
      ]);
    });

    const verbs: [
      rule: string,
      verb: string,
      method: string,
      path: string,
      body?: object,
      headers?: Record<string, string>,
    ][] = [
      ['POST is create', 'create', 'POST', `${configMaps}?dryRun=All`, { metadata: { name: 'two' } }],
      ['GET of one is get', 'get', 'GET', `${configMaps}/one`],
      ['HEAD of one is get', 'get', 'HEAD', `${configMaps}/one`],
      ['GET of a collection is list', 'list', 'GET', configMaps],
      ['HEAD of a collection is list', 'list', 'HEAD', configMaps],
      ['GET with watch is watch', 'watch', 'GET', `${configMaps}?watch=1&timeoutSeconds=1&labelSelector=none`],
      ['PUT is update', 'update', 'PUT', `${configMaps}/one?dryRun=All`, { metadata: { name: 'one' } }],
      ['PATCH is patch', 'patch', 'PATCH', `${configMaps}/one?dryRun=All`, {}, mergePatch],
      ['DELETE of one is delete', 'delete', 'DELETE', `${configMaps}/one?dryRun=All`],
      ['DELETE of a collection is deletecollection', 'deletecollection', 'DELETE', `${configMaps}?dryRun=All`],
    ];
    it.each(verbs)('%s', async (_rule, verb, method, path, body = undefined, headers = {}) => {
      const others = [...new Set(verbs.map(([, other]) => other))].filter((other) => other !== verb);
      const request = (client: HttpClient) => client.request(method, path, { headers, ...(body && { body }) });
      const allowed = await request(await world.user([core('configmaps', verb)]));
      expect(Math.floor(allowed.code / 100)).toBe(2);
      expect((await request(await world.user([core('configmaps', ...others)]))).code).toBe(403);
    });

    it.each<[attribute: string, rule: Rule, allowed: string, refused: string]>([
      ['resource', core('configmaps', 'list'), configMaps, `${shop}/secrets`],
      ['subresource', core('pods/log', 'get'), `${shop}/pods/none/log`, `${shop}/pods/none`],
      ['subresource (none)', core('pods', 'get'), `${shop}/pods/none`, `${shop}/pods/none/log`],
      ['name', { ...core('configmaps', 'get'), resourceNames: ['one'] }, `${configMaps}/one`, `${configMaps}/other`],
      ['API group', core('events', 'list'), `${shop}/events`, '/apis/apps/v1/namespaces/shop/deployments'],
      ['request path (non-resource)', { nonResourceURLs: ['/metrics'], verbs: ['get'] }, '/metrics', '/logs'],
      ['request path with *', { nonResourceURLs: ['/metrics/*'], verbs: ['get'] }, '/metrics/slis', '/metrics'],
    ])('attributes examined: %s', async (_attribute, rule, allowed, refused) => {
      const user = await world.user([rule]);
      expect((await user.get(allowed)).code).not.toBe(403);
      expect((await user.get(refused)).code).toBe(403);
    });

    it('attributes examined: namespace', async () => {
      const user = await world.user([core('configmaps', 'list')], 'shop');
      expect((await user.get(configMaps)).code).toBe(200);
      expect((await user.get('/api/v1/namespaces/default/configmaps')).code).toBe(403);
      expect((await user.get('/api/v1/configmaps')).code).toBe(403);
    });

    it('a request outside /api/v1 and /apis/<group>/<version> is a non-resource request; its verb is the lowercase HTTP method', async () => {
      const getter = await world.user([{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]);
      expect((await getter.get('/metrics')).code).toBe(200);
      const refused = await getter.post('/metrics', {});
      expect([refused.code, refused.body.message]).toEqual([
        403,
        expect.stringMatching(/^forbidden: User "\S+" cannot post path "\/metrics"$/),
      ]);
      const poster = await world.user([{ nonResourceURLs: ['/metrics'], verbs: ['post'] }]);
      expect((await poster.post('/metrics', {})).code).not.toBe(403);
      expect((await poster.get('/metrics')).code).toBe(403);
    });

    it('get, list and watch can all expose full content', async () => {
      const lister = await world.user([core('configmaps', 'list')]);
      const { items } = (await lister.get(`${configMaps}?fieldSelector=metadata.name=one`)).body as { items: object[] };
      expect(items).toMatchObject([{ data: { a: 'b' } }]);
      const watcher = await world.user([core('configmaps', 'watch')]);
      const watch = await watcher.watch(`${configMaps}?watch=1&resourceVersion=0&fieldSelector=metadata.name=one`);
      expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { data: { a: 'b' } } });
      watch.close();
    });

    it('special verb impersonate', async () => {
      const imp = `imp-${world.prefix}`;
      const impersonator = world.server.client({
        token: `${imp}-token`,
        protocol,
        headers: { 'impersonate-user': 'ann' },
      });
      const refused = await impersonator.get('/api');
      expect([refused.code, refused.body.message]).toEqual([403, expect.stringContaining('cannot impersonate')]);
      const name = `may-${imp}`;
      const rule: Rule = { ...core('users', 'impersonate'), resourceNames: ['ann'] };
      await world.create(`${world.rbac}/clusterroles`, { metadata: { name }, rules: [rule] });
      await world.create(`${world.rbac}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: world.group, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: world.group, kind: 'User', name: imp }],
      });
      expect((await impersonator.get('/api')).code).toBe(200);
      const others = world.server.client({ token: `${imp}-token`, protocol, headers: { 'impersonate-user': 'bob' } });
      expect((await others.get('/api')).code).toBe(403);
    });

    it.each([
      [
        'bind',
        'rolebindings',
        (world: World) => ({ roleRef: { apiGroup: world.group, kind: 'Role', name: 'strong' }, subjects: [] }),
      ],
      ['escalate', 'roles', () => ({ rules: [core('secrets', '*')] })],
    ])('special verb %s', async (verb, plural, content) => {
      // prettier-ignore
      const rights: Rule = { apiGroups: [world.group], resources: ['roles', 'rolebindings'], verbs: ['create'] };
      const path = `${world.rbac}/namespaces/shop/${plural}?dryRun=All`;
      const object = { metadata: { name: 'granted' }, ...content(world) };
      const strong = { metadata: { name: 'strong' }, rules: [core('secrets', '*')] };
      expect([201, 409]).toContain((await world.server.admin.post(`${world.rbac}/namespaces/shop/roles`, strong)).code);
      const weak = await world.user([rights]);
      expect((await weak.post(path, object)).code).toBe(403);
      const holder = await world.user([rights, { apiGroups: [world.group], resources: ['roles'], verbs: [verb] }]);
      expect((await holder.post(path, object)).code).toBe(201);
    });

    it('a PUT or an apply that creates an object needs create', async () => {
      const put = (client: HttpClient) =>
        client.request('PUT', `/apis/coordination.${naming === 'svc' ? 'example.com' : 'k8s.io'}/v1/namespaces/shop/leases/new?dryRun=All`, { body: { metadata: { name: 'new' }, spec: {} } }); // prettier-ignore
      const apply = (client: HttpClient) =>
        client.request('PATCH', `${configMaps}/applied?fieldManager=m&dryRun=All`, {
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } },
        });
      const rules = (...verbs: string[]): Rule[] => [{ apiGroups: ['*'], resources: ['configmaps', 'leases'], verbs }];
      const without = await world.user(rules('update', 'patch'));
      for (const answer of [await put(without), await apply(without)]) {
        expect([answer.code, answer.body.message]).toEqual([403, expect.stringContaining('cannot create resource')]);
      }
      const holder = await world.user(rules('update', 'patch', 'create'));
      expect([(await put(holder)).code, (await apply(holder)).code]).toEqual([201, 201]);
    });

    it('members of system:masters pass all checks', async () => {
      expect((await world.server.client({ ...world.server.keelson.client, protocol }).get('/metrics')).code).toBe(200);
    });
  });

  describe('modes', () => {
    let server: TestServer;
    afterEach(() => server.stop());
    const codeOfStranger = async (modes: NonNullable<ConfigOverrides['authorization']>['modes'], path: string) => {
      ({ server } = await start(naming, { ...(modes && { modes }) }));
      const headers = { 'impersonate-user': 'stranger' };
      return (await server.client({ ...server.keelson.client, headers }).get(path)).code;
    };

    it('modules are consulted in order; the first to allow or deny decides', async () => {
      expect(await codeOfStranger(['RBAC', 'AlwaysAllow'], '/api/v1/secrets')).toBe(200);
    });
    it('AlwaysAllow before AlwaysDeny allows', async () => {
      expect(await codeOfStranger(['AlwaysAllow', 'AlwaysDeny'], '/api/v1/secrets')).toBe(200);
    });
    it('AlwaysDeny allows nothing', async () => {
      expect(await codeOfStranger(['AlwaysDeny'], '/api/v1/secrets')).toBe(403);
    });
    it('if all have no opinion, the request is denied with 403', async () => {
      expect(await codeOfStranger(['Node', 'RBAC'], '/api/v1/secrets')).toBe(403);
    });
  });
});

describeWithEtcd('two servers on one etcd', () => {
  it('a removed binding is effective on every server', async () => {
    const etcd = await EtcdCluster.start();
    const servers: TestServer[] = [];
    try {
      const { servers: urls } = etcd.storeOptions;
      const storage = { etcd: { servers: urls, prefix: '/shared' } };
      for (let i = 0; i < 2; i++) {
        const config = { authorization: { modes: ['RBAC'] as const }, storage };
        servers.push(await startTestServer({ store: 'etcd', naming: 'kubernetes' }, { etcd, config }));
      }
      const [first, second] = servers as [TestServer, TestServer];
      const world = new World(first, 'rbac.authorization.k8s.io', 'h2', 'u');
      await world.user([core('secrets', 'list')]);
      const headers = { 'impersonate-user': 'u-1' };
      const elsewhere = second.client({ ...second.keelson.client, headers });
      const code = async () => (await elsewhere.get('/api/v1/secrets')).code;
      await eventually('the binding is effective', async () => (await code()) === 200);
      const deleted = await first.admin.delete(`${world.rbac}/clusterrolebindings/u-1`);
      expect(deleted.code).toBe(200);
      await eventually('the binding is gone', async () => (await code()) === 403);
      const here = world.as('u-1');
      await eventually('it is gone here too', async () => (await here.get('/api/v1/secrets')).code === 403);
    } finally {
      for (const server of servers) await server.stop();
      await etcd.stop();
    }
  });
});
