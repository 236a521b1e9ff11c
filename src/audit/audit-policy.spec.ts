import { parseRequestInfo } from '../machinery/request-info.js';
import { decide } from './audit-policy.js';
import { readAuditPolicy } from './read-audit-policy.js';

const policyOf = (rules: string) =>
  readAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`, {
    file: 'policy.yaml',
    group: 'audit.k8s.io',
  });

const users = {
  admin: { name: 'admin', groups: ['system:masters', 'system:authenticated'] },
  nobody: undefined,
  alice: { name: 'alice', groups: ['devs', 'system:authenticated'] },
};

/** The level of `METHOD URL` by alice, or by another user before it. */
function levelOf(rule: string, request: string): string {
  const words = request.split(' ');
  const [who, method, url] = words.length === 3 ? words : ['alice', ...words];
  const policy = policyOf(`rules:\n- {level: Request, ${rule}}\n- {level: Metadata}\n`);
  return decide(policy, parseRequestInfo(method!, url!), users[who as keyof typeof users]).level;
}

const pods = '/api/v1/namespaces/a/pods';

describe('rules of a policy', () => {
  // prettier-ignore
  it.each<[rule: string, selected: string[], others: string[]]>([
    ['users: [alice]', [`GET ${pods}`, 'GET /version'], [`admin GET ${pods}`, `nobody GET ${pods}`]],
    ['userGroups: [devs, ops]', [`GET ${pods}`], [`admin GET ${pods}`, `nobody GET ${pods}`]],
    ['userGroups: [devs], users: [bob]', [], [`GET ${pods}`]],
    ['verbs: [list, get]', [`GET ${pods}`, `GET ${pods}/p`, 'GET /healthz', `nobody GET ${pods}`], [`GET ${pods}?watch=1`, `DELETE ${pods}/p`]],
    ['verbs: [deletecollection]', [`DELETE ${pods}`], [`DELETE ${pods}/p`]],
    ['namespaces: [a]', [`GET ${pods}`, 'GET /apis/apps/v1/namespaces/a/deployments'], ['GET /api/v1/namespaces/b/pods', 'GET /api/v1/pods', 'GET /healthz']],
    ['namespaces: [""]', ['GET /api/v1/pods', 'GET /api/v1/nodes/n'], [`GET ${pods}`, 'GET /healthz']],
    ['resources: [{group: ""}]', [`GET ${pods}`, `GET ${pods}/p/log`], ['GET /apis/apps/v1/deployments', 'GET /healthz']],
    ['resources: [{group: apps}]', ['GET /apis/apps/v1/deployments'], [`GET ${pods}`]],
    ['resources: [{group: "*"}]', ['GET /apis/apps/v1/deployments', `GET ${pods}`], ['GET /apis']],
    ['resources: [{resources: [pods]}]', [`GET ${pods}`, `GET ${pods}/p`], [`GET ${pods}/p/log`, 'GET /api/v1/podtemplates']],
    ['resources: [{resources: [pods/log]}]', [`GET ${pods}/p/log`], [`GET ${pods}`, `GET ${pods}/p/status`]],
    ['resources: [{resources: ["pods/*"]}]', [`GET ${pods}`, `GET ${pods}/p/log`], ['GET /api/v1/nodes/n/status']],
    ['resources: [{resources: ["*/status"]}]', [`GET ${pods}/p/status`, 'GET /api/v1/nodes/n/status'], [`GET ${pods}`, `GET ${pods}/p/log`]],
    ['resources: [{resources: ["*"]}]', [`GET ${pods}`, `GET ${pods}/p/log`], ['GET /apis/apps/v1/deployments']],
    ['resources: [{resources: [pods], resourceNames: [p, q]}]', [`GET ${pods}/p`, `DELETE ${pods}/q`], [`GET ${pods}`, `POST ${pods}`, `GET ${pods}/r`]],
    ['resources: [{resources: [secrets]}, {group: apps, resources: [deployments/scale]}]', ['GET /api/v1/secrets', 'GET /apis/apps/v1/namespaces/a/deployments/d/scale'], ['GET /apis/apps/v1/deployments']],
    ['resources: [{resources: [pods]}], namespaces: [a]', [`GET ${pods}`], ['GET /api/v1/pods', 'GET /api/v1/namespaces/a/secrets']],
    ['nonResourceURLs: ["/healthz*", /version]', ['GET /healthz', 'GET /healthz/ping', 'GET /healthzz', 'GET /version'], ['GET /version/a', 'GET /livez', `GET ${pods}`]],
    ['nonResourceURLs: ["*"]', ['GET /', 'GET /apis'], [`GET ${pods}`]],
    ['nonResourceURLs: ["/readyz/*"]', ['GET /readyz/ping'], ['GET /readyz']],
    ['verbs: []', [`GET ${pods}`, 'GET /version', 'nobody GET /version'], []],
  ])('%s', (rule, selected, others) => {
    const levels = (requests: string[]) => Object.fromEntries(requests.map((request) => [request, levelOf(rule, request)]));
    expect(levels(selected)).toEqual(Object.fromEntries(selected.map((request) => [request, 'Request'])));
    expect(levels(others)).toEqual(Object.fromEntries(others.map((request) => [request, 'Metadata'])));
  });

  it('the first rule that selects a request applies', () => {
    const policy = policyOf('rules: [{level: None, users: [bob]}, {level: Request, verbs: [get]}, {level: Metadata}]');
    const level = (method: string) => decide(policy, parseRequestInfo(method, `${pods}/p`), users.alice).level;
    expect([level('GET'), level('PUT')]).toEqual(['Request', 'Metadata']);
  });

  it('requests that no rule selects are not recorded', () => {
    const policy = policyOf('rules: [{level: Request, users: [bob]}]');
    expect(decide(policy, parseRequestInfo('GET', pods), users.alice)).toMatchObject({ level: 'None' });
  });

  it('a rule omits its own stages and those of the policy', () => {
    const policy = policyOf(
      'omitStages: [RequestReceived]\nrules: [{level: Request, omitStages: [Panic]}, {level: Metadata}]',
    );
    expect(policy.rules.map(({ omitStages }) => [...omitStages])).toEqual([
      ['RequestReceived', 'Panic'],
      ['RequestReceived'],
    ]);
  });

  it('a rule decides about managedFields before the policy', () => {
    const policy = policyOf(
      'omitManagedFields: true\nrules: [{level: Request, omitManagedFields: false}, {level: Metadata}]',
    );
    expect(policy.rules.map(({ omitManagedFields }) => omitManagedFields)).toEqual([false, true]);
  });
});

describe('a policy is refused with the name of the field', () => {
  const problemOf = (text: string): string => {
    try {
      readAuditPolicy(text, { file: 'p.yaml', group: 'audit.k8s.io' });
      return '';
    } catch (error) {
      return (error as Error).message.replace('--audit-policy-file: p.yaml: ', '');
    }
  };
  const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';

  // prettier-ignore
  it.each([
    ['of another version', 'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]', 'kind: must be Policy in audit.k8s.io/v1'],
    ['without rules', head, 'rules: must have at least one rule'],
    ['with no rules', `${head}rules: []`, 'rules: must have at least one rule'],
    ['with an unknown field', `${head}rule: []\nrules: [{level: None}]`, 'rule: unknown field; known are apiVersion, kind, metadata, rules, omitStages, omitManagedFields'],
    ['with an unknown field of a rule', `${head}rules: [{level: None, user: [a]}]`, 'rules[0].user: unknown field; known are level, users, userGroups, verbs, resources, namespaces, nonResourceURLs, omitStages, omitManagedFields'],
    ['with an unknown field of a resource', `${head}rules: [{level: None, resources: [{groups: [a]}]}]`, 'rules[0].resources[0].groups: unknown field; known are group, resources, resourceNames'],
    ['without a level', `${head}rules: [{users: [a]}]`, 'rules[0].level: must be one of None, Metadata, Request, RequestResponse'],
    ['with an unknown level', `${head}rules: [{level: All}]`, 'rules[0].level: must be one of None, Metadata, Request, RequestResponse'],
    ['with an unknown stage', `${head}omitStages: [Done]\nrules: [{level: None}]`, 'omitStages[0]: must be one of RequestReceived, ResponseStarted, ResponseComplete, Panic'],
    ['with an unknown stage of a rule', `${head}rules: [{level: None, omitStages: [Panic, Done]}]`, 'rules[0].omitStages[1]: must be one of RequestReceived, ResponseStarted, ResponseComplete, Panic'],
    ['with paths and resources', `${head}rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]`, 'rules[0].nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs'],
    ['with a path without a slash', `${head}rules: [{level: None, nonResourceURLs: [healthz]}]`, 'rules[0].nonResourceURLs[0]: must begin with "/"'],
    ['with a star within a path', `${head}rules: [{level: None, nonResourceURLs: ["/a*/b"]}]`, 'rules[0].nonResourceURLs[0]: "*" must be the last character'],
    ['with names of no resource', `${head}rules: [{level: None, resources: [{resourceNames: [a]}]}]`, 'rules[0].resources[0].resourceNames: using resourceNames requires at least one resource'],
    ['with the version of a group', `${head}rules: [{level: None, resources: [{group: apps/v1}]}]`, expect.stringContaining('rules[0].resources[0].group: must be the name of a group without a version')],
    ['with a level that is a list', `${head}rules: [{level: [None]}]`, 'rules[0].level: must be one of None, Metadata, Request, RequestResponse'],
    ['with users that are a text', `${head}rules: [{level: None, users: alice}]`, 'rules[0].users: must be a list of strings'],
    ['with rules that are a mapping', `${head}rules: {level: None}`, 'rules: must be a list; rules: must have at least one rule'],
    ['with a prototype key', `${head}rules: [{level: None, __proto__: {users: [a]}}]`, expect.stringContaining('rules[0].__proto__: unknown field')],
    ['that is no mapping', '- a', 'the file must contain a mapping'],
    ['that is not YAML', 'a: [', expect.stringContaining('unexpected end')],
    ['that is empty', '', 'expected a document, but the input is empty'],
  ])('%s', (_what, text, problem) => expect(problemOf(text)).toEqual(problem));
});
