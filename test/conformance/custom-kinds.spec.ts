import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Watch } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const group = 'shop.example.com';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['color'],
      properties: {
        color: { type: 'string', enum: ['red', 'blue'] },
        replicas: { type: 'integer', default: 1, minimum: 0, maximum: 9 },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, size: { type: 'integer' } },
          },
        },
      },
    },
    status: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, selector: { type: 'string' }, note: { type: 'string' } },
    },
  },
};

const version = (name: string, given: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: widgetSchema },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
  selectableFields: [{ jsonPath: '.spec.color' }],
  ...given,
});

const definition = (plural: string, kind: string, versions: object[] = [version('v1')], spec: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: { group, scope: 'Namespaced', names: { plural, kind, shortNames: [plural.slice(0, 3)] }, versions, ...spec },
});

let server: TestServer;
beforeAll(async () => void (server = await startTestServer({ store: 'memory', naming: 'kubernetes' })));
afterAll(() => server.stop());

const holds =
  (type: string) =>
  (object: KubeObject | undefined): boolean =>
    ((object?.['status'] as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
      (condition) => condition.type === type && condition.status === 'True',
    );

async function define(given: ReturnType<typeof definition>): Promise<void> {
  const { code, text } = await server.admin.post(definitions, given);
  if (code !== 201) throw new Error(text);
  await until(server.admin, definitions, given.metadata.name, holds('Established'));
}

/** Resolves when a watch has sent all events and was ended properly. */
async function overOf(watch: Watch): Promise<void> {
  while (await watch.next());
  expect(await watch.ended).toBe('complete');
}

const at = (plural: string, name = '', in_ = 'v1') =>
  `/apis/${group}/${in_}/namespaces/default/${plural}${name && `/${name}`}`;

describe('a custom kind', () => {
  beforeAll(() => define(definition('widgets', 'Widget')));

  it('is served as soon as its definition is Established', async () => {
    const { admin } = server;
    const made = await admin.post(at('widgets'), { metadata: { name: 'first' }, spec: { color: 'red' } });
    expect(made.code).toBe(201);
    expect(made.body).toMatchObject({
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'first', namespace: 'default', generation: 1 },
      spec: { color: 'red', replicas: 1 },
    });
    expect((await admin.get(at('widgets', 'first'))).body).toEqual(made.body);
    const list = (await admin.get(at('widgets'))).body;
    expect(list).toMatchObject({ kind: 'WidgetList', apiVersion: `${group}/v1` });
    expect(list.items).toContainEqual(made.body);
    const { resources } = (await admin.get(`/apis/${group}/v1`)).body;
    expect(resources.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['widgets', 'widgets/status', 'widgets/scale']),
    );
    expect((await admin.get('/apis')).text).toContain(`"${group}/v1"`);
  });

  it.each([
    ['an enum value', { color: 'green' }, 422, 'spec.color: Unsupported value: "green"'],
    ['a missing field', {}, 422, 'spec.color: Required value'],
    ['a wrong type', { color: 'red', replicas: 'x' }, 422, 'spec.replicas in body must be of type integer: "string"'],
    ['a number above the maximum', { color: 'red', replicas: 10 }, 422, 'should be less than or equal to 9'],
    [
      'a duplicate list key',
      { color: 'red', parts: [{ name: 'a' }, { name: 'a' }] },
      422,
      'spec.parts[1]: Duplicate value',
    ],
  ])('refuses %s (422)', async (_what, spec, code, message) => {
    const answer = await server.admin.post(at('widgets'), { metadata: { name: 'bad' }, spec });
    expect(answer.code).toBe(code);
    expect(answer.body.message).toContain(message);
  });

  it('unknown fields are pruned with a warning', async () => {
    const { admin } = server;
    const body = {
      metadata: { name: 'pruned', odd: 1 },
      spec: { color: 'red', size: 2, parts: [{ name: 'a', x: 1 }] },
    };
    const made = await admin.post(at('widgets'), body);
    expect(made.body.spec).toEqual({ color: 'red', replicas: 1, parts: [{ name: 'a' }] });
    expect(made.warnings).toEqual(
      ['metadata.odd', 'spec.parts[0].x', 'spec.size'].map((path) =>
        expect.stringContaining(`unknown field "${path}"`),
      ),
    );
    const strict = await admin.post(`${at('widgets')}?fieldValidation=Strict`, body);
    expect(strict.code).toBe(400);
    expect(strict.body.message).toContain('strict decoding error: unknown field "metadata.odd", unknown field "spec.');
  });

  it('status is separate, and generation counts changes of spec', async () => {
    const { admin } = server;
    await admin.post(at('widgets'), { metadata: { name: 's' }, spec: { color: 'red' }, status: { note: 'dropped' } });
    const path = at('widgets', 's');
    expect((await admin.get(path)).body.status).toBeUndefined();
    const told = await admin.patch(`${path}/status`, { spec: { color: 'blue' }, status: { note: 'seen', odd: 1 } });
    expect(told.body).toMatchObject({ metadata: { generation: 1 }, spec: { color: 'red' }, status: { note: 'seen' } });
    const asked = await admin.patch(path, { spec: { color: 'blue' }, status: { note: 'ignored' } });
    expect(asked.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { color: 'blue' },
      status: { note: 'seen' },
    });
    expect((await admin.patch(`${path}/status`, { status: { replicas: 'many' } })).code).toBe(422);
  });

  it('scale reads and writes spec.replicas', async () => {
    const { admin } = server;
    await admin.post(at('widgets'), { metadata: { name: 'scaled' }, spec: { color: 'red', replicas: 2 } });
    const path = at('widgets', 'scaled');
    await admin.patch(`${path}/status`, { status: { replicas: 1, selector: 'a=b' } });
    expect((await admin.get(`${path}/scale`)).body).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'a=b' },
    });
    expect((await admin.patch(`${path}/scale`, { spec: { replicas: 5 } })).body).toMatchObject({
      spec: { replicas: 5 },
    });
    expect((await admin.get(path)).body.spec.replicas).toBe(5);
  });

  it('a repeated configuration of the scale changes nothing', async () => {
    const { admin } = server;
    await define(
      definition('crews', 'Crew', [
        version('v1', {
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: { workers: { type: 'integer' }, replicas: { type: 'integer' } } },
              },
            },
          },
          subresources: { scale: { specReplicasPath: '.spec.workers', statusReplicasPath: '.status.workers' } },
          additionalPrinterColumns: [],
          selectableFields: [],
        }),
      ]),
    );
    await admin.post(at('crews'), { metadata: { name: 'c' }, spec: { workers: 3, replicas: 8 } });
    const config = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'c' }, spec: { replicas: 3 } };
    for (let times = 0; times < 4; times++) {
      const path = `${at('crews', 'c')}/scale?fieldManager=one&force=true`;
      const { code, body } = await admin.patch(path, config, 'application/apply-patch+yaml');
      expect([code, body.kind, body.spec]).toEqual([200, 'Scale', { replicas: 3 }]);
      expect((await admin.get(at('crews', 'c'))).body.spec).toEqual({ workers: 3, replicas: 8 });
    }
  });

  it('negative replicas are refused by schema and scale (422)', async () => {
    const { admin } = server;
    const created = await admin.post(at('widgets'), {
      metadata: { name: 'below' },
      spec: { color: 'red', replicas: -1 },
    });
    await admin.post(at('widgets'), { metadata: { name: 'negative' }, spec: { color: 'red', replicas: 2 } });
    const path = at('widgets', 'negative');
    const patched = await admin.patch(path, { spec: { replicas: -1 } });
    const scaled = await admin.patch(`${path}/scale`, { spec: { replicas: -1 } });
    for (const { code, body } of [created, patched, scaled]) {
      const { kind, causes } = body.details as { kind: string; causes: { field: string; message: string }[] };
      expect([code, kind, causes.map(({ field }) => field)]).toEqual([
        422,
        'Widget',
        ['spec.replicas', '.spec.replicas'],
      ]);
      expect(causes[1]!.message).toBe('Invalid value: -1: should be a non-negative integer');
    }
    const status = await admin.patch(`${path}/status`, { status: { replicas: -1 } });
    expect(status.body.details.causes).toMatchObject([{ field: '.status.replicas' }]);
  });

  it('server-side apply by several managers tracks their fields', async () => {
    const { admin } = server;
    const path = at('widgets', 'applied');
    const apply = (manager: string, spec: object) =>
      admin.patch(
        `${path}?fieldManager=${manager}`,
        { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'applied' }, spec },
        'application/apply-patch+yaml',
      );
    expect((await apply('one', { color: 'red', parts: [{ name: 'a' }] })).code).toBe(201);
    const both = await apply('two', { parts: [{ name: 'b' }] });
    expect(both.body.spec).toEqual({ color: 'red', replicas: 1, parts: [{ name: 'a' }, { name: 'b' }] });
    const conflict = await apply('two', { color: 'blue' });
    expect(conflict.code).toBe(409);
    expect(conflict.body.message).toContain('conflict with "one": .spec.color');
    const { resourceVersion } = (await admin.get(path)).body.metadata;
    const again = await apply('one', { color: 'red', parts: [{ name: 'a' }] });
    expect(again.body.metadata.resourceVersion).toBe(resourceVersion);
  });

  it('merge and JSON patches are applied, strategic merge patches are refused (415)', async () => {
    const { admin } = server;
    await admin.post(at('widgets'), { metadata: { name: 'p' }, spec: { color: 'red', replicas: 3 } });
    const path = at('widgets', 'p');
    expect((await admin.patch(path, { spec: { replicas: null } })).body.spec).toEqual({ color: 'red', replicas: 1 });
    // A null of a field that is not nullable is removed.
    expect(
      (await admin.patch(`${path}/status`, [{ op: 'add', path: '/status', value: null }], 'json')).body,
    ).not.toHaveProperty('status');
    const operations = [{ op: 'replace', path: '/spec/color', value: 'blue' }];
    expect((await admin.patch(path, operations, 'json')).body.spec.color).toBe('blue');
    expect((await admin.patch(path, {}, 'strategic-merge')).code).toBe(415);
  });

  it('an update requires resourceVersion', async () => {
    const { admin } = server;
    const made = (await admin.post(at('widgets'), { metadata: { name: 'put' }, spec: { color: 'red' } })).body;
    const blind = { ...made, metadata: { name: 'put' } };
    expect((await admin.put(at('widgets', 'put'), blind)).code).toBe(422);
    expect((await admin.put(at('widgets', 'put'), made)).body).toEqual(made);
    expect((await admin.put(at('widgets', 'none'), { ...made, metadata: { name: 'none' } })).code).toBe(404);
  });

  it('fieldSelectors, watch and Table work', async () => {
    const { admin } = server;
    const watch = await admin.watch(`${at('widgets')}?watch=1&fieldSelector=spec.color=blue`);
    await admin.post(at('widgets'), { metadata: { name: 'seen', labels: { w: 'x' } }, spec: { color: 'blue' } });
    for await (const { object } of watch) if (object.metadata.name === 'seen') break;
    watch.close();
    const found = (await admin.get(`${at('widgets')}?fieldSelector=spec.color%3Dblue&labelSelector=w`)).body;
    expect(found.items.map(({ metadata }: KubeObject) => metadata.name)).toEqual(['seen']);
    expect((await admin.get(`${at('widgets')}?fieldSelector=spec.size%3D1`)).code).toBe(400);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = (await admin.get(`${at('widgets')}?labelSelector=w`, { accept })).body;
    expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Color']);
    expect(table.rows[0].cells).toEqual(['seen', 'blue']);
  });

  it('protobuf is not acceptable', async () => {
    const accept = 'application/vnd.kubernetes.protobuf';
    expect((await server.admin.get(at('widgets'), { accept })).code).toBe(406);
    const either = await server.admin.get(at('widgets'), { accept: `${accept},application/json` });
    expect(either.headers['content-type']).toBe('application/json');
  });
});

