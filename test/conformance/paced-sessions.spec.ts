import type { Answer, HttpClient } from '../harness/http-client.js';
import { eventually } from '../harness/eventually.js';
import { FlowLevels, impersonating } from '../harness/flow-levels.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const streams = 200;

let server: TestServer;
let flow: FlowLevels;
let session: HttpClient;

beforeEach(async () => {
  // A busy machine takes longer for the held requests than a server waits for them by default.
  const limits = { shutdownGraceMs: 200_000 };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config: { limits } });
  flow = new FlowLevels(server);
  await flow.bindUsers(['highqps', 'lowqps']);
  await flow.begin();
  await eventually('the users may read', async () => (await flow.get('highqps', configMaps)).code === 200);
  session = server.client({ ...server.keelson.client, protocol: 'h2' });
});
afterEach(() => server?.stop());

/** Requests of one user on one HTTP/2 session, each followed by the next one until `isOver`. */
function load(isOver: () => boolean): { readonly answered: () => number; readonly codes: Promise<number[]> } {
  let answered = 0;
  const lane = async () => {
    const codes: number[] = [];
    do {
      const { code }: Answer = await session.get(configMaps, impersonating('highqps'));
      codes.push(code);
      answered++;
    } while (!isOver());
    return codes;
  };
  const lanes = Promise.all(Array.from({ length: streams }, lane));
  return { answered: () => answered, codes: lanes.then((all) => [...new Set(all.flat())]) };
}

it('requests of another client are answered before most of those on a crowded session, and all are answered', async () => {
  let isOver = false;
  const { answered, codes } = load(() => isOver);
  // A round says nothing if the load did not reach the server before the request.
  await eventually('a client with one request at a time does not wait for the others', async () => {
    expect((await flow.get('lowqps', '/version')).code).toBe(200);
    const before = answered();
    for (let at = 0; at < 10; at++) expect((await flow.get('lowqps', '/version')).code).toBe(200);
    const meanwhile = answered() - before;
    return meanwhile > 0 && meanwhile < (10 * streams) / 2;
  });
  isOver = true;
  expect(await codes).toEqual([200]);
});

it('held requests are answered when the server stops', async () => {
  let isOver = false;
  const { answered, codes } = load(() => isOver);
  await flow.get('lowqps', '/version');
  await eventually('the session is busy', () => answered() > 2 * streams);
  for (let at = 0; at < 3; at++) await flow.get('lowqps', '/version');
  isOver = true;
  const [all] = await Promise.all([codes, server.keelson.stop()]);
  expect(all).toEqual([200]);
});
