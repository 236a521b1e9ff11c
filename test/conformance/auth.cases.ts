import {
  as,
  configMap,
  del,
  get,
  names,
  notFound,
  ok,
  patch,
  post,
  put,
  refused,
  type Row,
  type Step,
  type Table,
  type Want,
} from './case.js';

const list = get('~/configmaps');
const labelled = get('~/configmaps?labelSelector=none');
const unauthorized = refused(401, 'Unauthorized', 'Unauthorized');
/** The denial of AlwaysDeny, which allows only members of system:masters. */
const denied = (what: string, user: string, rest: string): Want =>
  refused(403, 'Forbidden', `${what}: User "${user}" cannot ${rest}: Everything is forbidden.`);
const here = 'in the namespace "{ns}"';
const cannotList = (user: string) =>
  denied('configmaps is forbidden', user, `list resource "configmaps" in API group "" ${here}`);

const dev = (step: Step, what: string, rest: string): Row => [
  `${step.method} ${step.path}`,
  [],
  as('dev', step),
  denied(what, 'dev', rest),
];

// prettier-ignore
export const identities: Table = {
  name: 'authentication',
  rows: [
    ['a client certificate of a system:masters member is allowed', [], list, ok()],
    ['a token of a system:masters member is allowed', [], as('root', list), ok()],
    ['a token of a user without rights is denied (403)', [], as('dev', list), cannotList('dev')],
    ['a client certificate of a user without rights is denied (403)', [], as('carl', list), cannotList('carl')],
    ['nobody', [], as('nobody', list), cannotList('system:anonymous')],
    ['an unknown token is refused (401)', [], as('wrong', list), unauthorized],
    ['an unknown token is refused on public paths too (401)', [], as('wrong', get('/healthz')), unauthorized],
    ['an unknown token is refused on unknown paths too (401)', [], as('wrong', get('/nothing')), unauthorized],
    ['an empty token is anonymous (403)', [], as('nobody', get('~/configmaps', { authorization: 'Bearer ' })), { code: 403 }],
    ['another authorization scheme is anonymous (403)', [], as('nobody', get('~/configmaps', { authorization: 'Basic YTpi' })), { code: 403 }],
    ['the scheme is case-insensitive', [], as('nobody', get('~/configmaps', { authorization: 'bearer root-token' })), ok()],
    ['a token in the query is ignored (403)', [], as('nobody', get('~/configmaps?access_token=root-token')), { code: 403 }],
    ['a client certificate takes precedence over a token', [], get('~/configmaps', { authorization: 'Bearer dev-token' }), ok()],
    ['a token that was sent with a certificate is refused without it (401)', [get('~/configmaps', { authorization: 'Bearer made-up' })], as('nobody', get('~/configmaps', { authorization: 'Bearer made-up' })), unauthorized],
    ['a certificate of another authority is refused (401)', [], as('stranger', list), unauthorized],
  ],
};

// prettier-ignore
export const refusals: Table = {
  name: 'messages of authorization errors',
  rows: [
    dev(get('~/configmaps/a'), 'configmaps "a" is forbidden', `get resource "configmaps" in API group "" ${here}`),
    dev(get('~/configmaps?watch=1'), 'configmaps is forbidden', `watch resource "configmaps" in API group "" ${here}`),
    dev(get('/api/v1/configmaps'), 'configmaps is forbidden', 'list resource "configmaps" in API group "" at the cluster scope'),
    dev(get('~/configmaps?fieldSelector=metadata.name=one'), 'configmaps "one" is forbidden', `list resource "configmaps" in API group "" ${here}`),
    dev(post('~/configmaps', configMap('a')), 'configmaps is forbidden', `create resource "configmaps" in API group "" ${here}`),
    dev(put('~/configmaps/a', {}), 'configmaps "a" is forbidden', `update resource "configmaps" in API group "" ${here}`),
    dev(patch('~/configmaps/a', {}), 'configmaps "a" is forbidden', `patch resource "configmaps" in API group "" ${here}`),
    dev(del('~/configmaps/a'), 'configmaps "a" is forbidden', `delete resource "configmaps" in API group "" ${here}`),
    dev(del('~/configmaps'), 'configmaps is forbidden', `deletecollection resource "configmaps" in API group "" ${here}`),
    dev(get('~/pods/p/log'), 'pods "p" is forbidden', `get resource "pods/log" in API group "" ${here}`),
    dev(post('~/pods/p/binding', {}), 'pods "p" is forbidden', `create resource "pods/binding" in API group "" ${here}`),
    dev(get('/api/v1/nodes/n'), 'nodes "n" is forbidden', 'get resource "nodes" in API group "" at the cluster scope'),
    dev(get('/api/v1/namespaces/{ns}'), 'namespaces "{ns}" is forbidden', `get resource "namespaces" in API group "" ${here}`),
    dev(get('/apis/{group:coordination}/v1/leases'), 'leases.{group:coordination} is forbidden', 'list resource "leases" in API group "{group:coordination}" at the cluster scope'),
    dev(get('/apis/none.example.com/v1/things'), 'things.none.example.com is forbidden', 'list resource "things" in API group "none.example.com" at the cluster scope'),
    dev(get('/metrics'), 'forbidden', 'get path "/metrics"'),
    dev(get('/nothing'), 'forbidden', 'get path "/nothing"'),
    dev(post('/healthz', {}), 'forbidden', 'post path "/healthz"'),
    dev(get('/apis'), 'forbidden', 'get path "/apis"'),
    ['authorization comes before decoding the body (403)', [], as('dev', post('~/configmaps', '{')), { code: 403 }],
    ['authorization comes before negotiation (403)', [], as('dev', get('~/configmaps', { accept: 'application/xml' })), { code: 403 }],
    ['an unknown group is not found (404)', [], get('/apis/none.example.com/v1/things'), notFound()],
  ],
};