describe('a custom kind with several versions', () => {
  const strict = { ...widgetSchema, properties: { spec: widgetSchema.properties.spec } };
  beforeAll(() =>
    define(
      definition('gadgets', 'Gadget', [
        version('v1beta1', {
          storage: false,
          deprecated: true,
          schema: { openAPIV3Schema: strict },
          subresources: {},
          selectableFields: [],
        }),
        version('v1'),
        version('v2alpha1', { storage: false, served: false }),
      ]),
    ),
  );

  it('serves the same objects in each version, with warnings for deprecated ones', async () => {
    const { admin } = server;
    const made = await admin.post(at('gadgets', '', 'v1beta1'), { metadata: { name: 'g' }, spec: { color: 'red' } });
    expect(made.body).toMatchObject({ apiVersion: `${group}/v1beta1`, spec: { color: 'red', replicas: 1 } });
    expect(made.warnings).toEqual([
      expect.stringContaining(`${group}/v1beta1 Gadget is deprecated; use ${group}/v1 Gadget`),
    ]);
    expect((await admin.get(at('gadgets', 'g'))).body).toMatchObject({ apiVersion: `${group}/v1` });
    await admin.patch(`${at('gadgets', 'g')}/status`, { status: { note: 'seen' } });
    expect((await admin.get(at('gadgets', 'g', 'v1beta1'))).body.status).toBeUndefined();
    expect((await admin.get(at('gadgets', 'g', 'v2alpha1'))).code).toBe(404);
    const { body } = await admin.get(`/apis/${group}`);
    expect(body.preferredVersion.version).toBe('v1');
  });

  it('a new storage version applies to the next write of each object', async () => {
    const { admin } = server;
    await admin.post(at('gadgets'), { metadata: { name: 'moved' }, spec: { color: 'red' } });
    const name = `gadgets.${group}`;
    const { spec } = (await admin.get(`${definitions}/${name}`)).body;
    const versions = spec.versions.map((one: { name: string }) => ({ ...one, storage: one.name === 'v1beta1' }));
    const changed = await admin.patch(`${definitions}/${name}`, { spec: { versions } });
    expect(changed.body.status.storedVersions).toEqual(['v1', 'v1beta1']);
    const before = (await admin.get(at('gadgets', 'moved'))).body;
    expect(before).toMatchObject({ apiVersion: `${group}/v1`, spec: { color: 'red', replicas: 1 } });
    const after = (await admin.put(at('gadgets', 'moved'), before)).body;
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    const again = (await admin.put(at('gadgets', 'moved'), after)).body;
    expect(again.metadata.resourceVersion).toBe(after.metadata.resourceVersion);
  });
});

