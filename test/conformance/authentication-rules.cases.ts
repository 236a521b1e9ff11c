import {
  aPod,
  as,
  created,
  del,
  get,
  keep,
  ok,
  pod,
  post,
  put,
  refused,
  type Row,
  type Step,
  type Table,
  type Want,
} from './case.js';

/** One row for each rule of the tables on authentication, with the words of the rule as its name. */
type Headers = Record<string, string | string[]>;

const whoAmI = (headers?: Headers): Step =>
  as(
    'nobody',
    post(
      '/apis/{group:authentication}/v1/selfsubjectreviews',
      { kind: 'SelfSubjectReview', apiVersion: '{group:authentication}/v1' },
      headers,
    ),
  );
const withToken = (token: string, more: Headers = {}) => whoAmI({ authorization: `Bearer ${token}`, ...more });
const user = (username: string, more: object = {}): Want => created({ status: { userInfo: { username, ...more } } });
const known = 'system:authenticated';
const unauthorized = refused(401, 'Unauthorized', 'Unauthorized');
const anonymous = user('system:anonymous', { groups: ['system:unauthenticated'] });
const forbidden: Want = { code: 403, reason: 'Forbidden' };

// prettier-ignore
export const methods: Table = {
  name: 'Methods',
  rows: [
    ['Bearer token: header `Authorization: Bearer <ACCESS_TOKEN>`', [], withToken('dev-token'), user('dev', { uid: '2', groups: ['dev', known] })],
    ['Bootstrap token: user system:bootstrap:<token_id> in system:bootstrappers plus auth-extra-groups', [], withToken('tokjoi.0123456789abcdef'), user('system:bootstrap:tokjoi', { groups: ['system:bootstrappers', 'system:bootstrappers:workers', known] })],
    ['Bootstrap token: another secret is rejected (401)', [], withToken('tokjoi.0123456789abcdeg'), unauthorized],
    ['Bootstrap token: one that has expired is rejected (401)', [], withToken('tokold.0123456789abcdef'), unauthorized],
    ['Bootstrap token: one without usage-bootstrap-authentication is rejected (401)', [], withToken('toksig.0123456789abcdef'), unauthorized],
    ['Client certificate: verified against a CA bundle', [], as('carl', whoAmI()), user('carl', { groups: ['dev', known] })],
    ['Client certificate: one of another CA is rejected (401)', [], as('stranger', whoAmI()), unauthorized],
    ['Authenticating proxy: identity taken from request headers', [], as('proxy', whoAmI({ 'x-remote-user': 'pia', 'x-remote-group': 'ops' })), user('pia', { groups: ['ops', known] })],
    ['Webhook token authentication: the server sends a TokenReview to an external service', [], withToken('hook-hanna'), user('hanna', { groups: ['hooked', known] })],
    ['Webhook token authentication: an `error` field is ignored when `authenticated` is true', [], withToken('hook-with-error'), user('with-error')],
    ['Webhook token authentication: a token that is not authenticated is rejected (401)', [], withToken('hook-refused'), unauthorized],
    ['Anonymous: requests not rejected by any configured method; user system:anonymous, group system:unauthenticated', [], whoAmI(), anonymous],
    ['An invalid bearer token with anonymous access on gives 401', [], withToken('made-up'), unauthorized],
    ['A request without a token is anonymous', [], as('nobody', get('~/configmaps')), refused(403, 'Forbidden', /User "system:anonymous" cannot list resource "configmaps"/)],
  ],
};

export const denied = (name: string): Table => ({
  name,
  rows: [
    ['a request without credentials is rejected (401)', [], whoAmI(), unauthorized],
    [
      'a request without credentials is rejected on public paths too (401)',
      [],
      as('nobody', get('/livez')),
      unauthorized,
    ],
    ['a request with credentials is served', [], withToken('root-token'), user('root')],
  ],
});

// prettier-ignore
export const conditions: Table = {
  name: 'AuthenticationConfiguration',
  rows: [
    ['`anonymous.conditions[].path` restricts anonymous access to the listed endpoints', [], as('nobody', get('/livez')), { code: 200, text: 'ok' }],
    ['`anonymous.conditions[].path`: a second path is listed too', [], as('nobody', get('/readyz')), { code: 200, text: 'ok' }],
    ['`anonymous.conditions[].path`: another endpoint gives 401', [], as('nobody', get('/version')), unauthorized],
    ['`anonymous.conditions[].path`: an endpoint below a listed one gives 401', [], as('nobody', get('/livez/ping')), unauthorized],
    ['`anonymous.conditions[].path`: an invalid bearer token gives 401 on listed endpoints', [], as('nobody', get('/livez', { authorization: 'Bearer made-up' })), unauthorized],
    ['`anonymous.conditions[].path`: requests with credentials are not restricted', [], withToken('root-token'), user('root')],
  ],
};

const proxied = (headers: Headers, who = 'proxy') => as(who, whoAmI(headers));

