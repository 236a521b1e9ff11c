import { rm } from 'node:fs/promises';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { printedBy } from '../harness/printed-command.js';
import { startTestServer, type NamingName, type TestServer } from '../harness/servers.js';

// `keelson explain-access` against a running server, and --explain-forbidden, as an administrator and a stranger see them.

interface World {
  readonly server: TestServer;
  readonly domain: string;
  readonly kubeconfig: string;
  readonly strangersKubeconfig: string;
}

const tokens = ['ann-token,ann,1,"devs"', 'eve-token,eve,2,""', 'admin-token,root,3,"system:masters"'].join('\n');

async function startWorld(directory: string, naming: NamingName): Promise<World> {
  const tokenAuthFile = join(directory, `${naming}.csv`);
  await writeFile(tokenAuthFile, tokens);
  const domain = naming === 'svc' ? 'example.com' : 'k8s.io';
  const authorization = { modes: ['Node', 'RBAC'] as const, explainForbidden: true };
  const server = await startTestServer(
    { store: 'memory', naming },
    { config: { authorization, authentication: { tokenAuthFile }, naming: { apiDomain: domain } } },
  );
  const kubeconfig = async (token: string) => {
    const file = join(directory, `${naming}-${token}.kubeconfig`);
    const cluster = {
      server: server.url,
      'certificate-authority-data': Buffer.from(server.keelson.ca).toString('base64'),
    };
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'c', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c', namespace: 'default' } }],
    };
    await writeFile(file, JSON.stringify(config));
    return file;
  };
  return {
    server,
    domain,
    kubeconfig: await kubeconfig('admin-token'),
    strangersKubeconfig: await kubeconfig('ann-token'),
  };
}

