import { makeAuthority, makeClientPair, makeKey, signerOf } from '../../src/certificates/authority.js';
import { startTestAgent, type TestAgent } from '../harness/agents.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import type { ClientOptions, Protocol } from '../harness/http-client.js';
import { startRbacServer } from '../harness/rbac-users.js';
import type { TestServer } from '../harness/servers.js';

const files = new ClientKubeconfigs();
const protocols: readonly Protocol[] = ['http/1.1', 'h2'];
type Identity = Pick<ClientOptions, 'certificate' | 'key'>;
let server: TestServer;
let kubeconfig: string;
let clientCa: string;
const certificates = {} as Record<'known' | 'foreign', Identity>;
/** Tokens of service accounts by the subresource of nodes that each may use with all verbs. */
const tokens: Record<string, string> = {};
const subresources = ['proxy', 'stats', 'log', 'spec', 'metrics', 'pods', 'checkpoint'];
const agents: TestAgent[] = [];

async function agentWith(...flags: string[]): Promise<TestAgent> {
  const agent = await startTestAgent(['--container-runtime-endpoint=none', ...flags]);
  agents.push(agent);
  return agent;
}

async function tokenOf(name: string): Promise<string> {
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  const answer = await server.admin.post(path, { spec: {} });
  expect(answer.code).toBe(201);
  return (answer.body as { status: { token: string } }).status.token;
}

async function grant(name: string, rule: object): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await server.admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name } });
  await server.admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules: [rule] });
  await server.admin.post(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  });
}

beforeAll(async () => {
  ({ server } = await startRbacServer());
  kubeconfig = files.kubeconfig(server.keelson, {
    'client-certificate-data': Buffer.from(server.keelson.client.certificate).toString('base64'),
    'client-key-data': Buffer.from(server.keelson.client.key).toString('base64'),
  });
  const pairs = await Promise.all(
    ['known', 'foreign'].map(async (name) => {
      const key = makeKey();
      const pem = await makeAuthority(key, Date.now());
      const subject = { commonName: `user-${name}`, organizations: ['ops'] };
      return { pem, pair: await makeClientPair(signerOf(pem, key), subject, Date.now()) };
    }),
  );
  clientCa = files.write('client-ca.crt', pairs[0]!.pem);
  [certificates.known, certificates.foreign] = [pairs[0]!.pair, pairs[1]!.pair];
  for (const name of subresources) {
    await grant(name, { apiGroups: [''], resources: [`nodes/${name}`], verbs: ['*'] });
    tokens[name] = await tokenOf(name);
  }
  const getOnly = { apiGroups: [''], resources: ['nodes/proxy'], verbs: ['get'] };
  await grant('get-only', getOnly);
  await grant('other-node', { ...getOnly, resourceNames: ['node-2'] });
  for (const name of ['get-only', 'other-node']) tokens[name] = await tokenOf(name);
});
afterAll(async () => {
  for (const agent of agents) await agent.stop();
  await server.stop();
  files.remove();
});

describe.each(protocols)('authentication over %s', (protocol) => {
  const codeOf = async (agent: TestAgent, options: Partial<ClientOptions> = {}) => {
    const { code, text } = await agent.client({ protocol, ...options }).get('/healthz');
    return [code, text];
  };
  const allowed = [200, 'ok'];
  const refused = [401, 'Unauthorized'];

  it(`the agent allows anonymous requests over ${protocol} by default`, async () => {
    const agent = await agentWith();
    expect(await codeOf(agent)).toEqual(allowed);
    expect(await codeOf(agent, { token: 'unknown' })).toEqual(allowed);
    expect(await codeOf(agent, certificates.known)).toEqual(allowed);
  });

  it(`--anonymous-auth=false refuses requests over ${protocol} without credentials`, async () => {
    const agent = await agentWith('--anonymous-auth=false');
    expect(await codeOf(agent)).toEqual(refused);
    expect(await codeOf(agent, { token: 'unknown' })).toEqual(refused);
    expect(await codeOf(agent, certificates.known)).toEqual(refused);
  });

  it(`--client-ca-file accepts client certificates of its CAs over ${protocol} and refuses others`, async () => {
    const strict = await agentWith('--anonymous-auth=false', `--client-ca-file=${clientCa}`);
    expect(await codeOf(strict, certificates.known)).toEqual(allowed);
    expect(await codeOf(strict, certificates.foreign)).toEqual(refused);
    expect(await codeOf(strict)).toEqual(refused);
    const open = await agentWith(`--client-ca-file=${clientCa}`);
    expect(await codeOf(open, certificates.foreign)).toEqual(refused);
    expect(await codeOf(open)).toEqual(allowed);
  });

  it(`--authentication-token-webhook asks the API server for bearer tokens over ${protocol}`, async () => {
    const agent = await agentWith(
      `--kubeconfig=${kubeconfig}`,
      '--authentication-token-webhook',
      '--anonymous-auth=false',
    );
    expect(await codeOf(agent, { token: tokens['proxy'] })).toEqual(allowed);
    expect(await codeOf(agent, { token: 'unknown' })).toEqual(refused);
    expect(await codeOf(agent)).toEqual(refused);
    const open = await agentWith(`--kubeconfig=${kubeconfig}`, '--authentication-token-webhook');
    expect(await codeOf(open, { token: 'unknown' })).toEqual(refused);
    expect(await codeOf(open)).toEqual(allowed);
  });
});

