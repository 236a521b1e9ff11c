import { anyCustomType } from '../../test/harness/any-custom-type.js';
import { registryOf, shell } from '../../test/harness/shell.js';
import { Catalog } from '../catalog/catalog.js';
import { standardEncodings } from '../codec/encodings.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import { defineResource, type ResourceDefinition } from '../registry/definition/resource-definition.js';
import { defaultTable } from '../registry/definition/table.js';
import { systemClock } from '../std/clock.js';
import { OpenApiRequests } from '../endpoints/openapi-requests.js';

const lens = {
  type: 'view',
  verbs: ['get', 'update', 'patch'],
  view: (object: KubeObject) => object,
  put: (object: KubeObject) => object,
} as const;
const group = 'stable.example.com';
const schema = {
  type: 'object',
  description: 'What runs now and then.',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 1, minimum: 0 } } } },
};

function kind(name: string, version: string, openApi: JsonObject | undefined, rest: Partial<ResourceDefinition> = {}) {
  return defineResource({
    ...{ group, version, kind: name, plural: `${name.toLowerCase()}s`, namespaced: true, table: defaultTable },
    ...{ strategy: { validateName: () => [] }, itemsCarryType: true },
    customType: anyCustomType(openApi),
    ...rest,
  });
}
const tab = kind('CronTab', 'v1', schema, {
  subresources: { status: lens, scale: { ...lens, viewKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } } },
  selectableFields: { 'spec.size': () => '' },
});
const box = kind(
  'Box',
  'v1',
  { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  { namespaced: false, plural: 'boxes' },
);
const bare = kind('Bare', 'v2', undefined);
const pods = defineResource({
  ...{ group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, table: defaultTable },
  strategy: { validateName: () => [] },
});

interface Document {
  info: object;
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, Record<string, unknown>> };
  definitions: Record<string, Record<string, unknown>>;
}

function serve(definitions: readonly ResourceDefinition[] = [pods, tab, box, bare]) {
  const registry = registryOf(definitions);
  const requests = new OpenApiRequests({
    registry,
    encodings: standardEncodings,
    catalog: new Catalog(namingProfile('kubernetes')),
    ...{ apiDomain: 'k8s.io', apiName: 'kubernetes', serverPaths: ['version'], clock: systemClock },
  });
  const server = shell((request, reply) => requests.answer(request, reply));
  const get = (url: string, accept = '*/*') => server.inject({ method: 'GET', url, headers: { accept } });
  const document = async (url: string) => (await get(url)).json<Document>();
  const index = async () =>
    (await get('/openapi/v3')).json<{ paths: Record<string, { serverRelativeURL: string }> }>().paths;
  return { registry, get, document, index };
}

const root = `/apis/${group}/v1`;
const gvk = (of: string, version = 'v1') => ({ group, version, kind: of });

it('documents the paths of custom kinds, without deprecated watch paths', async () => {
  const { paths } = await serve().document(`/openapi/v3${root}`);
  const lines = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([, operation]) => {
        const { operationId, responses } = operation as { operationId: string; responses: object };
        return `${path.slice(root.length + 1)} ${operationId} ${Object.keys(responses).join()}`;
      }),
  );
  const of = 'StableExampleComV1NamespacedCronTab';
  const at = 'namespaces/{namespace}/crontabs';
  expect(lines).toEqual([
    'boxes listStableExampleComV1Box 200,401',
    'boxes createStableExampleComV1Box 200,201,202,401',
    'boxes deleteStableExampleComV1CollectionBox 200,401',
    'boxes/{name} readStableExampleComV1Box 200,401',
    'boxes/{name} replaceStableExampleComV1Box 200,201,401',
    'boxes/{name} deleteStableExampleComV1Box 200,202,401',
    'boxes/{name} patchStableExampleComV1Box 200,401',
    'crontabs listStableExampleComV1CronTabForAllNamespaces 200,401',
    `${at} list${of} 200,401`,
    `${at} create${of} 200,201,202,401`,
    `${at} deleteStableExampleComV1CollectionNamespacedCronTab 200,401`,
    `${at}/{name} read${of} 200,401`,
    `${at}/{name} replace${of} 200,201,401`,
    `${at}/{name} delete${of} 200,202,401`,
    `${at}/{name} patch${of} 200,401`,
    `${at}/{name}/scale read${of}Scale 200,401`,
    `${at}/{name}/scale replace${of}Scale 200,201,401`,
    `${at}/{name}/scale patch${of}Scale 200,401`,
    `${at}/{name}/status read${of}Status 200,401`,
    `${at}/{name}/status replace${of}Status 200,201,401`,
    `${at}/{name}/status patch${of}Status 200,401`,
  ]);
});

