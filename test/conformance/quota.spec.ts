import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const limit = 7;
const asked = 40;

/** Servers see each other's status updates of a ResourceQuota: together they do not exceed it. */
let servers: readonly TestServer[];
beforeAll(async () => {
  const store = new MemoryStore();
  const start = () => startTestServer({ store: 'memory', naming: 'kubernetes' }, { store, reconciles: false });
  servers = [await start(), await start()];
});
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const path = '/api/v1/namespaces/default';

async function quota(name: string, hard: object, used: object): Promise<void> {
  const { admin } = servers[0]!;
  await admin.request('POST', `${path}/resourcequotas`, { body: { metadata: { name }, spec: { hard } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await admin.request('PATCH', `${path}/resourcequotas/${name}/status`, {
    body: { status: { hard, used } },
    headers,
  });
  expect(answer.code).toBe(200);
}

it(`${asked} concurrent creates get the ${limit} of the quota`, async () => {
  await quota('q', { secrets: String(limit) }, { secrets: '0' });
  const answers = await Promise.all(
    Array.from({ length: asked }, (_, index) =>
      servers[index % servers.length]!.admin.request('POST', `${path}/secrets`, {
        body: { metadata: { name: `s${index}` } },
      }),
    ),
  );
  const made = answers.filter(({ code }) => code === 201).length;
  const { body } = await servers[1]!.admin.request('GET', `${path}/resourcequotas/q`);
  const list = await servers[0]!.admin.request('GET', `${path}/secrets`);
  expect({ made, stored: list.body.items.length, used: body.status.used }).toEqual({
    made: limit,
    stored: limit,
    used: { secrets: String(limit) },
  });
  expect(new Set(answers.filter(({ code }) => code !== 201).map((answer) => answer.body.reason as string))).toEqual(
    new Set(['Forbidden']),
  );
});
