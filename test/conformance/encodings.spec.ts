import { cborEncoding } from '../../src/codec/cbor.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { load } from 'js-yaml';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { configMap } from './case.js';

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const path = '/api/v1/namespaces/default/configmaps';
const cbor = cborEncoding(() => ({ kind: () => undefined }) as never);
const protobuf = 'application/vnd.kubernetes.protobuf';
const meta = 'g=meta.k8s.io;v=v1';
const applyCbor = 'application/apply-patch+cbor';

describe.each([
  ['without CBOR', false],
  ['with CBOR', true],
])('a server %s', (_name, CBORServingAndStorage) => {
  let server: TestServer;
  let admin: HttpClient;
  beforeAll(async () => {
    server = await startTestServer(memory, { reconciles: false, config: { featureGates: { CBORServingAndStorage } } });
    admin = server.admin;
    await admin.post(path, configMap('a', { data: { x: '1' } }));
  });
  afterAll(() => server?.stop());

  /** Accept header, request, and the Content-Type of the answer. */
  const alike: [accept: string, path: string, code: number, type: string][] = [
    ['application/json', '/none', 404, 'application/json'],
    [protobuf, '/none', 404, protobuf],
    ['application/yaml', '/none', 404, 'application/yaml'],
    [`application/json;as=Table;${meta}`, '/none', 404, 'application/json'],
    [`${protobuf};as=PartialObjectMetadata;${meta}`, '/none', 404, protobuf],
    // No accepted type can be served: the refusal is JSON.
    [`${protobuf};as=Table;${meta}`, '', 406, 'application/json'],
    ['application/cbor-seq', '', 406, 'application/json'],
    [`application/cbor;as=Table;${meta}`, '', 406, 'application/json'],
    ['text/html', '', 406, 'application/json'],
    // YAML is accepted, but cannot stream.
    ['application/yaml', '?watch=1', 406, 'application/yaml'],
    [`${protobuf};as=Table;${meta},application/yaml`, '/none', 404, 'application/yaml'],
  ];
  const own: typeof alike = CBORServingAndStorage
    ? [
        ['application/cbor', '/none', 404, 'application/cbor'],
        ['application/cbor', '', 200, 'application/cbor'],
        ['application/cbor-seq', '?watch=1&timeoutSeconds=1', 406, 'application/json'],
      ]
    : [
        ['application/cbor', '/none', 406, 'application/json'],
        ['application/cbor', '', 406, 'application/json'],
      ];
  it.each([...alike, ...own])('Accept: %s on %j: %d', async (accept, tail, code, type) => {
    const { code: answered, headers } = await admin.get(path + tail, { accept });
    expect([answered, headers['content-type']]).toEqual([code, type]);
  });

  it.each([
    ['application/json', 'items'],
    [`application/json;as=Table;${meta}`, 'rows'],
    [`application/json;as=PartialObjectMetadataList;${meta}`, 'items'],
    ['application/yaml', 'items'],
  ])('deletecollection with Accept: %s answers as a list of the deleted objects', async (accept, field) => {
    const type = accept.split(';')[0]!;
    const read = ({ text }: Answer) =>
      (type === 'application/yaml' ? load(text) : JSON.parse(text)) as Record<string, unknown>;
    const selected = `${path}?fieldSelector=metadata.name=a`;
    const listed = await admin.get(selected, { accept });
    const deleted = await admin.request('DELETE', `${selected}&dryRun=All`, { headers: { accept } });
    expect([deleted.code, deleted.headers['content-type']]).toEqual([200, type]);
    // The ages in a Table may differ by a second.
    const lists = [read(listed), read(await admin.get(selected, { accept }))];
    const metadata = { resourceVersion: expect.any(String) };
    expect(lists.map((list) => ({ ...list, metadata }))).toContainEqual({ ...read(deleted), metadata });
    expect(read(deleted)).toMatchObject({ metadata });
    expect(read(deleted)[field]).toHaveLength(1);
  });

  const applied = (name: string, body: Buffer) =>
    admin.patch(`${path}/${name}?fieldManager=m&force=true`, body, applyCbor);

  it('CBOR patches are accepted only for apply, and only with CBOR enabled', async () => {
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' }, data: { a: '1' } };
    const bytes = cbor.encode(config);
    if (!CBORServingAndStorage) {
      const { code, body } = await applied('ap', bytes);
      expect([code, body.reason]).toEqual([415, 'UnsupportedMediaType']);
      expect(body.message).not.toContain('cbor,');
      return;
    }
    const created = await applied('ap', bytes);
    expect([created.code, created.body.data]).toEqual([201, { a: '1' }]);
    expect(created.body.metadata.managedFields).toMatchObject([{ manager: 'm', operation: 'Apply' }]);
    // The self-described tag is optional.
    const again = await applied('ap', bytes.subarray(3));
    expect([again.code, again.body.metadata.resourceVersion]).toEqual([200, created.body.metadata.resourceVersion]);
    const json = await applied('ap', Buffer.from(JSON.stringify(config)));
    expect([json.code, json.body.reason]).toEqual([400, 'BadRequest']);
    for (const type of ['json', 'merge', 'strategic-merge']) {
      const refused = await admin.patch(`${path}/ap`, Buffer.from('{}'), `application/${type}-patch+cbor`);
      expect([refused.code, refused.body.reason]).toEqual([415, 'UnsupportedMediaType']);
    }
  });

  if (!CBORServingAndStorage) return;

  it.each([
    ['', 201, ['unknown field "zz"']],
    ['&fieldValidation=Warn', 201, ['unknown field "zz"']],
    ['&fieldValidation=Ignore', 201, []],
    ['&fieldValidation=Strict', 400, []],
  ])('unknown fields in CBOR are handled as in JSON: %s', async (level, code, warnings) => {
    const body = cbor.encode({ metadata: { name: 'odd' }, zz: 1 });
    const headers = { 'content-type': 'application/cbor' };
    const answer = await admin.request('POST', `${path}?dryRun=All${level}`, { body, headers });
    expect([answer.code, answer.warnings]).toEqual([code, warnings]);
    if (code === 400) expect(answer.body.message).toMatch(/strict decoding error: unknown field "zz"$/);
  });

  it.each(['Ignore', 'Warn', 'Strict'])('duplicate fields in CBOR are refused at level %s (400)', async (level) => {
    const once = cbor.encode({ metadata: { name: 'twice' }, data: { x: '1', y: '2' } });
    const body = Buffer.from(once);
    body[body.indexOf('y')] = 'x'.charCodeAt(0);
    const headers = { 'content-type': 'application/cbor' };
    const answer = await admin.request('POST', `${path}?dryRun=All&fieldValidation=${level}`, { body, headers });
    expect([answer.code, answer.body.reason]).toEqual([400, 'BadRequest']);
  });
});
