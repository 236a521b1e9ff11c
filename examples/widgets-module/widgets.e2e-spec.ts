import { Test } from '@nestjs/testing';
import { startKeelson, type Keelson } from 'keelson/testing';
import { HttpClient } from '../../test/harness/http-client.js';
import { PriceList } from './price-list.js';
import { ShopGroup } from './shop.group.js';
import { WidgetsModule } from './widgets.module.js';

const all = '/apis/shop.example.com/v1/widgets';
const here = '/apis/shop.example.com/v1/namespaces/default/widgets';
const quotes = '/apis/shop.example.com/v1/namespaces/default/quotes';

let keelson: Keelson;
let shop: HttpClient;

beforeAll(async () => {
  keelson = await startKeelson({ modules: (context) => [WidgetsModule.for(context)] });
  shop = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
});
afterAll(async () => {
  shop.close();
  await keelson.stop();
});

const widget = (name: string, spec: object = {}) => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { color: 'red', ...spec },
});

describe('discovery', () => {
  it('lists the group', async () => {
    const { body } = await shop.get('/apis');
    const group = body.groups.find(({ name }: { name: string }) => name === 'shop.example.com');
    expect(group.preferredVersion).toEqual({ groupVersion: 'shop.example.com/v1', version: 'v1' });
  });

  it('lists what it serves', async () => {
    const { body } = await shop.get('/apis/shop.example.com/v1');
    const rows = body.resources.map(({ name, kind, namespaced }: Record<string, string>) => [name, kind, namespaced]);
    expect(rows).toEqual([
      ['quotes', 'Quote', true],
      ['widgets', 'Widget', true],
      ['widgets/polish', 'Polish', true],
      ['widgets/scale', 'Scale', true],
      ['widgets/status', 'Widget', true],
    ]);
    const widgets = body.resources.find(({ name }: { name: string }) => name === 'widgets');
    expect(widgets).toMatchObject({ shortNames: ['wd'], categories: ['all'], singularName: 'widget' });
  });
});

describe('objects', () => {
  it('are created with defaults and without the status that was sent', async () => {
    const { code, body } = await shop.post(here, { ...widget('made'), status: { shine: 9 } });
    expect(code).toBe(201);
    expect(body).toMatchObject({
      metadata: { name: 'made', namespace: 'default', generation: 1 },
      spec: { color: 'red', size: 'medium', replicas: 1 },
      status: { shine: 0, replicas: 0 },
    });
  });

  it.each<[string, object, string[]]>([
    ['no color', { color: '' }, ['spec.color']],
    ['a size that is none', { size: 'huge' }, ['spec.size']],
    ['two mistakes at once', { size: 'huge', replicas: -1 }, ['spec.size', 'spec.replicas']],
  ])('are refused: %s', async (_name, spec, fields) => {
    const { code, body } = await shop.post(here, widget('refused', spec));
    expect(code).toBe(422);
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual(fields);
  });

  it('warn', async () => {
    const { warnings } = await shop.post(here, widget('large', { size: 'large' }));
    expect(warnings).toEqual(['spec.size: large widgets may not fit through the door']);
  });

  it('are read, changed, found by their fields, and deleted', async () => {
    await shop.post(here, widget('life', { color: 'violet' }));
    expect((await shop.get(`${here}/life`)).body.spec.color).toBe('violet');
    const patched = await shop.patch(`${here}/life`, { spec: { size: 'small' } });
    expect(patched.body.metadata.generation).toBe(2);
    expect((await shop.patch(`${here}/life`, { spec: { color: 'blue' } })).code).toBe(422);
    const found = await shop.get(`${all}?fieldSelector=spec.color=violet`);
    expect(found.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['life']);
    expect((await shop.delete(`${here}/life`)).code).toBe(200);
    expect((await shop.get(`${here}/life`)).code).toBe(404);
  });

  it('are shown as a table', async () => {
    await shop.post(here, widget('shown', { color: 'green' }));
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const { body } = await shop.get(`${here}/shown`, { accept });
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      'Name',
      'Color',
      'Size',
      'Shine',
      'Age',
    ]);
    expect(body.rows[0].cells.slice(0, 4)).toEqual(['shown', 'green', 'medium', 0]);
  });
});

