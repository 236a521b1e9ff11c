import { startTestServer, type TestServer } from '../harness/servers.js';
import { impatient, makeWorld, runTables, type World } from './case.js';
import { allTables } from './tables.js';

let server: TestServer;
let world: World;

beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config: impatient });
  world = makeWorld(server);
});
afterAll(() => server.stop());

runTables(allTables, () => world);