describe.each<NamingName>(['kubernetes', 'svc'])('%s', (naming) => {
  let directory: string;
  let world: World;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-explain-'));
    world = await startWorld(directory, naming);
    const group = `rbac.authorization.${world.domain}`;
    const rbac = `/apis/${group}/v1`;
    const create = async (path: string, object: object) => {
      const answer = await world.server.admin.post(path, object);
      expect([answer.code, answer.body.message]).toEqual([201, undefined]);
    };
    await create(`${rbac}/namespaces/default/roles`, {
      metadata: { name: 'reader' },
      rules: [
        { apiGroups: [''], resources: ['secrets'], verbs: ['list'] },
        { apiGroups: ['', 'apps'], resources: ['pods', 'deployments'], verbs: ['get', 'list'] },
      ],
    });
    await create(`${rbac}/namespaces/default/rolebindings`, {
      metadata: { name: 'devs-read' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'devs' }],
    });
    const ann = world.server.client({ token: 'ann-token' });
    await eventually('ann reads Pods', async () => (await ann.get('/api/v1/namespaces/default/pods')).code === 200);
  });
  afterAll(async () => {
    await world.server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const explain = (words: readonly string[], kubeconfig = world.kubeconfig) =>
    printedBy(['explain-access', '--kubeconfig', kubeconfig, ...words]);

  it('prints the binding, the role and the rule that allow a request', async () => {
    expect(await explain(['--as', 'ann', '--as-group', 'devs', 'get', 'deploy/web'])).toEqual({
      code: 0,
      err: '',
      out: [
        'allowed: ann get deployments.apps "web" in the namespace "default"',
        '',
        'AUTHORIZER        DECISION    REASON',
        'privileged-group  no opinion',
        'Node              no opinion',
        'RBAC              allow       RBAC: allowed by RoleBinding "devs-read/default" of Role "reader" to Group "devs"',
        '  binding                     RoleBinding default/devs-read',
        '  role                        Role default/reader',
        '  rule                        {verbs: ["get", "list"], apiGroups: ["", "apps"], resources: ["pods", "deployments"]}',
        '',
      ].join('\n'),
    });
  });

  it('prints the rule that a refused request requires', async () => {
    const { code, out } = await explain([
      '--as',
      'ann',
      '--as-group',
      'devs',
      'get',
      'pods/web',
      '--subresource',
      'log',
    ]);
    expect([code, out.split('\n')[0]]).toEqual([1, 'not allowed: ann get pods/log "web" in the namespace "default"']);
    expect(out).toContain('RBAC              no opinion\n');
    expect(out).toContain(
      'An RBAC rule that allows it: {apiGroups: [""], resources: ["pods/log"], resourceNames: ["web"], verbs: ["get"]}\n',
    );
  });

  it('names the authorizers that are not asked after a decision', async () => {
    const { code, out } = await explain(['--as', 'ann', '--as-group', 'system:masters', 'get', '/metrics']);
    expect([code, out.split('\n').slice(3, 6)]).toEqual([
      0,
      ['privileged-group  allow', 'Node              not asked', 'RBAC              not asked'],
    ]);
  });

  it('prints the answer as JSON, and the reason of the Node authorizer', async () => {
    const words = ['--as', 'system:node:n', '--as-group', 'system:nodes', 'get', 'secret/s', '-o', 'json'];
    const { code, out } = await explain(words);
    expect(code).toBe(1);
    const reason = "no relationship found between node 'n' and this object";
    expect(JSON.parse(out)).toMatchObject({
      status: { allowed: false, reason },
      explanation: {
        authorizers: [{ name: 'privileged-group' }, { name: 'Node', decision: 'no opinion', reason }, {}],
      },
    });
  });

  it.each<[string, string[], string]>([
    ['without a user', ['get', 'pods'], 'keelson explain-access: give --as USER, a verb and a resource'],
    ['without a resource', ['--as', 'ann', 'get'], 'keelson explain-access: give --as USER, a verb and a resource'],
    ['without its kubeconfig', ['--as', 'ann', 'get', 'pods', '--kubeconfig', '/nowhere'], 'there is no such file'],
  ])('%s the exit code is 2', async (_what, words, message) => {
    const { code, out, err } = await explain(words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });

  it('an unknown resource is asked for by its name, with a message', async () => {
    const { code, out, err } = await explain(['--as', 'ann', 'get', 'gadgets.shop.example.com/g']);
    expect([code, out.split('\n')[0]]).toEqual([1, 'not allowed: ann get gadgets.shop.example.com "g" in the namespace "default"']); // prettier-ignore
    expect(err).toBe('keelson explain-access: the server has no resource "gadgets.shop.example.com"; the name is used as it is\n'); // prettier-ignore
  });

  it('a user who may not create SubjectAccessReviews gets no explanation (403)', async () => {
    const { code, out, err } = await explain(['--as', 'ann', 'get', 'pods'], world.strangersKubeconfig);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('cannot create resource "subjectaccessreviews"');
  });

  it('a SelfSubjectAccessReview and a review without explain=true have no explanation', async () => {
    const ann = world.server.client({ token: 'ann-token' });
    const reviews = `/apis/authorization.${world.domain}/v1`;
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };
    const self = await ann.post(`${reviews}/selfsubjectaccessreviews?explain=true`, { spec: { resourceAttributes } });
    const spec = { user: 'ann', groups: ['devs'], resourceAttributes };
    const plain = await world.server.admin.post(`${reviews}/subjectaccessreviews`, { spec });
    const localPath = `${reviews}/namespaces/default/localsubjectaccessreviews?explain=true`;
    const local = await world.server.admin.post(localPath, { metadata: { namespace: 'default' }, spec });
    for (const { code, body } of [self, plain, local]) {
      expect([code, body.status.allowed, body.metadata.annotations]).toEqual([201, true, undefined]);
    }
  });

  it('--explain-forbidden adds the required rule to a 403, and names no role', async () => {
    const eve = world.server.client({ token: 'eve-token' });
    const scaled = await eve.request('PUT', `/apis/apps/v1/namespaces/default/deployments/web/scale`, { body: '{}' });
    expect([scaled.code, scaled.body.message]).toEqual([
      403,
      'deployments.apps "web" is forbidden: User "eve" cannot update resource "deployments/scale" in API group "apps" in the namespace "default": requires the rule {apiGroups: ["apps"], resources: ["deployments/scale"], resourceNames: ["web"], verbs: ["update"]} in the namespace "default"',
    ]);
    expect((await eve.get('/api/v1/nodes')).body.message).toBe(
      'nodes is forbidden: User "eve" cannot list resource "nodes" in API group "" at the cluster scope: requires the rule {apiGroups: [""], resources: ["nodes"], verbs: ["list"]} at the cluster scope',
    );
    expect((await eve.get('/metrics')).body.message).toBe(
      'forbidden: User "eve" cannot get path "/metrics": requires the rule {nonResourceURLs: ["/metrics"], verbs: ["get"]} at the cluster scope',
    );
    const asAnn = await eve.request('GET', '/api/v1/nodes', { headers: { 'impersonate-user': 'ann' } });
    expect(asAnn.body.message).toBe(
      'nodes is forbidden: User "eve" cannot impersonate-on:user-info:list resource "nodes" in API group "" at the cluster scope: requires the rule {apiGroups: [""], resources: ["nodes"], verbs: ["impersonate-on:user-info:list"]} at the cluster scope',
    );
  });
});
