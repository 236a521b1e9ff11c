import { startTestKeelson, type ClusterSnapshot, type TestKeelson, type TestKeelsonOptions } from './test-server.js';

type Hook = (run: () => Promise<void>) => unknown;

/** The hooks of Jest, Vitest and Jasmine, or those of node:test and Mocha. */
export type SuiteHooks =
  | { readonly beforeAll: Hook; readonly afterEach: Hook; readonly afterAll: Hook }
  | { readonly before: Hook; readonly afterEach: Hook; readonly after: Hook };

/**
 * Starts a server before the first test of a file, resets all objects after each test, and stops the server after the last
 * one. Returns a function that returns the server; it throws outside of tests and hooks.
 */
export function setUpKeelson(hooks: SuiteHooks, options: TestKeelsonOptions = {}): () => TestKeelson {
  const [begin, end] = 'beforeAll' in hooks ? [hooks.beforeAll, hooks.afterAll] : [hooks.before, hooks.after];
  let running: { readonly keelson: TestKeelson; readonly clean: ClusterSnapshot } | undefined;
  begin(async () => {
    const keelson = await startTestKeelson(options);
    running = { keelson, clean: await keelson.snapshot() };
  });
  hooks.afterEach(async () => running?.keelson.restore(running.clean));
  end(async () => {
    await running?.keelson.stop();
    running = undefined;
  });
  return () => {
    if (!running) throw new Error('the server of setUpKeelson() runs only in tests and in hooks after its own');
    return running.keelson;
  };
}