describe('subresources', () => {
  beforeAll(() => shop.post(here, widget('parts')));

  it('status is written apart from the rest', async () => {
    const before = (await shop.get(`${here}/parts`)).body;
    const change = { ...before, spec: { color: 'pink' }, status: { shine: 3, replicas: 1 } };
    const { body } = await shop.put(`${here}/parts/status`, change);
    expect(body).toMatchObject({ spec: before.spec, status: { shine: 3 }, metadata: { generation: 1 } });
    expect((await shop.patch(`${here}/parts/status`, { status: { shine: 11 } })).code).toBe(422);
  });

  it('scale shows and sets the replicas', async () => {
    const { body } = await shop.patch(`${here}/parts/scale`, { spec: { replicas: 4 } });
    expect(body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 4 } });
    expect((await shop.get(`${here}/parts`)).body).toMatchObject({
      spec: { replicas: 4 },
      metadata: { generation: 2 },
    });
  });

  it('polish changes the stored widget, also when many polish at once', async () => {
    await shop.post(here, widget('dull'));
    const polished = await shop.post(`${here}/dull/polish`, { spec: { times: 2 } });
    expect(polished).toMatchObject({ code: 200, body: { kind: 'Widget', status: { shine: 2 } } });
    await Promise.all(Array.from({ length: 5 }, () => shop.post(`${here}/dull/polish`, {})));
    expect((await shop.get(`${here}/dull`)).body.status.shine).toBe(7);
  });

  it.each<[string, string, object, number]>([
    ['POST', `${here}/parts/polish`, { spec: { times: 0 } }, 422],
    ['POST', `${here}/missing/polish`, {}, 404],
    ['GET', `${here}/parts/polish`, {}, 405],
    ['POST', `${here}/parts/scratch`, {}, 404],
  ])('%s %s with %j is answered with %d', async (method, path, body, code) =>
    expect((await shop.request(method, path, method === 'GET' ? {} : { body })).code).toBe(code),
  );
});

describe('quotes', () => {
  it('are computed, not stored', async () => {
    const { code, body } = await shop.post(quotes, { spec: { size: 'large', count: 3 } });
    expect(code).toBe(201);
    expect(body).toMatchObject({ kind: 'Quote', apiVersion: 'shop.example.com/v1', status: { total: 120 } });
    expect((await shop.get(quotes)).code).toBe(405);
  });

  it('take the price list that the module is given', async () => {
    const context = await Test.createTestingModule({ imports: [WidgetsModule.for(keelson.context)] })
      .overrideProvider(PriceList)
      .useValue({ priceOf: () => 1 })
      .compile();
    const request = { body: { kind: 'Quote', apiVersion: 'shop.example.com/v1', metadata: {}, spec: { count: 7 } } };
    const { object } = await context.get(ShopGroup).quote(request as never);
    expect(object?.['status']).toEqual({ total: 7 });
    await context.close();
  });
});

it.each(['http/1.1', 'h2'] as const)('widgets are watched by %s', async (protocol) => {
  const client = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client, protocol });
  const name = `seen-${protocol.replace(/\W/g, '')}`;
  const { body } = await client.get(here);
  const watch = await client.watch(`${here}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  await client.post(here, widget(name));
  await client.post(`${here}/${name}/polish`, {});
  await client.delete(`${here}/${name}`);
  const events = await watch.take(3);
  expect(events.map(({ type, object }) => [type, object.metadata.name, object.status.shine])).toEqual([
    ['ADDED', name, 0],
    ['MODIFIED', name, 1],
    ['DELETED', name, 1],
  ]);
  watch.close();
  client.close();
});
