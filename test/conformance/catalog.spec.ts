import { Catalog } from '../../src/catalog/catalog.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { isRemoved } from '../../src/registry/apis/api-lifecycle.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Compares discovery, with every API enabled, with the published types. */
const catalog = new Catalog(namingProfile('kubernetes'));
let server: TestServer;
beforeAll(async () => {
  const config = { runtimeConfig: { 'api/all': true } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
});
afterAll(() => server.stop());

/** Types of webhook payloads, a subresource, and versions removed before lifecycles were recorded. */
const notServed = new Set([
  'admission.k8s.io',
  'imagepolicy.k8s.io',
  'extensions',
  'policy/v1 Eviction',
  'node.k8s.io/v1alpha1',
  'rbac.authorization.k8s.io/v1alpha1',
]);
const expected = [...catalog.kinds().values()].filter(({ group, version, kind, resource, lifecycle }) => {
  const names = [group, `${group}/${version}`, `${group}/${version} ${kind}`];
  return resource !== undefined && !names.some((name) => notServed.has(name)) && !isRemoved(lifecycle);
});

interface Found {
  readonly kind: string;
  readonly name: string;
  readonly namespaced: boolean;
}

it.each(expected.map((facts) => [`${facts.group}/${facts.version} ${facts.kind}`, facts] as const))(
  'serves %s as published',
  async (_, { group, version, kind, resource }) => {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const { code, body } = await server.admin.get(root);
    expect(code).toBe(200);
    const resources = (body as { resources: Found[] }).resources;
    const { plural, namespaced, hasStatus, subresources } = resource!;
    expect(resources.find(({ name }) => name === plural)).toMatchObject({ kind, namespaced });
    const isReview = resources.every(({ name }) => name !== `${plural}/status`) && /review/.test(plural);
    const parts = [...subresources, ...(hasStatus && !isReview ? ['status'] : [])].map((part) => `${plural}/${part}`);
    expect(resources.map(({ name }) => name)).toEqual(expect.arrayContaining(parts));
  },
);

it('serves no removed version', async () => {
  const gone = [...catalog.kinds().values()].filter(({ lifecycle, resource }) => resource && isRemoved(lifecycle));
  expect(gone.length).toBeGreaterThanOrEqual(60);
  for (const { group, version, resource } of gone) {
    const { code } = await server.admin.get(`/apis/${group}/${version}/${resource!.plural}`);
    expect([group, version, resource!.plural, code]).toEqual([group, version, resource!.plural, 404]);
  }
});
