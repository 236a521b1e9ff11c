import type { KubeObject } from '../../src/machinery/kube-object.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

/** Table, OpenAPI and discovery of a custom kind. */
const group = 'lighting.example.com';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const lamps = `/apis/${group}/v1/namespaces/default/lamps`;
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };

const columns = [
  { name: 'Watts', type: 'integer', jsonPath: '.spec.watts' },
  { name: 'Lit', type: 'string', jsonPath: '.status.conditions[?(@.type=="Lit")].status', description: 'Whether.' },
  { name: 'Sockets', type: 'string', jsonPath: '.spec.sockets', priority: 1 },
  { name: 'Since', type: 'date', jsonPath: '.spec.since' },
];
const schema = {
  type: 'object',
  description: 'Something that shines.',
  properties: {
    spec: {
      type: 'object',
      properties: {
        watts: { type: 'integer', default: 7 },
        since: { type: 'string' },
        sockets: { type: 'array', items: { type: 'string' } },
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const version = (name: string, given: object = {}) => ({
  ...{ name, served: true, storage: false, schema: { openAPIV3Schema: schema }, additionalPrinterColumns: columns },
  ...given,
});
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `lamps.${group}` },
  spec: {
    ...{
      group,
      scope: 'Namespaced',
      names: { plural: 'lamps', kind: 'Lamp', shortNames: ['lm'], categories: ['all'] },
    },
    versions: [version('v1beta1'), version('v1', { storage: true, subresources: { status: {} } }), version('v2alpha1')],
  },
};

let server: TestServer;
const bodyOf = async (path: string, headers?: Record<string, string>) => (await server.admin.get(path, headers)).body;
/** Maps document names to their URLs, which contain a hash of the document. */
async function addresses(): Promise<Map<string, string>> {
  const { paths } = JSON.parse((await server.admin.get('/openapi/v3')).text) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  return new Map(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]));
}
const isEstablished = (object: KubeObject | undefined): boolean =>
  JSON.stringify(object?.['status'] ?? {}).includes('"the initial names have been accepted"');

beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  const { code, text } = await server.admin.post(definitions, definition);
  if (code !== 201) throw new Error(text);
  await until(server.admin, definitions, definition.metadata.name, isEstablished);
  await server.admin.post(lamps, { metadata: { name: 'desk' }, spec: { sockets: ['E27', 'E14'], since: 'never' } });
  await server.admin.patch(`${lamps}/desk/status`, { status: { conditions: [{ type: 'Lit', status: 'True' }] } });
});
afterAll(() => server.stop());

it('has the columns of its definition', async () => {
  const table = await bodyOf(lamps, asTable);
  expect(table.columnDefinitions).toMatchObject([
    { name: 'Name', type: 'string', format: 'name', priority: 0 },
    { name: 'Watts', type: 'integer', format: '', priority: 0 },
    { name: 'Lit', type: 'string', description: 'Whether.' },
    { name: 'Sockets', type: 'string', priority: 1 },
    { name: 'Since', type: 'date' },
  ]);
  expect(table.rows).toMatchObject([{ cells: ['desk', 7, 'True', '["E27","E14"]', '<invalid>'] }]);
  expect((await bodyOf(`${lamps}/desk`, asTable)).rows).toEqual(table.rows);
});

it('a watch as Tables has the columns once', async () => {
  const watch = await server.admin.watch(`${lamps}?watch=1&resourceVersion=0`, asTable);
  await server.admin.post(lamps, { metadata: { name: 'floor' }, spec: { watts: 40 } });
  const seen: unknown[] = [];
  for await (const { object } of watch) {
    const { columnDefinitions, rows } = object as unknown as { columnDefinitions: object[] | null; rows: object[] };
    seen.push([columnDefinitions?.length ?? 0, (rows[0] as { cells: unknown[] }).cells.slice(0, 3)]);
    if (seen.length === 2) break;
  }
  watch.close();
  expect(seen).toEqual([
    [5, ['desk', 7, 'True']],
    [0, ['floor', 40, null]],
  ]);
});

it('has PartialObjectMetadata in every encoding', async () => {
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const accept = (kind: string) => ({ accept: `${protobuf};as=${kind};v=v1;g=meta.k8s.io,application/json` });
  const one = await server.admin.get(`${lamps}/desk`, accept('PartialObjectMetadata'));
  const list = await server.admin.get(lamps, accept('PartialObjectMetadataList'));
  for (const answer of [one, list]) {
    expect(answer.headers['content-type']).toBe(protobuf);
    expect(answer.text).toMatch(/^k8s\0[^]*PartialObjectMetadata[^]*desk/);
    expect(answer.text).not.toContain('E27');
  }
  expect((await server.admin.get(lamps, { accept: protobuf })).code).toBe(406);
  expect((await server.admin.get(lamps, accept('Table'))).headers['content-type']).toBe('application/json');
});

it('is in discovery, the preferred version first', async () => {
  const { versions } = await bodyOf(`/apis/${group}`);
  expect(versions.map((each: { version: string }) => each.version)).toEqual(['v1', 'v1beta1', 'v2alpha1']);
  const { items } = await bodyOf('/apis', aggregated);
  const found = items.find(({ metadata }: KubeObject) => metadata.name === group);
  expect(found.versions).toMatchObject([
    {
      version: 'v1',
      resources: [
        {
          ...{ resource: 'lamps', singularResource: 'lamp', shortNames: ['lm'], categories: ['all'] },
          responseKind: { group, version: 'v1', kind: 'Lamp' },
          subresources: [{ subresource: 'status', responseKind: { group, version: 'v1', kind: 'Lamp' } }],
        },
      ],
    },
    { version: 'v1beta1' },
    { version: 'v2alpha1' },
  ]);
});

it('has the descriptions of its schema in OpenAPI', async () => {
  const { components, paths } = await bodyOf(`/openapi/v3/apis/${group}/v1`);
  expect(components.schemas['com.example.lighting.v1.Lamp']).toMatchObject(schema);
  expect(Object.keys(paths)).toContain(`${lamps.replace('default', '{namespace}')}/{name}/status`);
  const { definitions: older } = await bodyOf('/openapi/v2');
  expect(older['com.example.lighting.v1beta1.Lamp'].properties.spec.properties.watts).toEqual({ type: 'integer' });
});

it('a changed definition changes its OpenAPI document and no other', async () => {
  const { admin } = server;
  const before = await addresses();
  const name = definition.metadata.name;
  const watch = await admin.watch(`${lamps}?watch=1`);
  const [beta, stored] = definition.spec.versions;
  await admin.patch(`${definitions}/${name}`, {
    spec: {
      versions: [beta, { ...stored, additionalPrinterColumns: [], schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  while (await watch.next());
  const table = await bodyOf(lamps, asTable);
  expect(table.columnDefinitions.map((column: { name: string }) => column.name)).toEqual(['Name', 'Age']);
  const after = await addresses();
  const changed = [...before.keys()].filter((path) => before.get(path) !== after.get(path));
  expect(changed).toEqual([`apis/${group}/v1`, `apis/${group}/v2alpha1`]);
});

it('a deleted definition removes it from discovery and OpenAPI', async () => {
  const { admin } = server;
  await admin.delete(`${definitions}/${definition.metadata.name}`);
  await untilGone(admin, definitions, definition.metadata.name);
  expect((await admin.get(`/apis/${group}`)).code).toBe(404);
  expect((await admin.get(`/openapi/v3/apis/${group}/v1`)).code).toBe(404);
  expect((await admin.get('/openapi/v2')).text).not.toContain('lighting');
});
