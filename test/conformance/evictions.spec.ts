import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { pod } from './case.js';

const namespace = '/api/v1/namespaces/default';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

let server: TestServer;
let client: HttpClient;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { reconciles: false });
  client = server.client(server.keelson.client);
});
afterAll(() => server.stop());

it('concurrent evictions succeed as often as the budget allows', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `p-${i}`);
  const merge = { 'content-type': 'application/merge-patch+json' };
  for (const name of names) {
    await client.post(`${namespace}/pods`, pod(name, { metadata: { labels: { app: 'a' } }, spec: { nodeName: 'n' } }));
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.request('PATCH', `${namespace}/pods/${name}/status`, { body: { status: ready }, headers: merge });
  }
  await client.post(budgets, {
    metadata: { name: 'b' },
    spec: { maxUnavailable: 5, selector: { matchLabels: { app: 'a' } } },
  });
  await client.request('PATCH', `${budgets}/b/status`, {
    body: { status: { observedGeneration: 1, disruptionsAllowed: 5, currentHealthy: 12, desiredHealthy: 7 } },
    headers: merge,
  });

  const answers = await Promise.all(
    names.map((name) => client.post(`${namespace}/pods/${name}/eviction`, { metadata: { name } })),
  );
  const codes = answers.map(({ code }) => code).sort();
  expect(codes).toEqual([...Array<number>(5).fill(201), ...Array<number>(7).fill(429)]);
  const { body } = await client.get(`${budgets}/b`);
  const { status } = body as { status: { disruptionsAllowed: number; disruptedPods: object } };
  expect([status.disruptionsAllowed, Object.keys(status.disruptedPods).length]).toEqual([0, 5]);
});
