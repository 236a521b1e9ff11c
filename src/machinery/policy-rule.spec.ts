import { policyRuleOf, ruleAllows } from './policy-rule.js';

const asked = (verb: string, what: string, name = '') => {
  if (what.startsWith('/')) return { ...nothing, verb, isResourceRequest: false, path: what };
  const [group = '', resource = '', subresource = ''] = what.split(' ').flatMap((part) => part.split('/'));
  return {
    ...nothing,
    verb,
    isResourceRequest: true,
    group: group === 'core' ? '' : group,
    resource,
    subresource,
    name,
  };
};
const nothing = { group: '', resource: '', subresource: '', name: '', path: '' };

it.each<[rule: object, question: ReturnType<typeof asked>, allowed: boolean]>([
  [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, asked('get', 'core pods'), true],
  [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, asked('list', 'core pods'), false],
  [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, asked('get', 'apps pods'), false],
  [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, asked('get', 'core pods/log'), false],
  [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, asked('get', 'core pods/log'), true],
  [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, asked('get', 'core pods'), false],
  [{ verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] }, asked('get', 'apps deployments/scale'), true],
  [{ verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] }, asked('get', 'apps deployments/status'), false],
  [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, asked('bind', 'x.example.com things/part'), true],
  [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, asked('get', '/healthz'), false],
  [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
    asked('get', 'core pods', 'a'),
    true,
  ],
  [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
    asked('get', 'core pods', 'b'),
    false,
  ],
  [{ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }, asked('list', 'core pods'), false],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, asked('get', '/healthz'), true],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, asked('get', '/healthz/etcd'), false],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, asked('get', '/healthz/etcd'), true],
  [{ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, asked('get', '/healthz'), false],
  [{ verbs: ['*'], nonResourceURLs: ['*'] }, asked('post', '/anything'), true],
  [{ verbs: ['get'], nonResourceURLs: ['*'] }, asked('get', 'core pods'), false],
])('%j and %j: %s', (rule, question, allowed) =>
  expect(ruleAllows(policyRuleOf(rule as never), question)).toBe(allowed),
);
