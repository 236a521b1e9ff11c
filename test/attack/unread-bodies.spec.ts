import { startTestServer, type TestServer } from '../harness/servers.js';

/** Refusals before the body of the request was read: the client must receive each completely. */
describe('refusals of requests with bodies', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { reconciles: false });
  });
  afterAll(() => server?.stop());

  it.each([
    ['h2', 'small', 100, 200],
    ['h2', 'large', 2_000_000, 1],
    ['http/1.1', 'small', 100, 200],
  ] as const)('by %s with a %s body arrive completely', async (protocol, _size, bytes, count) => {
    const client = server.client({ ...server.keelson.client, protocol });
    const body = JSON.stringify({ text: 'x'.repeat(bytes) });
    const refused = Array.from({ length: count }, () =>
      client.patch('/api/v1/namespaces/default/configmaps/none', body, 'application/none'),
    );
    for (const answer of await Promise.all(refused)) {
      expect(answer.code).toBe(415);
      expect(answer.body).toMatchObject({ kind: 'Status', code: 415, reason: 'UnsupportedMediaType' });
    }
  });
});
