import type { Protocol } from '../harness/http-client.js';
import { combinationName, startTestServer, type Combination, type TestServer } from '../harness/servers.js';
import { impatient, makeWorld, runTables, runWatchRows, type World } from './case.js';
import { deletingCollections, namespacing } from './delete.cases.js';
import { allTables, tablesForEveryStore } from './tables.js';
import { watchRows } from './watch.cases.js';
import { creating } from './write.cases.js';

interface SuiteOptions extends Combination {
  readonly protocol: Protocol;
  /** All tables, those that depend on the store, or those that combine parts of the server. */
  readonly rows: keyof typeof tables;
  /** Options of startTestServer. */
  readonly options?: () => Parameters<typeof startTestServer>[1];
}

const tables = {
  all: allTables,
  store: tablesForEveryStore,
  few: [creating, deletingCollections, namespacing],
};

/** Runs the tables on one server. */
export function conformanceSuite({ protocol, rows, options, ...combination }: SuiteOptions): void {
  describe(`${combinationName(combination)} by ${protocol}`, () => {
    let server: TestServer;
    let world: World;
    beforeAll(async () => {
      server = await startTestServer(combination, { config: impatient, reconciles: false, ...options?.() });
      world = makeWorld(server, protocol);
    });
    afterAll(() => server?.stop());

    runTables(tables[rows], () => world);
    runWatchRows(watchRows, () => world);
  });
}
