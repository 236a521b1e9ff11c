import { makeLogger } from './assembly/logging.js';
import { startConfiguredKeelson } from './assembly/start-keelson.js';
import { loadConfig } from './config/load-config.js';
import type { KubeconfigClient } from './kubeconfig-client/kubeconfig-client.js';
import { runProgram } from './run-program.js';
import {
  describeChanges,
  describeRequests,
  readClusterState,
  readRequestCounts,
  type ClusterState,
  type RequestCounts,
} from './testing/cluster-report.js';
import { prepareTestServer, type TestKeelson } from './testing/test-server.js';

export interface TestCommandOptions {
  readonly fixtures: readonly string[];
  readonly report: boolean;
}

interface Output {
  write(text: string): unknown;
}

/** Defaults of `keelson test`: nothing is kept, and several runs do not share a port. */
const ownDefaults = ['--storage-backend=memory', '--secure-port=0', '--bind-address=127.0.0.1', '--log-level=warn'];
const notStarted = 125;
const notFound = 127;

/**
 * Starts a server in memory, runs a program with its kubeconfig, and reports what it did. Returns the exit code of the
 * program, 128 and the number of the signal that ended it, 125 if the server does not start, 127 without the program.
 */
export async function runTestCommand(
  { flags, program }: { readonly flags: readonly string[]; readonly program: readonly string[] },
  { fixtures, report }: TestCommandOptions,
  { stderr }: { readonly stderr: Output },
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson test: ${line}\n`);
  const [name, ...words] = program;
  if (name === undefined) {
    tell('give a program after --; see keelson test --help');
    return notStarted;
  }
  const loaded = loadConfig([...ownDefaults, ...flags], process.env, { defaults: 'keelson' });
  if (loaded.errors) {
    for (const error of loaded.errors) tell(error);
    return notStarted;
  }
  let keelson: TestKeelson;
  try {
    const server = await startConfiguredKeelson(loaded.config, { logger: makeLogger(loaded.config.log) });
    keelson = await prepareTestServer(server, { fixtures });
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
    return notStarted;
  }
  try {
    const before = report ? await readBefore(keelson.api) : undefined;
    const file = await keelson.kubeconfigFile();
    const beginMs = performance.now();
    const exitCode = await runProgram(name, words, { ...process.env, ...environment(file) });
    if (exitCode === undefined) {
      tell(`cannot run ${name}: check that it is installed and on PATH`);
      return notFound;
    }
    const seconds = ((performance.now() - beginMs) / 1000).toFixed(1);
    if (before) {
      const after = await readAfter(keelson.api);
      tell(`${name} ended with ${exitCode} after ${seconds} s`);
      tell(describeRequests(before.requests, after.requests));
      const changes = describeChanges(before.state, after.state);
      for (const line of changes.length > 0 ? changes : ['it left no change']) tell(line);
    }
    return exitCode;
  } finally {
    await keelson.stop();
  }
}

interface Report {
  readonly requests: RequestCounts;
  readonly state: ClusterState;
}

/** Reads the counters last, so that the lists of the report are not counted. */
async function readBefore(api: KubeconfigClient): Promise<Report> {
  const state = await readClusterState(api);
  return { state, requests: await readRequestCounts(api) };
}

/** Reads the counters first, for the same reason. */
async function readAfter(api: KubeconfigClient): Promise<Report> {
  const requests = await readRequestCounts(api);
  return { requests, state: await readClusterState(api) };
}

/** KUBECONFIG for all clients; USE_EXISTING_CLUSTER for envtest of controller-runtime. */
function environment(kubeconfig: string): Record<string, string> {
  return { KUBECONFIG: kubeconfig, USE_EXISTING_CLUSTER: 'true' };
}
