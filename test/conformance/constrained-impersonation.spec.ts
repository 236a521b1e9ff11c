import { startKeelson, type Keelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';

/** Verbs of constrained impersonation, granted to a ServiceAccount. */
const namespace = 'default';
const core = `/api/v1/namespaces/${namespace}`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const identityGroup = 'authentication.k8s.io';
const agent = `system:serviceaccount:${namespace}:agent`;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const on = (mode: string, verb: string, resource: string): Rule => ({
  apiGroups: [''],
  resources: [resource],
  verbs: [`impersonate-on:${mode}:${verb}`],
});
const as = (mode: string, resource: string, resourceNames?: readonly string[]): Rule => ({
  apiGroups: [identityGroup],
  resources: [resource],
  verbs: [`impersonate:${mode}`],
  ...(resourceNames && { resourceNames }),
});

const granted: readonly Rule[] = [
  on('user-info', 'list', 'configmaps'),
  as('user-info', 'users', ['alice']),
  as('user-info', 'groups', ['readers', 'system:masters']),
  as('user-info', 'userextras/example.com/team', ['blue']),
  on('serviceaccount', 'get', 'configmaps'),
  as('serviceaccount', 'serviceaccounts', ['reader']),
  on('arbitrary-node', 'list', 'pods'),
  as('arbitrary-node', 'nodes', ['other']),
  on('associated-node', 'list', 'configmaps'),
  as('associated-node', 'nodes'),
];

describe.each([true, false])('constrained impersonation with its feature gate %s', (isOn) => {
  let keelson: Keelson;
  let admin: HttpClient;
  /** A ServiceAccount with the rules above, and the same one in a Pod on the Node worker. */
  let free: HttpClient;
  let onNode: HttpClient;

  const role = async (name: string, rules: readonly Rule[], subject: object) => {
    await admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules });
    await admin.post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [subject],
    });
  };
  const account = (name: string) => ({ kind: 'ServiceAccount', name, namespace });
  const person = (kind: 'User' | 'Group', name: string) => ({ kind, name, apiGroup: 'rbac.authorization.k8s.io' });
  const reads = [{ apiGroups: [''], resources: ['configmaps', 'pods', 'secrets'], verbs: ['get', 'list'] }];
  const clientOf = async (spec: object) => {
    const { body } = await admin.post(`${core}/serviceaccounts/agent/token`, { spec });
    return new HttpClient({ url: keelson.url, ca: keelson.ca, token: body.status.token as string });
  };

  beforeAll(async () => {
    keelson = await startKeelson({ config: { featureGates: { ConstrainedImpersonation: isOn } } });
    admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    for (const name of ['agent', 'reader']) await admin.post(`${core}/serviceaccounts`, { metadata: { name } });
    await role('agent', granted, account('agent'));
    await role('readers', reads, person('User', 'alice'));
    await role('reader', reads, account('reader'));
    await role('nodes', reads, person('Group', 'system:nodes'));
    await admin.post('/api/v1/nodes', { metadata: { name: 'worker' } });
    const spec = { serviceAccountName: 'agent', nodeName: 'worker', containers: [{ name: 'c', image: 'i' }] };
    await admin.post(`${core}/pods`, { metadata: { name: 'p' }, spec });
    await admin.post(`${core}/configmaps`, { metadata: { name: 'one' } });
    free = await clientOf({});
    onNode = await clientOf({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } });
  });
  afterAll(async () => {
    for (const client of [admin, free, onNode]) client.close();
    await keelson.stop();
  });

  const alice = { 'impersonate-user': 'alice' };
  const forbidden = (what: string, verb: string, rest: string) =>
    `${what} is forbidden: User "${agent}" cannot ${verb} resource ${rest}`;
  const cluster = `in API group "${identityGroup}" at the cluster scope`;
  const here = `in API group "" in the namespace "${namespace}"`;

  type Row = [string, 'free' | 'onNode', string, Record<string, string | string[]>, number, string?];
  const rows: readonly Row[] = [
    ['a user, for the verb and resource that are granted', 'free', 'configmaps', alice, 200],
    [
      ...(['a user, for another resource', 'free', 'secrets', alice, 403] as const),
      forbidden('secrets', 'impersonate-on:user-info:list', `"secrets" ${here}`),
    ],
    [
      ...(['a user, for another verb', 'free', 'configmaps/one', alice, 403] as const),
      forbidden('configmaps "one"', 'impersonate-on:user-info:get', `"configmaps" ${here}`),
    ],
    [
      ...(['another user', 'free', 'configmaps', { 'impersonate-user': 'bob' }, 403] as const),
      forbidden(`users.${identityGroup} "bob"`, 'impersonate:user-info', `"users" ${cluster}`),
    ],
    ['a user with a group', 'free', 'configmaps', { ...alice, 'impersonate-group': 'readers' }, 200],
    [
      ...(['a user with another group', 'free', 'configmaps', { ...alice, 'impersonate-group': 'g' }, 403] as const),
      forbidden(`groups.${identityGroup} "g"`, 'impersonate:user-info', `"groups" ${cluster}`),
    ],
    [
      ...(['system:masters', 'free', 'configmaps', { ...alice, 'impersonate-group': 'system:masters' }, 403] as const),
      `${forbidden(`groups.${identityGroup} "system:masters"`, 'impersonate:user-info', `"groups" ${cluster}`)}: impersonating the system:masters group is not allowed`,
    ],
    ['extra', 'free', 'configmaps', { ...alice, 'impersonate-extra-example.com%2Fteam': 'blue' }, 200],
    [
      ...([
        'another value of extra',
        'free',
        'configmaps',
        { ...alice, 'impersonate-extra-example.com%2Fteam': 'red' },
        403,
      ] as const),
      forbidden(
        `userextras.${identityGroup} "red"`,
        'impersonate:user-info',
        `"userextras/example.com/team" ${cluster}`,
      ),
    ],
    ['an invalid key of extra', 'free', 'configmaps', { ...alice, 'impersonate-extra-team': 'blue' }, 403],
    ['a uid that is not granted', 'free', 'configmaps', { ...alice, 'impersonate-uid': '1' }, 403],
    [
      'a service account',
      'free',
      'configmaps/one',
      { 'impersonate-user': `system:serviceaccount:${namespace}:reader` },
      200,
    ],
    [
      'a service account with a group',
      'free',
      'configmaps/one',
      { 'impersonate-user': `system:serviceaccount:${namespace}:reader`, 'impersonate-group': 'g' },
      403,
    ],
    ['a Node that is granted', 'free', 'pods', { 'impersonate-user': 'system:node:other' }, 200],
    ['a Node without its own', 'free', 'configmaps', { 'impersonate-user': 'system:node:worker' }, 403],
    ['the Node of its Pod', 'onNode', 'configmaps', { 'impersonate-user': 'system:node:worker' }, 200],
    ['another Node than that of its Pod', 'onNode', 'configmaps', { 'impersonate-user': 'system:node:other' }, 403],
    [
      'the Node of its Pod with a group',
      'onNode',
      'configmaps',
      { 'impersonate-user': 'system:node:worker', 'impersonate-group': 'system:masters' },
      403,
    ],
  ];
  it.each(
    rows.map(([what, who, resource, headers, code, message = '']) => ({ what, who, resource, headers, code, message })),
  )('impersonation of $what', async ({ who, resource, headers, code, message }) => {
    const client = { free, onNode }[who];
    // Asked twice: the mode that allowed the last request is tried first.
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await client.get(`${core}/${resource}`, headers);
      expect(answer.code).toBe(isOn ? code : 403);
      if (!isOn) expect(answer.body.message).toMatch(/ cannot impersonate resource "/);
      else if (message !== '') expect(answer.body.message).toBe(message);
    }
  });

  it('the verb impersonate allows every request, with system:masters too', async () => {
    const all: Rule = { apiGroups: ['', identityGroup], resources: ['*'], verbs: ['impersonate'] };
    await role('impersonator', [all], account('reader'));
    const { body } = await admin.post(`${core}/serviceaccounts/reader/token`, {});
    const reader = new HttpClient({ url: keelson.url, ca: keelson.ca, token: body.status.token as string });
    try {
      const root = { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' };
      expect((await reader.get('/api/v1/nodes', root)).code).toBe(200);
      expect((await reader.get('/api/v1/nodes', alice)).code).toBe(403);
    } finally {
      reader.close();
    }
  });

  it('attempts are counted by mode', async () => {
    const { text } = await admin.get('/metrics');
    const isCounted = /^apiserver_impersonation_attempts_total\{mode="user-info",decision="allowed"\} [1-9]/m.test(
      text,
    );
    expect(isCounted).toBe(isOn);
  });
});