// prettier-ignore
export const proxyFlags: Table = {
  name: 'Authenticating proxy flags',
  rows: [
    ['--requestheader-username-headers: case-insensitive', [], proxied({ 'X-REMOTE-USER': 'pia' }), user('pia')],
    ['--requestheader-username-headers: the first header with a value gives the user name', [], proxied({ 'x-other-user': 'second', 'x-remote-user': 'first' }), user('first')],
    ['--requestheader-username-headers: the next header is used if the first is absent', [], proxied({ 'x-other-user': 'second' }), user('second')],
    ['--requestheader-group-headers: all values of all found headers become groups', [], proxied({ 'x-remote-user': 'pia', 'x-remote-group': ['a', 'b,c'], 'x-other-group': 'd' }), user('pia', { groups: ['a', 'b,c', 'd', known] })],
    ['--requestheader-extra-headers-prefix: prefix stripped, rest in lower case, percent-decoded', [], proxied({ 'x-remote-user': 'pia', 'X-Remote-Extra-Example.com%2FScopes': ['View', 'edit'] }), user('pia', { extra: { 'example.com/scopes': ['View', 'edit'] } })],
    ['--requestheader-client-ca-file: headers of a client without certificate are not trusted', [], proxied({ 'x-remote-user': 'pia' }, 'nobody'), anonymous],
    ['--requestheader-client-ca-file: headers of a client with a certificate of another CA are not trusted', [], proxied({ 'x-remote-user': 'pia' }, 'carl'), user('carl')],
    ['--requestheader-allowed-names: a proxy whose CN is not in the list is rejected (401)', [], proxied({ 'x-remote-user': 'pia' }, 'otherProxy'), unauthorized],
  ],
};

// prettier-ignore
export const anyProxyName: Table = {
  name: 'Authenticating proxy flags, without --requestheader-allowed-names',
  rows: [
    ['--requestheader-allowed-names: optional, every CN is trusted without it', [], proxied({ 'x-remote-user': 'pia' }, 'otherProxy'), user('pia')],
    ['--requestheader-group-headers: optional, the header gives no groups without it', [], proxied({ 'x-remote-user': 'pia', 'x-remote-group': 'a' }, 'otherProxy'), user('pia', { groups: [known] })],
    ['--requestheader-extra-headers-prefix: optional, the header gives no extra without it', [], proxied({ 'x-remote-user': 'pia', 'x-remote-extra-a': 'b' }, 'otherProxy'), { ...user('pia'), absent: ['status.userInfo.extra'] }],
  ],
};

/** The user imp may impersonate alice, the group readers, service accounts named default, the extra and the uid below. */
const asAlice = { 'impersonate-user': 'alice' };
const impersonated = (headers: Headers, token = 'imp-token') => withToken(token, headers);

