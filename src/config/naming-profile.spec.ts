import { namingProfile } from './naming-profile.js';

test.each([
  {
    profile: namingProfile('kubernetes'),
    group: 'rbac.authorization.k8s.io',
    label: 'kubernetes.io/metadata.name',
    secret: 'bootstrap.kubernetes.io/token',
    api: 'k8s.io/initial-events-end',
    namespace: 'kube-node-lease',
    map: 'kube-root-ca.crt',
  },
  {
    profile: namingProfile('svc', { apiDomain: 'example.com' }),
    group: 'rbac.authorization.example.com',
    label: 'example.com/metadata.name',
    secret: 'bootstrap.example.com/token',
    api: 'example.com/initial-events-end',
    namespace: 'svc-node-lease',
    map: 'svc-root-ca.crt',
  },
  {
    profile: namingProfile('svc', { apiDomain: 'a.io', labelDomain: 'b.io' }),
    group: 'rbac.authorization.a.io',
    label: 'b.io/metadata.name',
    secret: 'bootstrap.b.io/token',
    api: 'a.io/initial-events-end',
    namespace: 'svc-node-lease',
    map: 'svc-root-ca.crt',
  },
])('profile $profile: group $group, label $label', ({ profile, group, label, secret, api, namespace, map }) => {
  expect(profile.group('rbac.authorization')).toBe(group);
  expect(profile.label('metadata.name')).toBe(label);
  expect(profile.label('token', 'bootstrap')).toBe(secret);
  expect(profile.apiLabel('initial-events-end')).toBe(api);
  expect(profile.systemNamespace('node-lease')).toBe(namespace);
  expect(profile.systemName('root-ca.crt')).toBe(map);
});

test('equal profiles are one frozen object', () => {
  const profile = namingProfile('kubernetes', { apiDomain: 'a.io' });
  expect(namingProfile('kubernetes', { apiDomain: 'a.io', labelDomain: 'a.io' })).toBe(profile);
  expect(Object.isFrozen(profile)).toBe(true);
  expect(namingProfile('svc', { apiDomain: 'a.io' })).not.toBe(profile);
});
