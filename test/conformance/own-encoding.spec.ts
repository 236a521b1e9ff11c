import { DecodeError, type Encoding } from '../../src/index.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const mediaType = 'application/vnd.example.hex';
const hex = (value: unknown) => Buffer.from(Buffer.from(JSON.stringify(value)).toString('hex'));
const unhex = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(Buffer.from(bytes).toString(), 'hex').toString());

/** Adds an encoding to a server, as ARCHITECTURE says for programs that embed it: JSON in hexadecimal digits. */
const hexEncoding: Encoding = {
  name: 'hex',
  mediaType,
  streamMediaType: `${mediaType};stream=watch`,
  takesAnyKind: true,
  takesTables: true,
  encode: hex,
  decode(bytes) {
    if (bytes.length % 2 !== 0) throw new DecodeError('an odd number of hexadecimal digits');
    return { value: unhex(bytes) as never, duplicates: [] };
  },
  frame: (type, object) => Buffer.from(`${type} ${object.toString()}\n`),
};

const running: TestServer[] = [];
async function start(...encodings: Encoding[]) {
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { encodings, reconciles: false });
  running.push(server);
  return server.admin;
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

const configMaps = '/api/v1/namespaces/default/configmaps';
const onlySettings = 'fieldSelector=metadata.name=settings';
const accept = { accept: mediaType };
const settings = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'settings' }, data: { a: '1' } };

it('objects are submitted and answered in the media type', async () => {
  const admin = await start(hexEncoding);
  const submitted = { body: hex(settings), headers: { ...accept, 'content-type': mediaType } };
  const created = await admin.request('POST', configMaps, submitted);
  expect([created.code, created.headers['content-type']]).toEqual([201, mediaType]);
  expect(unhex(created.bytes)).toMatchObject(settings);
  // The other encodings have the same object.
  expect((await admin.get(`${configMaps}/settings`)).body).toMatchObject(settings);
  const read = await admin.get(`${configMaps}/settings`, accept);
  expect(unhex(read.bytes)).toEqual(unhex(created.bytes));
});

it.each<[string, string, string, unknown]>([
  ['lists', `${configMaps}?${onlySettings}`, mediaType, { kind: 'ConfigMapList', items: [{ data: { a: '1' } }] }],
  ['Tables', `${configMaps}?${onlySettings}`, `${mediaType};as=Table;g=meta.k8s.io;v=v1`, { kind: 'Table', rows: [{ cells: ['settings', 1, expect.anything()] }] }], // prettier-ignore
  ['PartialObjectMetadata', `${configMaps}/settings`, `${mediaType};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, { kind: 'PartialObjectMetadata' }], // prettier-ignore
  ['errors', `${configMaps}/none`, mediaType, { kind: 'Status', reason: 'NotFound' }],
  ['discovery', '/api/v1', mediaType, { kind: 'APIResourceList' }],
])('%s are answered in the media type', async (_what, path, accepted, want) => {
  const admin = await start(hexEncoding);
  await admin.post(configMaps, settings);
  const { headers, bytes } = await admin.get(path, { accept: accepted });
  expect(headers['content-type']).toBe(mediaType);
  expect(unhex(bytes)).toMatchObject(want as object);
});

it('a watch has the frames of the encoding', async () => {
  const admin = await start(hexEncoding);
  await admin.post(configMaps, settings);
  const answer = await admin.get(`${configMaps}?watch=1&timeoutSeconds=1&${onlySettings}`, accept);
  expect(answer.headers['content-type']).toBe(`${mediaType};stream=watch`);
  const [type, object] = answer.text.split('\n')[0]!.split(' ');
  expect([type, unhex(Buffer.from(object!))]).toMatchObject(['ADDED', settings]);
});

it.each<[string, Buffer, number, string]>([
  ['that cannot be decoded', Buffer.from('abc'), 400, 'an odd number of hexadecimal digits'],
  ['with too many values', hex({ ...settings, data: Array.from({ length: 1_000_000 }, () => 0) }), 413, 'limit is'],
])('a body %s is refused', async (_what, body, code, message) => {
  const admin = await start(hexEncoding);
  const answer = await admin.request('POST', configMaps, { body, headers: { 'content-type': mediaType } });
  expect([answer.code, answer.body.message]).toEqual([code, expect.stringContaining(message)]);
});

it('the OpenAPI document names the media type', async () => {
  const admin = await start(hexEncoding);
  const { paths } = (await admin.get('/openapi/v3/api/v1')).body;
  expect(Object.keys(paths['/api/v1/namespaces/{namespace}/configmaps'].get.responses['200'].content)).toContain(
    mediaType,
  );
});

it.each<[string, Partial<Encoding>, string]>([
  ['the name of another one', { name: 'yaml' }, 'the server has yaml'],
  ['the media type of another one', { mediaType: 'application/json' }, 'the server has json'],
  ['a streamMediaType without frame()', { frame: undefined as never }, 'no frame()'],
])('an encoding with %s is refused', async (_what, change, message) => {
  await expect(start({ ...hexEncoding, ...change })).rejects.toThrow(message);
});