// prettier-ignore
export const impersonation: Table = {
  name: 'Impersonation',
  rows: [
    ['the user is replaced by the impersonated one', [], impersonated(asAlice), user('alice', { groups: [known] })],
    ['the impersonated user is the one that is authorized', [], as('nobody', get('~/configmaps', { authorization: 'Bearer root-token', ...asAlice })), refused(403, 'Forbidden', /User "alice" cannot list/)],
    ['`Impersonate-User`: required when `Impersonate-Group` is used', [], impersonated({ 'impersonate-group': 'readers' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['`Impersonate-User`: required when `Impersonate-Extra-<name>` is used', [], impersonated({ 'impersonate-extra-scopes': 'view' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['`Impersonate-Group`: repeatable', [], impersonated({ ...asAlice, 'impersonate-group': ['readers', 'writers'] }), user('alice', { groups: ['readers', 'writers', known] })],
    ['`Impersonate-Extra-<name>`: lower case', [], impersonated({ ...asAlice, 'Impersonate-Extra-Scopes': ['view', 'edit'] }), user('alice', { extra: { scopes: ['view', 'edit'] } })],
    ['`Impersonate-Extra-<name>`: percent-encoded if it has characters illegal in a header label', [], impersonated({ ...asAlice, 'impersonate-extra-example.com%2Fteam': 'blue' }), user('alice', { extra: { 'example.com/team': ['blue'] } })],
    ['`Impersonate-Uid`: opaque string', [], impersonated({ ...asAlice, 'impersonate-uid': 'any: text/7' }), user('alice', { uid: 'any: text/7' })],
    ['`Impersonate-Uid`: requires `Impersonate-User`', [], impersonated({ 'impersonate-uid': 'any: text/7' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['the caller needs `impersonate` on `users`', [], impersonated(asAlice, 'dev-token'), forbidden],
    ['the caller needs `impersonate` on `groups`', [], impersonated({ ...asAlice, 'impersonate-group': 'ops' }), forbidden],
    ['the caller needs `impersonate` on `serviceaccounts`: granted', [], impersonated({ 'impersonate-user': 'system:serviceaccount:{ns}:default' }), user('system:serviceaccount:{ns}:default', { groups: ['system:serviceaccounts', 'system:serviceaccounts:{ns}', known] })],
    ['the caller needs `impersonate` on `serviceaccounts`: denied', [], impersonated({ 'impersonate-user': 'system:serviceaccount:{ns}:other' }), forbidden],
    ['the caller needs `impersonate` on `userextras/<extra_name>`', [], impersonated({ ...asAlice, 'impersonate-extra-zone': 'view' }), forbidden],
    ['the caller needs `impersonate` on `uids`', [], impersonated({ ...asAlice, 'impersonate-uid': 'another' }), forbidden],
    ['`resourceNames` narrow the rule: another user', [], impersonated({ 'impersonate-user': 'bob' }), forbidden],
    ['`resourceNames` narrow the rule: another value of an extra', [], impersonated({ ...asAlice, 'impersonate-extra-scopes': 'delete' }), forbidden],
    ['impersonation is not namespaced: a RoleBinding does not grant it', [], impersonated(asAlice, 'local-token'), forbidden],
    ['an invalid bearer token gives 401', [], impersonated(asAlice, 'made-up'), unauthorized],
  ],
};

const tokenRequest = (spec: object = {}) =>
  keep(
    'made',
    post('~/serviceaccounts/default/token', { kind: 'TokenRequest', apiVersion: '{group:authentication}/v1', spec }),
  );
const account = 'system:serviceaccount:{ns}:default';
const boundTo = (name: string) => ({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name } });
const { automountServiceAccountToken: _off, serviceAccountName: _default, ...plainSpec } = pod('p').spec;
const plainPod = (spec: object = {}) => ({ metadata: { name: 'p' }, spec: { ...plainSpec, ...spec } });
const projected = (sources: readonly unknown[]) =>
  created({
    spec: {
      volumes: [{ name: expect.stringMatching(/-api-access-/) as unknown, projected: { sources } }],
      containers: [
        { volumeMounts: [{ mountPath: expect.stringMatching(/serviceaccount$/) as unknown, readOnly: true }] },
      ],
    },
  });
const unmounted: Want = { code: 201, absent: ['spec.volumes', 'spec.containers.0.volumeMounts'] };
const noMount: Row[1] = [
  put('~/serviceaccounts/default', { metadata: { name: 'default' }, automountServiceAccountToken: false }),
];

// prettier-ignore
export const serviceAccountTokens: Table = {
  name: 'Service account tokens',
  rows: [
    ['a projected volume has a token, the cluster CA bundle, and the namespace of the Pod', [], post('~/pods', plainPod()), projected([
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: '{system:root-ca.crt}', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ])],
    ['the token comes from the TokenRequest API', [tokenRequest()], withToken('{made.status.token}'), user(account, { groups: ['system:serviceaccounts', 'system:serviceaccounts:{ns}', known] })],
    ['the token is bound to the Pod', [aPod('p'), tokenRequest(boundTo('p'))], withToken('{made.status.token}'), user(account, { extra: { 'authentication.{domain}/pod-name': ['p'], 'authentication.{domain}/pod-uid': ['{p.metadata.uid}'] } })],
    ['the token is bound to the audience: another one is rejected (401)', [tokenRequest({ audiences: ['vault'] })], withToken('{made.status.token}'), unauthorized],
    ['the token is bound to the audience: a TokenReview for it succeeds', [tokenRequest({ audiences: ['vault'] })], post('/apis/{group:authentication}/v1/tokenreviews', { kind: 'TokenReview', apiVersion: '{group:authentication}/v1', spec: { token: '{made.status.token}', audiences: ['vault'] } }), created({ status: { authenticated: true, user: { username: account }, audiences: ['vault'] } })],
    ['the token expires after 1 hour by default', [], tokenRequest(), created({ spec: { expirationSeconds: 3600 } })],
    ['`expirationSeconds` can be set', [], tokenRequest({ expirationSeconds: 7200 }), created({ spec: { expirationSeconds: 7200 } })],
    ['issued tokens cannot be revoked: there is nothing to delete (405)', [tokenRequest()], del('~/serviceaccounts/default/token'), { code: 405 }],
    ['automatic mount: false in the ServiceAccount disables it', noMount, post('~/pods', plainPod()), unmounted],
    ['automatic mount: false in the Pod disables it', [], post('~/pods', plainPod({ automountServiceAccountToken: false })), unmounted],
    ['automatic mount: the field of the Pod has precedence', noMount, post('~/pods', plainPod({ automountServiceAccountToken: true })), created({ spec: { volumes: [{ projected: {} }] } })],
    ['a Pod without .spec.serviceAccountName gets `default`', [], post('~/pods', plainPod()), created({ spec: { serviceAccountName: 'default' } })],
    ['a Pod naming a missing ServiceAccount is not admitted', [], post('~/pods', plainPod({ serviceAccountName: 'missing' })), refused(403, 'Forbidden', /serviceaccount "missing" not found$/)],
    ['the keys that verify tokens are published', [], get('/openid/v1/jwks'), ok({ keys: [expect.objectContaining({ use: 'sig' }), expect.objectContaining({ use: 'sig' })] })],
  ],
};