describe('a changed definition', () => {
  it('changes the served versions, and ends watches of its objects', async () => {
    const { admin } = server;
    await define(definition('tools', 'Tool'));
    await admin.post(at('tools'), { metadata: { name: 't' }, spec: { color: 'red' } });
    const watch = await admin.watch(`${at('tools')}?watch=1`);
    const schema = structuredClone(widgetSchema) as { properties: { spec: { properties: Record<string, object> } } };
    schema.properties.spec.properties['size'] = { type: 'string', default: 'small' };
    await admin.patch(`${definitions}/tools.${group}`, {
      spec: { versions: [version('v1', { schema: { openAPIV3Schema: schema } })] },
    });
    // Watches end, since the objects may look different now.
    await overOf(watch);
    expect((await admin.get(at('tools', 't'))).body.spec).toEqual({ color: 'red', replicas: 1, size: 'small' });
    const made = await admin.post(at('tools'), { metadata: { name: 'u' }, spec: { color: 'red', size: 'large' } });
    expect(made.body.spec.size).toBe('large');
  });

  it('has repeated configurations merged by the new schema', async () => {
    const { admin } = server;
    await define(definition('rakes', 'Rake'));
    const config = { apiVersion: `${group}/v1`, kind: 'Rake', metadata: { name: 'r' }, spec: { color: 'red', parts: [{ name: 'a' }] } }; // prettier-ignore
    const path = `${at('rakes', 'r')}?fieldManager=one`;
    const ownedParts = async () => {
      const { body } = await admin.patch(path, config, 'application/apply-patch+yaml');
      return body.metadata.managedFields[0].fieldsV1['f:spec']['f:parts'];
    };
    for (let times = 0; times < 3; times++) expect(await ownedParts()).toEqual({ 'k:{"name":"a"}': { '.': {}, 'f:name': {} } }); // prettier-ignore
    const schema = structuredClone(widgetSchema) as { properties: { spec: { properties: Record<string, object> } } };
    schema.properties.spec.properties['parts'] = { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'object', properties: { name: { type: 'string' } } } }; // prettier-ignore
    const watch = await admin.watch(`${at('rakes')}?watch=1`);
    await admin.patch(`${definitions}/rakes.${group}`, {
      spec: { versions: [version('v1', { schema: { openAPIV3Schema: schema } })] },
    });
    await overOf(watch);
    expect(await ownedParts()).toEqual({});
  });

  it('loses no event for readers, however often it changes', async () => {
    const { admin } = server;
    await define(definition('lamps', 'Lamp'));
    const names: string[] = [];
    for (let round = 0; round < 20; round++) {
      const columns = [{ name: `Color${round}`, type: 'string', jsonPath: '.spec.color' }];
      const changed = admin.patch(`${definitions}/lamps.${group}`, {
        spec: { versions: [version('v1', { additionalPrinterColumns: columns })] },
      });
      names.push(`l${String(round).padStart(2, '0')}`);
      const name = names.at(-1)!;
      const [made] = await Promise.all([
        admin.post(at('lamps'), { metadata: { name }, spec: { color: 'red' } }),
        admin.get(at('lamps')),
        changed,
      ]);
      expect(made.code).toBe(201);
      const [one, list] = await Promise.all([admin.get(at('lamps', name)), admin.get(at('lamps'))]);
      expect([one.code, list.code]).toEqual([200, 200]);
      expect((list.body['items'] as KubeObject[]).map(({ metadata }) => metadata.name)).toEqual(names);
    }
  });

  it('deletes its objects when it is deleted', async () => {
    const { admin } = server;
    await define(definition('toys', 'Toy'));
    await admin.post(at('toys'), { metadata: { name: 'a' }, spec: { color: 'red' } });
    await admin.post(at('toys'), { metadata: { name: 'held', finalizers: [`${group}/f`] }, spec: { color: 'red' } });
    const watch = await admin.watch(`${at('toys')}?watch=1`);
    await admin.delete(`${definitions}/toys.${group}`);
    await until(admin, definitions, `toys.${group}`, holds('Terminating'));
    const late = await admin.post(at('toys'), { metadata: { name: 'late' }, spec: { color: 'red' } });
    expect([late.code, late.body.message]).toEqual([
      403,
      `toys.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
    ]);
    await until(admin, at('toys'), 'a', (object) => object === undefined);
    await admin.patch(at('toys', 'held'), { metadata: { finalizers: null } });
    await untilGone(admin, definitions, `toys.${group}`);
    await overOf(watch);
    expect((await admin.get(at('toys'))).code).toBe(404);
    await define(definition('toys', 'Toy'));
    expect((await admin.get(at('toys'))).body.items).toEqual([]);
  });
});

describe('integers beyond 2^53', () => {
  const properties = { replicas: { type: 'integer' }, even: { type: 'integer', multipleOf: 2 } };
  const schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const without = { additionalPrinterColumns: undefined, selectableFields: undefined };
  beforeAll(() =>
    define(definition('amounts', 'Amount', [version('v1', { ...without, schema: { openAPIV3Schema: schema } })])),
  );
  /** Sends numbers with all digits. */
  const create = (spec: string, metadata = '"generateName":"a-"') =>
    server.admin.post(
      at('amounts'),
      `{"apiVersion":"${group}/v1","kind":"Amount","metadata":{${metadata}},"spec":${spec}}`,
      { 'content-type': 'application/json' },
    );

  it.each([
    ['{"replicas":9007199254740993}', '.spec.replicas', '9007199254740993: should be less than or equal to 2147483647'],
    ['{"replicas":-9223372036854775808}', '.spec.replicas', '-9223372036854775808: should be a non-negative integer'],
    ['{"even":9007199254740993}', 'spec.even', '9007199254740993: spec.even in body should be a multiple of 2'],
  ])('%s is refused with the value (422)', async (spec, field, error) => {
    const { code, body } = await create(spec);
    expect([code, body.message]).toEqual([422, expect.stringContaining(`${field}: Invalid value: ${error}`)]);
  });

  it('are stored with all digits, and accepted in metadata.generation of a new object', async () => {
    const { code, text } = await create('{"even":-9007199254740994}', '"name":"a","generation":9223372036854775807');
    expect([code, text]).toEqual([201, expect.stringContaining('"spec":{"even":-9007199254740994}')]);
    expect((await server.admin.get(at('amounts', 'a'))).text).toContain('"spec":{"even":-9007199254740994}');
  });
});