describe.each(protocols)('authorization over %s', (protocol) => {
  let agent: TestAgent;
  const send = (user: string | undefined, method: string, path: string) =>
    agent.client({ protocol, token: user === undefined ? undefined : tokens[user] }).request(method, path);
  beforeAll(async () => {
    agent = await agentWith(
      `--kubeconfig=${kubeconfig}`,
      '--authentication-token-webhook',
      '--authorization-mode=Webhook',
      '--feature-gates=KubeletFineGrainedAuthz=true',
    );
  });

  it.each([
    ['GET', '/stats/summary', 'stats', 'get', 'stats'],
    ['GET', '/stats', 'stats', 'get', 'stats'],
    ['GET', '/metrics', 'metrics', 'get', 'metrics'],
    ['GET', '/metrics/cadvisor', 'metrics', 'get', 'metrics'],
    ['GET', '/%6detrics', 'metrics', 'get', 'metrics'],
    ['GET', '/logs/', 'log', 'get', 'log'],
    ['GET', '/logs/a/b', 'log', 'get', 'log'],
    ['GET', '/spec/', 'spec', 'get', 'spec'],
    ['GET', '/statsx', 'proxy', 'get', 'proxy'],
    ['GET', '/containerLogs/a/b/c', 'proxy', 'get', 'proxy'],
    ['GET', '/anything', 'proxy', 'get', 'proxy'],
    ['GET', '/pods', 'proxy', 'get', 'pods proxy'],
    ['GET', '/pods', 'pods', 'get', 'pods proxy'],
    ['POST', '/exec/a/b/c', 'proxy', 'create', 'proxy'],
    ['POST', '/checkpoint/a/b/c', 'proxy', 'create', 'checkpoint proxy'],
    ['PUT', '/anything', 'proxy', 'update', 'proxy'],
    ['PATCH', '/anything', 'proxy', 'patch', 'proxy'],
    ['DELETE', '/anything', 'proxy', 'delete', 'proxy'],
  ])(`%s %s over ${protocol} is allowed for nodes/%s, and refused with its verb and subresources`, async (...row) => {
    const [method, path, subresource, verb, asked] = row;
    expect([401, 403, 500]).not.toContain((await send(subresource, method, path)).code);
    const other = ['spec', 'stats'].find((name) => name !== subresource)!;
    expect(await send(other, method, path)).toMatchObject({
      code: 403,
      text:
        `Forbidden (user=system:serviceaccount:default:${other}, verb=${verb}, resource=nodes, ` +
        `subresource(s)=[${asked}])\n`,
    });
    expect(await send(undefined, method, path)).toMatchObject({
      code: 403,
      text: `Forbidden (user=system:anonymous, verb=${verb}, resource=nodes, subresource(s)=[${asked}])\n`,
    });
  });

  it(`HEAD over ${protocol} needs the verb get`, async () => {
    expect((await send('get-only', 'HEAD', '/healthz')).code).toBe(200);
    expect((await send('stats', 'HEAD', '/healthz')).code).toBe(403);
  });

  it(`a role over ${protocol} may name the verb and the Node`, async () => {
    expect((await send('get-only', 'GET', '/healthz')).code).toBe(200);
    expect((await send('get-only', 'POST', '/exec/a/b/c')).code).toBe(403);
    expect((await send('other-node', 'GET', '/healthz')).code).toBe(403);
  });

  it(`an unusual method or path over ${protocol} needs all verbs of nodes/proxy`, async () => {
    expect((await send('get-only', 'OPTIONS', '/healthz')).code).toBe(403);
    expect((await send('get-only', 'GET', '/metrics/../healthz')).code).toBe(403);
  });
});

it('AlwaysAllow is the default authorization of the agent', async () => {
  const agent = await agentWith();
  expect((await agent.client().request('DELETE', '/anything')).code).toBe(404);
});

it('an API server that cannot be asked for access is a 500, and for a token a 401', async () => {
  const gone = files.kubeconfig({ url: 'https://127.0.0.1:1', ca: server.keelson.ca }, { token: 'x' });
  const agent = await agentWith(
    `--kubeconfig=${gone}`,
    '--authorization-mode=Webhook',
    '--authentication-token-webhook',
  );
  expect(await agent.client().get('/healthz')).toMatchObject({
    code: 500,
    text: 'Authorization error (user=system:anonymous, verb=get, resource=nodes, subresource=healthz)',
  });
  expect((await agent.client({ token: 'some' }).get('/healthz')).code).toBe(401);
});
