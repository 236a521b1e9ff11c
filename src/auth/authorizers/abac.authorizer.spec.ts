import { namingProfile } from '../../config/naming-profile.js';
import { parseAbacPolicies } from '../abac/policy-file.js';
import type { AuthorizationAttributes } from '../authorizer.js';
import { AbacAuthorizer } from './abac.authorizer.js';

const naming = namingProfile('kubernetes');
const parse = (text: string) => parseAbacPolicies(text, '/etc/policies', naming);
const versioned = (spec: object) =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });

interface Asked extends Partial<Omit<AuthorizationAttributes, 'user'>> {
  readonly user?: string;
  readonly groups?: readonly string[];
}
const attributesOf = ({ user = 'alice', groups = [], ...asked }: Asked): AuthorizationAttributes => ({
  ...{ verb: 'get', isResourceRequest: asked.path === undefined, group: '', version: 'v1', resource: '' },
  ...{ subresource: '', namespace: '', name: '', path: '' },
  ...asked,
  user: { name: user, uid: '', groups: [...groups, 'system:authenticated'], extra: {} },
});
const decisionOf = (text: string, asked: Asked) =>
  new AbacAuthorizer(parse(text)).authorize(attributesOf(asked)).decision;

const pods = { resource: 'pods', namespace: 'shop' };
const stranger = { ...pods, user: 'bob' };

describe('a v1beta1 policy', () => {
  const onPods = versioned({ user: 'alice', namespace: 'shop', resource: 'pods', apiGroup: '' });
  const all = { namespace: '*', resource: '*', apiGroup: '*', nonResourcePath: '*' };
  it.each<[string, string, Asked, 'allow' | 'no opinion']>([
    ['allows its user', onPods, pods, 'allow'],
    ['allows every verb', onPods, { ...pods, verb: 'delete' }, 'allow'],
    ['does not match another user', onPods, stranger, 'no opinion'],
    ['does not match another namespace', onPods, { ...pods, namespace: 'other' }, 'no opinion'],
    ['does not match the cluster scope', onPods, { ...pods, namespace: '' }, 'no opinion'],
    ['does not match another resource', onPods, { ...pods, resource: 'secrets' }, 'no opinion'],
    ['does not match another API group', onPods, { ...pods, group: 'metrics.k8s.io' }, 'no opinion'],
    ['does not match a path', onPods, { path: '/version' }, 'no opinion'],
    ['with * matches every resource', versioned({ user: 'alice', ...all }), { ...pods, group: 'apps' }, 'allow'],
    ['with * matches every path', versioned({ user: 'alice', ...all }), { path: '/version' }, 'allow'],
    ['with user * matches authenticated users', versioned({ user: '*', ...all }), stranger, 'allow'],
    ['with group * matches authenticated users', versioned({ group: '*', ...all }), stranger, 'allow'],
    ['without user and group matches nobody', versioned(all), pods, 'no opinion'],
    ['matches its group', versioned({ group: 'devs', ...all }), { ...pods, groups: ['devs'] }, 'allow'],
    ['does not match other groups', versioned({ group: 'devs', ...all }), pods, 'no opinion'],
    [
      'with user and group needs both',
      versioned({ user: 'alice', group: 'devs', ...all }),
      { ...stranger, groups: ['devs'] },
      'no opinion',
    ],
    [
      'with user and group allows both',
      versioned({ user: 'alice', group: 'devs', ...all }),
      { ...pods, groups: ['devs'] },
      'allow',
    ],
    [
      'with readonly allows watch',
      versioned({ user: 'alice', readonly: true, ...all }),
      { ...pods, verb: 'watch' },
      'allow',
    ],
    [
      'with readonly does not allow create',
      versioned({ user: 'alice', readonly: true, ...all }),
      { ...pods, verb: 'create' },
      'no opinion',
    ],
    ['matches a path', versioned({ user: 'alice', nonResourcePath: '/version' }), { path: '/version' }, 'allow'],
    [
      'matches the begin of a path',
      versioned({ user: 'alice', nonResourcePath: '/api*' }),
      { path: '/apis/apps' },
      'allow',
    ],
    [
      'does not match other paths',
      versioned({ user: 'alice', nonResourcePath: '/version' }),
      { path: '/version/x' },
      'no opinion',
    ],
  ])('%s', (_title, text, asked, decision) => expect(decisionOf(text, asked)).toBe(decision));
});