const asAlice = { 'impersonate-user': 'alice' };
const cannotImpersonate = (mode: string) =>
  denied('configmaps is forbidden', 'dev', `impersonate-on:${mode}:list resource "configmaps" in API group "" ${here}`);

// prettier-ignore
export const impersonating: Table = {
  name: 'impersonation',
  rows: [
    ['Impersonate-User acts as another user (403)', [], get('~/configmaps', asAlice), cannotList('alice')],
    ['Impersonate-Group adds groups', [], get('~/configmaps?labelSelector=none', { ...asAlice, 'impersonate-group': ['dev', 'system:masters'] }), names()],
    ['Impersonate-Extra is accepted', [], get('~/configmaps', { ...asAlice, 'impersonate-extra-scopes': 'view' }), { code: 403 }],
    ['a service account can be impersonated', [], get('~/configmaps', { 'impersonate-user': 'system:serviceaccount:{ns}:default' }), cannotList('system:serviceaccount:{ns}:default')],
    ['system:anonymous can be impersonated', [], get('~/configmaps', { 'impersonate-user': 'system:anonymous' }), cannotList('system:anonymous')],
    ['Impersonate-Group without a user is rejected (400)', [], get('~/configmaps', { 'impersonate-group': 'g' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['Impersonate-Extra without a user is rejected (400)', [], get('~/configmaps', { 'impersonate-extra-a': 'g' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['Impersonate-Uid without a user is rejected (400)', [], get('~/configmaps', { 'impersonate-uid': 'g' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['impersonation requires the verb impersonate-on:user-info:list on the resource, or impersonate on users (403)', [], as('dev', get('~/configmaps', asAlice)), cannotImpersonate('user-info')],
    ['impersonation of a service account requires its own verb on the resource, or impersonate on serviceaccounts (403)', [], as('dev', get('~/configmaps', { 'impersonate-user': 'system:serviceaccount:{ns}:default' })), cannotImpersonate('serviceaccount')],
    ['an anonymous user cannot impersonate (403)', [], as('nobody', get('~/configmaps', asAlice)), { code: 403 }],
    ['impersonation with an unknown token is refused (401)', [], as('wrong', get('~/configmaps', asAlice)), unauthorized],
  ],
};

// prettier-ignore
export const allowingAll: Table = {
  name: 'AlwaysAllow',
  rows: [
    ['a user is allowed everything', [], as('dev', labelled), names()],
    ['a user may impersonate', [], as('dev', get('~/configmaps?labelSelector=none', asAlice)), names()],
    ['requests without credentials are refused (401)', [], as('nobody', list), unauthorized],
    ['an unknown token is refused (401)', [], as('wrong', list), unauthorized],
  ],
};

// prettier-ignore
export const withoutAnonymous: Table = {
  name: '--anonymous-auth=false',
  rows: [
    ['requests without credentials are refused (401)', [], as('nobody', list), unauthorized],
    ['requests without credentials are refused on public paths too (401)', [], as('nobody', get('/healthz')), unauthorized],
    ['requests with a token are served', [], as('root', list), ok()],
  ],
};
