import { findEtcd } from '../../scripts/etcd.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type StoreName, type TestServer } from '../harness/servers.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };
const writers = Array.from({ length: 100 }, (_, index) => `w${index}`);
const stores: StoreName[] = ['memory', 'embedded', ...(findEtcd() === undefined ? [] : (['etcd'] as const))];

// After 1 ms the next writer starts, so that most writers overlap with others; after a minute each waits for the one before.
const cases = stores.flatMap((store) => [60_000, 1].map((turnMs) => [store, turnMs] as const));

describe.each(cases)('many writers of one object: %s, turns of %i ms', (store, objectWriteTurnMsMax) => {
  let server: TestServer;
  let client: HttpClient;
  beforeAll(async () => {
    const config = { limits: { objectWriteTurnMsMax } };
    server = await startTestServer({ store, naming: 'kubernetes' }, { config, reconciles: false });
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
