import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { asCommand, print } from './as-command.js';
import { findChromium, howToGetChromium } from './chromium.js';
import { ensureEtcd, findEtcd, howToGetEtcd } from './etcd.js';
import { findKubectls, howToGetKubectl } from './kubectl/kubectl.js';
import { nameIn } from './read-options.js';

const projects = ['unit', 'contract', 'e2e'] as const;
type Project = (typeof projects)[number];

const help = `npm test -- [options] [arguments of Jest]
node dist/scripts/run-tests.js [options] [arguments of Jest]

Runs the tests: first prints which other programs were found for them, at the end which tests were not run without one, and
how many passed, failed and were skipped. Exits with 1 if one failed or none ran. With CI=true it also does so without etcd.

  --only SUITE,…   runs only these suites: ${projects.join(', ')}
  --help           prints this help`;

interface TestCall {
  readonly only: readonly Project[];
  readonly jestArguments: readonly string[];
}

/** Throws a UsageError on an unknown suite. */
export function readTestCall(words: readonly string[]): TestCall {
  const only: Project[] = [];
  const jestArguments: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const match = /^--only(?:=(.*))?$/.exec(words[index]!);
    if (!match) {
      jestArguments.push(words[index]!);
      continue;
    }
    for (const name of (match[1] ?? words[++index] ?? '').split(',')) {
      only.push(nameIn('only', name, projects));
    }
  }
  return { only: only.length === 0 ? projects : only, jestArguments };
}

/** The fields of jest's JSON result that we use. */
interface JestResult {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  /** Test files that failed before running a test. */
  readonly numRuntimeErrorTestSuites: number;
}

export function summaryLine(result: JestResult | undefined): string {
  if (!result) return '0 passed, 1 failed';
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  const skipped = result.numPendingTests + result.numTodoTests;
  return `${result.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

interface Tools {
  readonly hasEtcd: boolean;
  /** Missing tools: the tests that need them, and how to install them. */
  readonly missing: readonly string[];
}

/** Finds the tools that tests need, and installs etcd if Debian's packages have it. */
async function findTools(): Promise<Tools> {
  const etcd = findEtcd() ?? (await ensureEtcd().catch(saysWhyNot));
  const kubectls = findKubectls(packageRoot);
  const go = firstLine('go', ['version']);
  if (etcd) print(`etcd: ${etcd} (${firstLine(etcd, ['--version'])})`);
  for (const { path, version } of kubectls) print(`kubectl: ${path} (${version})`);
  const chromium = findChromium();
  if (go !== undefined) print(`go: ${go}`);
  if (chromium !== undefined) print(`chromium: ${chromium}`);
  const missing = [
    ...(etcd ? [] : [`tests against etcd: ${howToGetEtcd}`]),
    ...(kubectls.length > 0 ? [] : [`tests with kubectl: ${howToGetKubectl}`]),
    ...(go !== undefined
      ? []
      : ["controller-runtime's envtest, and encryption beside kube-apiserver's code: put go 1.26 or newer on PATH"]),
    ...(chromium === undefined ? [`tests of the console in a browser: ${howToGetChromium}`] : []),
  ];
  for (const line of missing) print(`not run: ${line}`);
  return { hasEtcd: etcd !== undefined, missing };
}

function saysWhyNot(error: unknown): undefined {
  print(`etcd could not be installed: ${error instanceof Error ? error.message : String(error)}`);
}

const firstLine = (program: string, words: readonly string[]): string | undefined =>
  spawnSync(program, words, { encoding: 'utf8' }).stdout?.split('\n')[0];

async function main(words: readonly string[]): Promise<number> {
  const call = readTestCall(words);
  const { hasEtcd, missing } = await findTools();
  if (!hasEtcd && process.env['CI'] === 'true') {
    print('In CI the tests against etcd must run.');
    print(summaryLine(undefined));
    return 1;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'keelson-tests-'));
  try {
    const resultFile = join(scratch, 'result.json');
    const code = await runJest(call, resultFile);
    const result = existsSync(resultFile) ? (JSON.parse(readFileSync(resultFile, 'utf8')) as JestResult) : undefined;
    const ranNone = result !== undefined && result.numPassedTests + result.numFailedTests === 0;
    if (ranNone) print('No test ran.');
    for (const line of missing) print(`not run: ${line}`);
    print(summaryLine(result));
    return code === 0 && result && result.numFailedTests + result.numRuntimeErrorTestSuites === 0 && !ranNone ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function runJest(call: TestCall, resultFile: string): Promise<number | null> {
  const choosesWorkers = call.jestArguments.some((word) => /^(-i|-w|--runInBand|--maxWorkers)(=|$)/.test(word));
  // Jest leaves one core unused by default: half of a machine with two.
  const workers = choosesWorkers ? [] : [`--maxWorkers=${availableParallelism()}`];
  const jest = join(packageRoot, 'node_modules/jest/bin/jest.js');
  const words = ['--json', `--outputFile=${resultFile}`, '--passWithNoTests', ...workers, ...call.jestArguments];
  const child = spawn(process.execPath, [jest, ...words, '--selectProjects', ...call.only], {
    cwd: packageRoot,
    // Jest's JSON goes to a file, its report to stderr.
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
}

asCommand(import.meta.url, { help, run: main });
