import { findEtcd } from '../../scripts/etcd.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type StoreName, type TestServer } from '../harness/servers.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };
const writers = Array.from({ length: 100 }, (_, index) => `w${index}`);
const stores: StoreName[] = ['memory', 'embedded', ...(findEtcd() === undefined ? [] : (['etcd'] as const))];

describe.each(stores)('many writers of one object: %s', (store) => {
  let server: TestServer;
  let client: HttpClient;
  beforeAll(async () => {
    // If the store stands still for as long as a turn lasts, writers overlap, and more attempts than the limit may conflict.
    const limits = { objectWriteTurnMsMax: 100_000 };
    server = await startTestServer({ store, naming: 'kubernetes' }, { config: { limits }, reconciles: false });
    client = server.client(server.keelson.client);
  });
  afterAll(() => server.stop());

  const patch = (path: string, body: object, headers = merge) => client.request('PATCH', path, { body, headers });
  const codesOf = (answers: readonly { readonly code: number }[]) => [...new Set(answers.map(({ code }) => code))];

  it('100 concurrent patches of one ConfigMap all succeed, and none is lost', async () => {
    await client.post(configMaps, { metadata: { name: 'c' } });
    const answers = await Promise.all(writers.map((name) => patch(`${configMaps}/c`, { data: { [name]: name } })));
    expect(codesOf(answers)).toEqual([200]);
    const { body } = await client.get(`${configMaps}/c`);
    expect(Object.keys(body.data).sort()).toEqual([...writers].sort());
    // Each patch started from the result of another one.
    expect(new Set(answers.map(({ body: { metadata } }) => metadata.resourceVersion)).size).toBe(100);
  });

  it('100 concurrent applies of an absent object create it once, and each owns its field', async () => {
    const answers = await Promise.all(
      writers.map((name) =>
        patch(
          `${configMaps}/applied?fieldManager=${name}`,
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { [name]: name } },
          apply,
        ),
      ),
    );
    expect(answers.map(({ code }) => code).sort()).toEqual([...Array<number>(99).fill(200), 201]);
    expect(Object.keys((await client.get(`${configMaps}/applied`)).body.data)).toHaveLength(100);
  });

  it('of 100 concurrent updates with one resourceVersion exactly one succeeds', async () => {
    const { body } = await client.post(configMaps, { metadata: { name: 'u' } });
    const answers = await Promise.all(
      writers.map((name) =>
        client.request('PUT', `${configMaps}/u`, { body: { ...body, data: { name } }, headers: {} }),
      ),
    );
    expect(answers.map(({ code }) => code).sort()).toEqual([200, ...Array<number>(99).fill(409)]);
  });

  it('a patch of an object that another patch deletes is not found (404)', async () => {
    await client.post(configMaps, { metadata: { name: 'held', finalizers: ['example.com/x'] } });
    await client.delete(`${configMaps}/held`);
    const [released, late] = await Promise.all([
      patch(`${configMaps}/held`, { metadata: { finalizers: null } }),
      patch(`${configMaps}/held`, { data: { late: 'x' } }),
    ]);
    expect([released.code, late.code]).toEqual([200, 404]);
  });
});