describe('an unversioned policy', () => {
  it.each<[string, object, Asked, 'allow' | 'no opinion']>([
    ['without fields allows authenticated users everything', {}, { path: '/metrics' }, 'allow'],
    ['matches every API group', { user: 'alice', resource: 'pods' }, { ...pods, group: 'metrics.k8s.io' }, 'allow'],
    ['without a namespace matches all', { user: 'alice', resource: 'pods' }, pods, 'allow'],
    ['without a resource matches all', { user: 'alice', namespace: 'shop' }, { ...pods, resource: 'secrets' }, 'allow'],
    ['with a namespace matches no path', { user: 'alice', namespace: 'shop' }, { path: '/metrics' }, 'no opinion'],
    ['with a resource matches no path', { user: 'alice', resource: 'pods' }, { path: '/metrics' }, 'no opinion'],
    ['with user * matches authenticated users', { user: '*' }, stranger, 'allow'],
    ['does not match another user', { user: 'alice' }, stranger, 'no opinion'],
    ['with readonly does not allow update', { readonly: true }, { ...pods, verb: 'update' }, 'no opinion'],
  ])('%s', (_title, policy, asked, decision) => expect(decisionOf(JSON.stringify(policy), asked)).toBe(decision));

  it('does not match anonymous users', () => {
    const user = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };
    const authorizer = new AbacAuthorizer(parse('{}'));
    expect(authorizer.authorize({ ...attributesOf(pods), user }).decision).toBe('no opinion');
  });
});

it('a request that no policy allows is told so', () => {
  expect(new AbacAuthorizer([]).authorize(attributesOf(pods))).toEqual({
    decision: 'no opinion',
    reason: 'No policy matched.',
  });
});

it('rules of a user are those of the policies that match', () => {
  const text = [
    versioned({ user: 'alice', namespace: '*', resource: 'pods', readonly: true }),
    versioned({ group: 'system:authenticated', namespace: 'other', resource: 'secrets' }),
    versioned({ user: 'alice', nonResourcePath: '/version' }),
    versioned({ user: 'bob', namespace: '*', resource: '*' }),
  ].join('\n');
  const { user } = attributesOf({});
  expect(new AbacAuthorizer(parse(text)).rulesFor(user, 'shop')).toEqual({
    resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/version'] }],
  });
});

describe('a policy file', () => {
  it('may have comments, empty lines and both line endings', () => {
    expect(parse(`# all of it\r\n\r\n  {"user":"alice"}  \r\n#\n{"user":"bob"}`)).toHaveLength(2);
  });

  it.each<[string, string, RegExp]>([
    ['is not JSON', '{"user":', /line 1: must be a JSON object/],
    ['is a list', '[]', /line 1: must be a JSON object/],
    ['has a wrong kind', '# one\n{"apiVersion":"v1","kind":"Pod"}', /line 2: kind: must be Policy in abac\./],
    ['has an unknown field', versioned({ user: 'alice', ressource: 'pods' }), /line 1: spec\.ressource: unknown field/],
    ['has a spec without apiVersion', '{"spec":{"user":"alice"}}', /line 1: spec: unknown field/],
    ['has a field of a wrong type', '{"readonly":"true"}', /line 1: readonly: must be true or false/],
    ['has the field __proto__', '{"__proto__":{"user":"alice"}}', /line 1: must be a JSON object/],
  ])('with a line that %s is refused', (_title, text, message) => expect(() => parse(text)).toThrow(message));

  it('with many wrong lines names the first of them', () => {
    expect(() => parse('x\n'.repeat(1000))).toThrow(/line 20: must be a JSON object$/);
  });
});
