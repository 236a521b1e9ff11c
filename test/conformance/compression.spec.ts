import { gunzipSync } from 'node:zlib';
import { startTestServer, type TestServer } from '../harness/servers.js';
import type { HttpClient, Protocol } from '../harness/http-client.js';
import { configMap } from './case.js';

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const path = '/api/v1/namespaces/default/configmaps';
const gzip = { 'accept-encoding': 'gzip' };
const protobuf = 'application/vnd.kubernetes.protobuf';

async function filled(config: Parameters<typeof startTestServer>[1]): Promise<TestServer> {
  const server = await startTestServer(memory, { reconciles: false, ...config });
  const data = { text: 'x'.repeat(9000) };
  for (let n = 0; n < 40; n++) {
    await server.admin.post(path, configMap(`c${n}`, { data, metadata: { labels: { many: 'x' }, annotations: data } }));
  }
  await server.admin.post(path, configMap('small'));
  await server.admin.post(path, configMap('large', { data: { text: 'y'.repeat(200_000) } }));
  return server;
}

describe.each<Protocol>(['http/1.1', 'h2'])('compression by %s', (protocol) => {
  let server: TestServer;
  let client: HttpClient;
  beforeAll(async () => {
    server = await filled({});
    client = server.client({ ...server.keelson.client, protocol });
  });
  afterAll(() => server?.stop());

  it.each([
    ['a list', `${path}?labelSelector=many`, 'application/json'],
    ['a list in protobuf', `${path}?labelSelector=many`, protobuf],
    [
      'a PartialObjectMetadataList',
      `${path}?labelSelector=many`,
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    ],
    ['a Table', `${path}?labelSelector=many`, 'application/json;as=Table;g=meta.k8s.io;v=v1'],
    ['a long Table', `${path}?labelSelector=many&includeObject=Object`, 'application/json;as=Table;g=meta.k8s.io;v=v1'],
    ['a list in YAML', `${path}?labelSelector=many`, 'application/yaml'],
    ['an object', `${path}/large`, 'application/json'],
    ['an object in protobuf', `${path}/large`, protobuf],
  ])('%s above the size limit is compressed', async (_name, url, accept) => {
    const plain = await client.get(url, { accept });
    const answer = await client.get(url, { accept, ...gzip });
    expect([plain.code, plain.headers['content-encoding'], plain.headers.vary]).toEqual([200, undefined, undefined]);
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(answer.headers['content-type']).toBe(plain.headers['content-type']);
    expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 4);
    expect(unaged(gunzipSync(answer.bytes))).toBe(unaged(plain.bytes));
  });

  it('a list that was sent before and has changed is compressed with the change', async () => {
    for (const text of ['first', 'second']) {
      await client.patch(`${path}/c20`, { data: { text } });
      const answer = await client.get(`${path}?labelSelector=many`, gzip);
      expect(answer.headers['content-encoding']).toBe('gzip');
      const plain = await client.get(`${path}?labelSelector=many`);
      expect(gunzipSync(answer.bytes).toString()).toBe(plain.text);
      expect(plain.text).toContain(`"text":"${text}"`);
    }
  });

  it.each([
    ['a small list', `${path}?fieldSelector=metadata.name=small`, gzip],
    ['a small object', `${path}/small`, gzip],
    ['a client that refuses gzip', `${path}?labelSelector=many`, { 'accept-encoding': 'gzip;q=0' }],
    ['a client that accepts *', `${path}?labelSelector=many`, { 'accept-encoding': '*' }],
    ['a client that accepts another coding', `${path}?labelSelector=many`, { 'accept-encoding': 'deflate, br' }],
  ])('is not used for %s', async (_name, url, headers) => {
    const { code, headers: answered, body } = await client.get(url, headers);
    expect([code, answered['content-encoding'], answered.vary]).toEqual([200, undefined, undefined]);
    expect(body.apiVersion).toBe('v1');
  });

  it('is not used for watches', async () => {
    const watch = await client.watch(`${path}?watch=1&labelSelector=many`, gzip);
    expect(watch.headers['content-encoding']).toBeUndefined();
    await client.patch(`${path}/c20`, { data: { text: 'end' } });
    const events = await watch.until(({ object }) => object.data.text === 'end');
    watch.close();
    expect(events.map(({ type }) => type)).toEqual([...Array<string>(40).fill('ADDED'), 'MODIFIED']);
  });

  it('is not used for writes', async () => {
    const { code, headers } = await client.patch(`${path}/large`, { data: { a: '1' } }, 'merge', gzip);
    expect([code, headers['content-encoding']]).toEqual([200, undefined]);
  });
});

it('is disabled by its feature gate', async () => {
  const server = await filled({ config: { featureGates: { APIResponseCompression: false } } });
  try {
    const { headers } = await server.admin.get(`${path}?labelSelector=many`, gzip);
    expect(headers['content-encoding']).toBeUndefined();
  } finally {
    await server.stop();
  }
});

/** Masks ages: a second may pass between two Tables. */
const unaged = (bytes: Buffer) => bytes.toString('latin1').replace(/"\d+s"/g, '"age"');