it('documents neither strategic merge patch nor protobuf, and the custom kind for scale', async () => {
  const { paths } = await serve().document(`/openapi/v3${root}`);
  const { patch, put } = paths[`${root}/namespaces/{namespace}/crontabs/{name}/scale`]!;
  const types = (operation: object | undefined) =>
    Object.keys((operation as { requestBody: { content: object } }).requestBody.content);
  expect(types(patch)).toEqual([
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
  ]);
  expect(types(put)).toEqual(['application/json', 'application/yaml']);
  expect(put?.['x-kubernetes-group-version-kind']).toEqual(gvk('CronTab'));
  expect(put?.['tags']).toEqual(['stableExampleCom_v1']);
});

it('v3 contains the schemas of the CRDs', async () => {
  const { components } = await serve().document(`/openapi/v3${root}`);
  expect(components.schemas[`com.example.stable.v1.CronTab`]).toEqual({
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: 'string', description: expect.any(String) as string },
      kind: { type: 'string', description: expect.any(String) as string },
      metadata: {
        description: expect.any(String) as string,
        allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
      },
    },
    'x-kubernetes-group-version-kind': [gvk('CronTab')],
    'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.size' }],
  });
  expect(components.schemas[`com.example.stable.v1.CronTabList`]).toMatchObject({
    required: ['items'],
    properties: { items: { items: { $ref: '#/components/schemas/com.example.stable.v1.CronTab' } } },
    'x-kubernetes-group-version-kind': [gvk('CronTabList')],
    'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.size' }],
  });
  expect(Object.keys(components.schemas)).toContain('io.k8s.api.autoscaling.v1.Scale');
});

it('v2 contains the schemas of the CRDs without keywords that it lacks', async () => {
  const { definitions, paths } = await serve().document('/openapi/v2');
  expect(definitions['com.example.stable.v1.CronTab']).toMatchObject({
    properties: {
      spec: { properties: { size: { type: 'integer', minimum: 0 } } },
      metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
    },
  });
  expect(JSON.stringify(definitions['com.example.stable.v1.CronTab'])).not.toContain('default');
  expect(definitions['com.example.stable.v1.Box']).toEqual({
    type: 'object',
    'x-kubernetes-group-version-kind': [gvk('Box')],
  });
  expect(definitions['com.example.stable.v2.Bare']).toEqual({
    type: 'object',
    'x-kubernetes-group-version-kind': [gvk('Bare', 'v2')],
  });
  expect(Object.keys(paths)).toContain(`${root}/boxes/{name}`);
  expect(Object.keys(paths)).not.toContain(`${root}/`);
});

it('the document of custom kinds has the title CRD Swagger and no security schemes', async () => {
  const { info, components } = await serve().document(`/openapi/v3${root}`);
  expect(info).toEqual({ title: 'Kubernetes CRD Swagger', version: 'v0.1.0' });
  expect(Object.keys(components)).toEqual(['schemas']);
});

it('the index lists versions of custom groups, but not the groups', async () => {
  const { index } = serve();
  expect(Object.keys(await index())).toEqual([
    ...['api', 'api/v1', 'apis', `apis/${group}/v1`, `apis/${group}/v2`, 'version'],
  ]);
});

it('only documents of changed versions are computed again', async () => {
  const { registry, index, document } = serve();
  const before = await index();
  const v1 = registry.findVersion(group, 'v1')!;
  registry.replaceVersions([{ ...v1, resources: v1.resources.slice(1) }]);
  const after = await index();
  expect(
    Object.keys(before).filter((name) => before[name]?.serverRelativeURL !== after[name]?.serverRelativeURL),
  ).toEqual([`apis/${group}/v1`]);
  expect(Object.keys((await document('/openapi/v2')).definitions)).not.toContain('com.example.stable.v1.CronTab');
  registry.replaceVersions([{ ...v1, resources: [] }]);
  expect(Object.keys(await index())).not.toContain(`apis/${group}/v1`);
});

it.each(['/openapi/v2', `/openapi/v3${root}`])('%s is served as protobuf', async (url) => {
  const version = url.slice('/openapi/'.length, '/openapi/v2'.length);
  const type = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
  const answer = await serve().get(url, type);
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, type]);
  expect(answer.rawPayload.includes('com.example.stable.v1.CronTab')).toBe(true);
});
