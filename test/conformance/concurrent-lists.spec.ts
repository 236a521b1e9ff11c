import { startTestServer, type TestServer } from '../harness/servers.js';
import type { Protocol } from '../harness/http-client.js';
import { configMap } from './case.js';

const path = '/api/v1/namespaces/default/configmaps';
const objects = 60;
const clients = 15;

/** Answers of one and of several slices: connections take them while other lists fill the memory of earlier slices. */
describe.each<Protocol>(['http/1.1', 'h2'])('lists at the same time by %s', (protocol) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { reconciles: false });
    for (let n = 0; n < objects; n++) {
      const text = String(n).padStart(2, '0').repeat(15_000);
      await server.admin.post(
        path,
        configMap(`c${n}`, { data: { text }, metadata: { labels: { odd: `is-${n % 2}`, few: `is-${n % 20}` } } }),
      );
    }
  });
  afterAll(() => server?.stop());

  it('get the bytes of their own selection', async () => {
    const selections = ['', 'odd%3Dis-1', 'odd%3Dis-0', 'few%3Dis-7', 'few%3Dis-8'].map(
      (selector) => `${path}?labelSelector=${selector}`,
    );
    const alone: string[] = [];
    for (const url of selections) alone.push((await server.admin.get(url)).text);
    expect(alone.map((text) => text.length > 800_000)).toEqual([true, true, true, false, false]);
    const answers = await Promise.all(
      Array.from({ length: clients }, async (_, n) => {
        const client = server.client({ ...server.keelson.client, protocol });
        const texts: string[] = [];
        for (let round = 0; round < 5; round++) texts.push((await client.get(selections[n % 5]!)).text);
        return texts.every((text) => text === alone[n % 5]);
      }),
    );
    expect(answers).toEqual(Array.from({ length: clients }, () => true));
  });
});
