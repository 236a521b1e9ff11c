import { FlowLevels, impersonating } from '../harness/flow-levels.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const connections = 20;
const requestsOfEach = 10;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  const flow = new FlowLevels(server);
  await flow.bindUsers(['noisy', 'polite']);
  await flow.begin();
  await server.admin.post(configMaps, configMap('read'));
});
afterAll(() => server?.stop());

it('all requests of a client with many connections are answered while another client competes with it', async () => {
  const clients = Array.from({ length: connections }, () => server.client(server.keelson.client));
  const polite = server.client(server.keelson.client);
  const codes = new Map<number, number>();
  let isOver = false;
  const beside = async () => {
    let answers = 0;
    for (; !isOver; answers++) {
      expect((await polite.get(`${configMaps}/read`, impersonating('polite'))).code).toBe(200);
    }
    return answers;
  };
  const competing = beside();
  const noisy = async (client: (typeof clients)[number], number: number) => {
    for (let at = 0; at < requestsOfEach; at++) {
      const { code } =
        at % 5 === 4
          ? await client.post(configMaps, configMap(`written-${number}-${at}`), impersonating('noisy'))
          : await client.get(`${configMaps}/read`, impersonating('noisy'));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
  };
  await Promise.all(clients.map(noisy));
  isOver = true;
  expect(await competing).toBeGreaterThan(requestsOfEach);
  const writes = requestsOfEach / 5;
  expect(Object.fromEntries(codes)).toEqual({
    200: connections * (requestsOfEach - writes),
    201: connections * writes,
  });
});
