import type { Keelson } from './assembly/start-keelson.js';
import { setUpKeelson, type SuiteHooks } from './testing/suite-hooks.js';
import { startTestKeelson, type TestKeelson, type TestKeelsonOptions } from './testing/test-server.js';

export type { Fixture } from './testing/fixtures.js';
export type { ClusterSnapshot, RestoreOptions } from './testing/test-server.js';
export type { TestUser, TestUserOptions } from './testing/test-users.js';
export type { Keelson, SuiteHooks, TestKeelson, TestKeelsonOptions as KeelsonOptions };
export { setUpKeelson };

/**
 * Starts a whole server in this process, for tests: in memory unless a store is given, on a free port of 127.0.0.1,
 * with a CA that all servers of the process share. Any number may run at once.
 */
export function startKeelson(options?: TestKeelsonOptions): Promise<TestKeelson> {
  return startTestKeelson(options);
}
