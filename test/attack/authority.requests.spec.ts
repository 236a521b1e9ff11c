import type { Answer, HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Requests that resemble allowed ones, by users who may read everything but secrets and metrics. */
const rbac = '/apis/rbac.authorization.k8s.io/v1';
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { authorization: { modes: ['RBAC'] }, authentication: { anonymous: true } } },
  );
  const binding = (name: string, role: string) => ({
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
  });
  const paths = [{ nonResourceURLs: ['/open/*', '/livez/*'], verbs: ['*'] }];
  await server.admin.post(`${rbac}/clusterroles`, { metadata: { name: 'paths' }, rules: paths });
  for (const role of ['view', 'paths'])
    await server.admin.post(`${rbac}/clusterrolebindings`, binding(`e-${role}`, role));
  await server.admin.post('/api/v1/namespaces/default/secrets', {
    metadata: { name: 's' },
    stringData: { a: 'hidden' },
  });
});
afterAll(() => server.stop());

const eve = (headers = {}) =>
  server.client({ ...server.keelson.client, headers: { 'impersonate-user': 'eve', ...headers } });
const secrets = '/api/v1/namespaces/default/secrets';
const closed = (answer: Answer) => {
  expect([400, 401, 403, 404, 405]).toContain(answer.code);
  expect(answer.text).not.toContain('aGlkZGVu');
  expect(answer.text).not.toContain('# HELP');
};

it.each([
  secrets,
  `${secrets}/s`,
  `/${secrets}/s`,
  `${secrets}//s`,
  `${secrets}/s/`,
  `/api//v1/namespaces/default/secrets/s`,
  '/api/v1/namespaces/default/./secrets/s',
  '/api/v1/namespaces/default/configmaps/../secrets/s',
  '/api/v1/namespaces/default/configmaps/%2e%2e/secrets/s',
  '/api/v1/namespaces/default%2Fsecrets%2Fs',
  '/api/v1/namespaces/default/secrets%2Fs',
  '/api/v1/namespaces/default/%73ecrets/s',
  '/api/v1/namespaces/default/configmaps%3B/../secrets/s',
  '/api/v1/namespaces/default/configmaps;/secrets/s',
  '/api/v1/namespaces/default/SECRETS/s',
  '/API/v1/namespaces/default/secrets/s',
  '/api/v1/watch/namespaces/default/secrets/s?timeoutSeconds=1',
  '/api/v1/watch/secrets?timeoutSeconds=1',
  '/api/v1/proxy/namespaces/default/secrets/s',
  '/api/v1/secrets',
  '/api/v1/secrets?watch=1&timeoutSeconds=1',
  '/api/v1/secrets?fieldSelector=metadata.name=s',
  '/api/v1/secrets?fieldSelector=metadata.namespace=default',
  `${secrets}?watch=false&limit=1`,
  '/livez/../metrics',
  '/livez/%2e%2e/metrics',
  '/open/../metrics',
  '/metrics',
  '/metrics/',
  '//metrics',
  '/metrics?x',
  '/metrics;x',
  '/%6detrics',
  '/metrics/slis',
  '/debug/pprof/heap',
  '/open/..%2fdebug/pprof/heap',
  'https://x/metrics',
  'https://x?/metrics',
  'https://x/open/..%2f..%2fmetrics',
  'https://x/api/v1/secrets',
])('GET %s does not show eve what she may not read', async (path) => {
  closed(await eve().get(path));
  closed(await eve().head(path));
  closed(await server.client().get(path));
});

it.each(['PROPFIND', 'OPTIONS', 'TRACE', 'SEARCH', 'LINK', 'COPY', 'MOVE', 'PURGE', 'REPORT'])(
  'method %s reads no secrets',
  async (method) => closed(await eve().request(method, `${secrets}/s`)),
);

it.each<[string, Record<string, string | string[]>]>([
  ['X-HTTP-Method-Override', { 'x-http-method-override': 'GET', 'x-original-url': `${secrets}/s` }],
  ['X-Remote-User', { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }],
  ['header names in another case', { 'impersonate-group': 'System:Masters' }],
  ['a zero-width character', { 'impersonate-group': Buffer.from('system:\u200bmasters').toString('latin1') }],
  ['an encoded group', { 'impersonate-group': 'system%3Amasters' }],
  ['a list of groups in one header', { 'impersonate-group': 'a,system:masters' }],
])('%s does not change the user of a request', async (_name, headers) =>
  closed(await eve(headers).get(`${secrets}/s`)),
);

describe('a token of a service account', () => {
  let token: string;
  let robot: (headers?: Record<string, string | string[]>) => HttpClient;
  beforeAll(async () => {
    await server.admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    token = (await server.admin.post('/api/v1/namespaces/default/serviceaccounts/robot/token', {})).body.status.token;
    robot = (headers = {}) => server.client({ token, headers });
  });

  it.each<[string, Record<string, string | string[]>]>([
    ['Impersonate-User', { 'impersonate-user': 'admin' }],
    [
      'Impersonate-User of itself before another',
      { 'impersonate-user': ['system:serviceaccount:default:robot', 'admin'] },
    ],
    ['Impersonate-Group', { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' }],
    ['Impersonate-Uid', { 'impersonate-user': 'x', 'impersonate-uid': '1' }],
    ['Impersonate-Extra-', { 'impersonate-user': 'x', 'impersonate-extra-scopes%2fa': 'b' }],
    ['X-Remote-User', { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }],
    ['a bearer subprotocol', { 'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.YWRtaW4' }],
  ])('%s does not add rights', async (_name, headers) => closed(await robot(headers).get(secrets)));

  it.each([
    ['for another account', '/api/v1/namespaces/kube-system/serviceaccounts/default/token'],
    ['for itself', '/api/v1/namespaces/default/serviceaccounts/robot/token'],
  ])('gets no token %s', async (_name, path) => closed(await robot().post(path, {})));

  it.each([
    ['a CertificateSigningRequest', '/apis/certificates.k8s.io/v1/certificatesigningrequests', {}],
    ['a TokenReview', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }],
    ['a SubjectAccessReview', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'x' } }],
    ['a Pod', '/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { containers: [] } }],
    ['a binding', '/api/v1/namespaces/default/pods/p/binding', { target: { name: 'n' } }],
    ['an exec', '/api/v1/namespaces/default/pods/p/exec?command=sh', {}],
    ['an eviction', '/api/v1/namespaces/default/pods/p/eviction', {}],
    ['a namespace finalize', '/api/v1/namespaces/default/finalize', {}],
  ])('may not create %s', async (_name, path, body) => {
    closed(await robot().post(path, body));
    closed(await robot().post(`${path}${path.includes('?') ? '&' : '?'}dryRun=All`, body));
  });
});

it('with AlwaysAllow, requests without credentials are refused even with --anonymous-auth (401)', async () => {
  for (const authentication of [{}, { anonymous: true }]) {
    const open = await startTestServer(
      { store: 'memory', naming: 'kubernetes' },
      { config: { authorization: { modes: ['AlwaysAllow'] }, authentication } },
    );
    const codes = await Promise.all(
      ['/livez', '/api', secrets].map(async (path) => (await open.client().get(path)).code),
    );
    await open.stop();
    expect(codes).toEqual([401, 401, 401]);
  }
});
