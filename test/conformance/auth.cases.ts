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
/** Everything is denied here but what members of system:masters ask. */
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
  name: 'who asks',
  rows: [
    ['a member of system:masters, by certificate', [], list, ok()],
    ['a member of system:masters, by token', [], as('root', list), ok()],
    ['a user, by token', [], as('dev', list), cannotList('dev')],
    ['a user, by certificate', [], as('carl', list), cannotList('carl')],
    ['nobody', [], as('nobody', list), cannotList('system:anonymous')],
    ['a wrong token', [], as('wrong', list), unauthorized],
    ['a wrong token, for a path that all may read', [], as('wrong', get('/healthz')), unauthorized],
    ['a wrong token, for nothing', [], as('wrong', get('/nothing')), unauthorized],
    ['an empty token', [], as('nobody', get('~/configmaps', { authorization: 'Bearer ' })), { code: 403 }],
    ['another scheme', [], as('nobody', get('~/configmaps', { authorization: 'Basic YTpi' })), { code: 403 }],
    ['the scheme in other letters', [], as('nobody', get('~/configmaps', { authorization: 'bearer root-token' })), ok()],
    ['a token in the query is none', [], as('nobody', get('~/configmaps?access_token=root-token')), { code: 403 }],
    ['a certificate goes before a token', [], get('~/configmaps', { authorization: 'Bearer dev-token' }), ok()],
    ['a certificate lends nothing to the token beside it', [get('~/configmaps', { authorization: 'Bearer made-up' })], as('nobody', get('~/configmaps', { authorization: 'Bearer made-up' })), unauthorized],
    ['a certificate of another authority', [], as('stranger', list), unauthorized],
  ],
};

// prettier-ignore
export const refusals: Table = {
  name: 'what is refused, in words',
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
    ['a body is not looked at', [], as('dev', post('~/configmaps', '{')), { code: 403 }],
    ['nor is what one accepts', [], as('dev', get('~/configmaps', { accept: 'application/xml' })), { code: 403 }],
    ['who may ask hears that it is not there', [], get('/apis/none.example.com/v1/things'), notFound()],
  ],
};

const asAlice = { 'impersonate-user': 'alice' };
const cannotImpersonate = (what: string, rest: string) =>
  denied(`${what} is forbidden`, 'dev', `impersonate resource ${rest}`);

// prettier-ignore
export const impersonating: Table = {
  name: 'impersonation',
  rows: [
    ['is another user', [], get('~/configmaps', asAlice), cannotList('alice')],
    ['with groups', [], get('~/configmaps?labelSelector=none', { ...asAlice, 'impersonate-group': ['dev', 'system:masters'] }), names()],
    ['with extra', [], get('~/configmaps', { ...asAlice, 'impersonate-extra-scopes': 'view' }), { code: 403 }],
    ['of a service account', [], get('~/configmaps', { 'impersonate-user': 'system:serviceaccount:{ns}:default' }), cannotList('system:serviceaccount:{ns}:default')],
    ['of nobody', [], get('~/configmaps', { 'impersonate-user': 'system:anonymous' }), cannotList('system:anonymous')],
    ['with groups but no user', [], get('~/configmaps', { 'impersonate-group': 'g' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['with extra but no user', [], get('~/configmaps', { 'impersonate-extra-a': 'g' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['with a uid but no user', [], get('~/configmaps', { 'impersonate-uid': 'g' }), refused(400, 'BadRequest', /without impersonating a user name$/)],
    ['needs the right to', [], as('dev', get('~/configmaps', asAlice)), cannotImpersonate('users "alice"', '"users" in API group "" at the cluster scope')],
    ['of a service account needs the right to', [], as('dev', get('~/configmaps', { 'impersonate-user': 'system:serviceaccount:{ns}:default' })), cannotImpersonate('serviceaccounts "default"', `"serviceaccounts" in API group "" ${here}`)],
    ['by nobody', [], as('nobody', get('~/configmaps', asAlice)), { code: 403 }],
    ['by a wrong token', [], as('wrong', get('~/configmaps', asAlice)), unauthorized],
  ],
};

// prettier-ignore
export const allowingAll: Table = {
  name: 'AlwaysAllow',
  rows: [
    ['a user may do everything', [], as('dev', labelled), names()],
    ['also impersonate', [], as('dev', get('~/configmaps?labelSelector=none', asAlice)), names()],
    ['nobody is refused', [], as('nobody', list), unauthorized],
    ['a wrong token is refused', [], as('wrong', list), unauthorized],
  ],
};

// prettier-ignore
export const withoutAnonymous: Table = {
  name: 'without anonymous access',
  rows: [
    ['nobody is refused', [], as('nobody', list), unauthorized],
    ['nobody is refused everywhere', [], as('nobody', get('/healthz')), unauthorized],
    ['a user is not', [], as('root', list), ok()],
  ],
};
