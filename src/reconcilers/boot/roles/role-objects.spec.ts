import { namingProfile } from '../../../config/naming-profile.js';
import { roleObjects } from './role-objects.js';

const { clusterroles, clusterrolebindings, roles, rolebindings } = roleObjects(namingProfile('kubernetes'));
const named = (name: string) => clusterroles.find(({ metadata }) => metadata.name === name)!;
const resourcesOf = (name: string) => new Set((named(name).rules ?? []).flatMap(({ resources = [] }) => resources));

it('there are as many roles and bindings as in a cluster of v1.36', () =>
  expect([clusterroles, clusterrolebindings, roles, rolebindings].map(({ length }) => length)).toEqual([69, 50, 7, 7]));

it('every binding refers to an initial role', () => {
  const names = (objects: typeof roles) =>
    new Set(objects.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`));
  const referred = (objects: typeof roles) =>
    objects.map(({ metadata, roleRef }) => `${metadata.namespace}/${roleRef?.name}`);
  expect([...names(clusterroles)]).toEqual(expect.arrayContaining(referred(clusterrolebindings)));
  expect([...names(roles)]).toEqual(expect.arrayContaining(referred(rolebindings)));
});

it.each<[role: string, includes: string[], lacks: string[]]>([
  ['view', ['configmaps', 'pods/log', 'deployments'], ['secrets', 'roles', 'pods/exec']],
  ['edit', ['configmaps', 'secrets', 'pods/exec', 'deployments'], ['roles', 'rolebindings', 'clusterroles']],
  ['admin', ['configmaps', 'secrets', 'roles', 'localsubjectaccessreviews'], ['nodes', 'clusterroles']],
])('%s has its aggregated rules', (role, includes, lacks) => {
  const resources = resourcesOf(role);
  expect([...resources]).toEqual(expect.arrayContaining(includes));
  expect(lacks.filter((resource) => resources.has(resource))).toEqual([]);
});

it('names have the domains of the naming profile', () => {
  const neutral = JSON.stringify(roleObjects(namingProfile('svc')));
  expect(neutral).not.toMatch(/k8s\.io|kubernetes\.io/);
  expect(neutral).toContain('system:certificates.svc.example:legacy-unknown-approver');
  expect(neutral).toContain('"namespace":"svc-system"');
});
