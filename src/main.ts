import { Command, CommanderError, Option } from 'commander';
import type { CheckOptions } from './check-command.js';
import type { ExplainAdmissionOptions } from './explain-admission-command.js';
import type { ExplainOptions } from './explain-command.js';
import type { TestCommandOptions } from './test-command.js';
import type { ConfigWarning } from './config/load-config.js';
import { apiVersion, productVersion } from './config/version.js';
import type { ServerConfig } from './config/server-config.js';
import type { RunningServer } from './assembly/server.js';
import { withoutOptions } from './command-words.js';
import { historyCommands } from './history-commands.js';
import { recordingCommands } from './recording-commands.js';
import { sleep, systemClock } from './std/clock.js';
import type { Logger } from './std/logger.js';
import type { OwnStore } from './assembly/own-store.js';
import type { KvStore } from './storage/kv-store.js';
import { workerWord } from './workers/worker-word.js';

export type Program = 'keelson' | 'kube-apiserver';

/**
 * Runs the command line. Resolves with the exit code, or with undefined while a server runs. Modules of a command are
 * imported when it runs, so that --help and --version print quickly.
 */
export async function main(program: Program, words: readonly string[]): Promise<number | undefined> {
  if (program === 'kube-apiserver' && words.some((word) => /^--version(=(true|raw))?$/.test(word))) {
    return print(`Kubernetes ${apiVersion.gitVersion}\n`);
  }
  if (words[0] === workerWord && process.send) {
    const { runWorker } = await import('./assembly/worker.js');
    await runWorker();
    return undefined;
  }
  surviveLostOutput();
  const outcome: Outcome = { exitCode: 0 };
  const commands = program === 'kube-apiserver' ? serverProgram(words, outcome) : productProgram(words, outcome);
  if (words.includes('--help') || words.includes('-h') || words[0] === 'help') await describeFlags(program, commands);
  try {
    await commands.root.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (usesExitCode2(words[0] ?? '')) return error.exitCode === 0 ? 0 : 2;
    return error.code === 'commander.help' ? 1 : error.exitCode;
  }
  return outcome.exitCode;
}

/** Keeps the process alive if nobody reads its output any more, or the disk is full; then it exits with 1 at its end. */
function surviveLostOutput(): void {
  process.stderr.on('error', () => undefined);
  let isTold = false;
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isTold || code === 'EPIPE') return;
    isTold = true;
    process.stderr.write(`the output could not be written: ${message}\n`);
    process.once('exit', () => (process.exitCode ||= 1));
  });
}

/** Commands whose exit code 1 is an answer, so that wrong usage has another one. */
const usesExitCode2 = (name: string) =>
  ['check', 'history', 'snapshot', 'export', 'import', 'replay'].includes(name) || name.startsWith('explain-');

/** Set by the action of the command that runs. */
interface Outcome {
  exitCode: number | undefined;
}

interface Commands {
  readonly root: Command;
  readonly server: Command;
  readonly check?: Command;
  readonly agent?: Command;
}

/** The command line of kube-apiserver: flags alone. */
function serverProgram(words: readonly string[], outcome: Outcome): Commands {
  const root = serving(new Command('kube-apiserver').exitOverride(), outcome, 'kube-apiserver', () => words);
  root
    .description("Keelson with kube-apiserver's defaults: a Kubernetes-compatible API server on etcd")
    .usage('[flags]');
  return { root, server: root };
}

function productProgram(words: readonly string[], outcome: Outcome): Commands {
  const root = new Command('keelson')
    .exitOverride()
    .description('A Kubernetes-compatible API server')
    .version(versionText, '--version');
  const server = serving(root.command('serve'), outcome, 'keelson', () => words.slice(words.indexOf('serve') + 1));
  server
    .description(
      'serve the API; every flag can also be set in the environment (KEELSON_<FLAG>) or in the --config file',
    )
    .usage('[flags]');
  const check = checkCommand(root.command('check'), outcome);
  const agent = agentCommand(root.command('agent'), outcome, () => words.slice(words.indexOf('agent') + 1));
  testCommand(root.command('test'), outcome, words);
  explainCommand(root.command('explain-access'), outcome);
  explainAdmissionCommand(root.command('explain-admission'), outcome);
  historyCommands(root, outcome, { words, serve: (flags, store) => serve('keelson', flags, store) });
  recordingCommands(root, outcome, words);
  root
    .command('version')
    .description('print the version')
    .action(() => void print(`${versionText}\n`));
  return { root, server, check, agent };
}

function serving(command: Command, outcome: Outcome, program: Program, flagWords: () => readonly string[]): Command {
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      outcome.exitCode = await serve(program, flagWords());
    });
}

function agentCommand(command: Command, outcome: Outcome, flagWords: () => readonly string[]): Command {
  return command
    .description('run the agent of a node, which shows what its container runtime runs; it starts no Pods itself')
    .usage('[flags]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      const { runAgent } = await import('./agent-command.js');
      const agent = await runAgent(flagWords(), process);
      outcome.exitCode = agent ? undefined : 1;
      if (!agent) return;
      stopOnSignals(agent.stop);
      print(agent.summary);
    });
}

function testCommand(command: Command, outcome: Outcome, words: readonly string[]): void {
  const addTo = (value: string, values: readonly string[]) => [...values, value];
  command
    .description('start a server in memory, run a program with its kubeconfig, and report what the program did')
    .usage('[flags] -- <program> [arguments]')
    .option('-f, --fixtures <path>', 'file or directory with objects that exist before; may be repeated', addTo, [])
    .option('--no-report', 'print no report')
    .addHelpText('after', testHelp)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (options: TestCommandOptions) => {
      const { runTestCommand } = await import('./test-command.js');
      const end = words.indexOf('--');
      const own = words.slice(words.indexOf('test') + 1, end < 0 ? undefined : end);
      const flags = withoutOptions(own, ['-f', '--fixtures'], ['--no-report']);
      const program = end < 0 ? [] : words.slice(end + 1);
      outcome.exitCode = await runTestCommand({ flags, program }, options, process);
    });
}

const testHelp = `
The program gets KUBECONFIG, with the credentials of an administrator, and USE_EXISTING_CLUSTER=true, with which envtest of
controller-runtime starts no server of its own. The server listens on a free port of 127.0.0.1 and keeps everything in
memory. All flags of serve are accepted before --.

The report lists the requests and the objects that are new, changed or gone afterwards, on the standard error.

Exit code:
  that of the program; 128 and the number of the signal that ended it
  125  the server did not start
  127  the program cannot be run

Examples:
  keelson test -- go test ./...
  keelson test -f crds/ -f fixtures.yaml -- python -m pytest
`;

function checkCommand(command: Command, outcome: Outcome): Command {
  return command
    .description('read every object in etcd or in a data directory, and report those that are unreadable or invalid')
    .usage('--etcd-servers <a,b,...> | --data-dir <path> [flags]')
    .option('--all', 'list every problem')
    .addOption(
      new Option('--problems <n>', 'maximum number of problems to list for one resource')
        .default(10)
        .argParser((text) => Number(text)),
    )
    .addOption(new Option('-o, --output <format>', 'format of the report').choices(['table', 'json']).default('table'))
    .addHelpText('after', checkHelp)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (options: CheckOptions, { args }: Command) => {
      const { runCheck } = await import('./check-command.js');
      outcome.exitCode = await runCheck(args, options, process);
    });
}

function explainCommand(command: Command, outcome: Outcome): void {
  const addTo = (value: string, values: readonly string[]) => [...values, value];
  command
    .description('print why a running server allows or refuses a request of a user')
    .usage('--as <user> <verb> <resource[.group][/name] | /path> [flags]')
    .option('--as <user>', 'user of the request; system:serviceaccount:<namespace>:<name> is a service account')
    .option('--as-group <group>', 'group of the user; may be repeated', addTo, [])
    .option('-n, --namespace <name>', 'namespace of the request; by default that of the kubeconfig')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('--subresource <name>', 'subresource, such as log or status', '')
    .option('-l, --selector <selector>', 'label selector of a list, watch or deletecollection')
    .option('--field-selector <selector>', 'field selector of a list, watch or deletecollection')
    .option('--kubeconfig <path>', 'kubeconfig of a user who may create subjectaccessreviews')
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'format of the answer').choices(['text', 'json']).default('text'))
    .addHelpText('after', explainHelp)
    .allowExcessArguments()
    .action(async (options: ExplainOptions, { args }: Command) => {
      const { runExplain } = await import('./explain-command.js');
      outcome.exitCode = await runExplain(args, options, process);
    });
}

const explainHelp = `
Prints the decision of each authorizer in their order; for RBAC the binding, the role and the rule that allow the
request, or the rule that it requires. system:authenticated is added to the groups, as for requests.

Exit code:
  0  the request is allowed
  1  it is not allowed
  2  wrong usage, or the server cannot be asked
`;

function explainAdmissionCommand(command: Command, outcome: Outcome): void {
  const addTo = (value: string, values: readonly string[]) => [...values, value];
  command
    .description('print what admission on a running server does with objects, without storing them')
    .usage('-f <file> [flags]')
    .option('-f, --filename <path>', 'YAML or JSON file with one or more objects; - is the standard input')
    .addOption(
      new Option('--operation <name>', 'by default update for an object that exists, else create').choices([
        'create',
        'update',
        'delete',
      ]),
    )
    .option('--as <user>', 'user of the request, whom the user of the kubeconfig impersonates')
    .option('--as-group <group>', 'group of the user; may be repeated', addTo, [])
    .option('-n, --namespace <name>', 'namespace of objects without one; by default that of the kubeconfig')
    .option('--kubeconfig <path>', 'kubeconfig of a user who may get /debug/admission')
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'format of the answer').choices(['text', 'json']).default('text'))
    .addHelpText('after', explainAdmissionHelp)
    .allowExcessArguments()
    .action(async (options: ExplainAdmissionOptions, { args }: Command) => {
      const { runExplainAdmission } = await import('./explain-admission-command.js');
      outcome.exitCode = await runExplainAdmission(args, options, process);
    });
}

const explainAdmissionHelp = `
Sends each object as a dry run, and prints each step of admission in its order: the plug-in, what it changed in the object,
and the policies and webhooks that it applied or did not apply. Times are those of the server.

Exit code:
  0  all objects are admitted
  1  one is refused
  2  wrong usage, or the server cannot be asked
`;

/** Adds the flags to the help of the commands that take them. */
async function describeFlags(program: Program, { server, check, agent }: Commands): Promise<void> {
  const { helpOptions, optionsOf } = await import('./config/flag-help.js');
  const flags = helpOptions(program);
  check?.configureHelp({
    helpWidth: 100,
    visibleOptions: ({ options }) => [...options, ...flags.filter(({ long }) => checkFlags.has(long ?? ''))],
  });
  describe(server, flags);
  if (agent) {
    const { agentFlagTopics } = await import('./agent/options/agent-flags.js');
    describe(agent, optionsOf(agentFlagTopics));
  }
}

function describe(command: Command, flags: Option[]): void {
  command.configureHelp({
    helpWidth: Math.min(process.stdout.columns ?? 100, 100),
    visibleOptions: () => flags,
    formatItem: (term, _width, description, help) =>
      `  ${term}\n${help.boxWrap(description, (help.helpWidth ?? 100) - 8).replace(/^/gm, '        ')}`,
  });
}

/** Flags of `serve` in the help of `check`. It accepts all of them, so that both can share a --config file. */
const checkFlags: ReadonlySet<string> = new Set([
  '--config',
  '--data-dir',
  '--etcd-servers',
  '--etcd-prefix',
  '--etcd-cafile',
  '--etcd-certfile',
  '--etcd-keyfile',
  '--feature-gates',
  '--runtime-config',
  '--storage-media-type',
]);

const checkHelp = `
Nothing is written: etcd gets only range reads at one revision. Without --etcd-servers, check reads the embedded store in
--data-dir; stop its server first. All flags of serve are accepted, on the command line, as KEELSON_<FLAG> and in the
--config file.

Exit code:
  0  every object can be read and is valid
  1  the report names objects that cannot be read or are not valid
  2  wrong usage, or the store cannot be reached
`;

const versionText = `keelson ${productVersion} (API ${apiVersion.gitVersion})`;

/** A server that is told to stop while it starts is closed gracefully if it has started within this time. */
const startMsMaxToStop = 1000;

/** `store` replaces the one that the flags name. */
async function serve(program: Program, words: readonly string[], store?: OwnStore): Promise<number | undefined> {
  const { loadConfig } = await import('./config/load-config.js');
  const loaded = loadConfig(words, process.env, { defaults: program });
  if (loaded.errors) {
    for (const error of loaded.errors) process.stderr.write(`${program}: ${error}\n`);
    process.stderr.write(`${program}: not started; see ${program === 'keelson' ? 'keelson serve' : program} --help\n`);
    return 1;
  }
  loaded.warnings.forEach(warn);
  const { makeLogger } = await import('./assembly/logging.js');
  const { StartLog } = await import('./assembly/start-log.js');
  const log = new StartLog(makeLogger(loaded.config.log), systemClock);
  if (loaded.config.log.level === 'debug') log.succeeded();
  const starting = start(loaded.config, log.logger, store?.kv);
  let isWhole = false;
  stopOnSignals(async () => {
    const started = await Promise.race([starting.catch(() => undefined), sleep(systemClock, startMsMaxToStop)]);
    // Leaves without closing a store that is still being copied, which would wait for the copy.
    if (store?.whole && !isWhole) return;
    await started?.close();
    await store?.kv.close();
  });
  let server: RunningServer;
  try {
    server = await starting;
    await store?.whole;
    isWhole = true;
  } catch (error) {
    log.failed();
    log.logger.debug('the server did not start', { error });
    const { startErrorLine } = await import('./assembly/start-error.js');
    process.stderr.write(`${program}: the server did not start: ${startErrorLine(error, loaded.config)}\n`);
    process.exit(1);
  }
  log.succeeded();
  print(readyText(loaded.config, server.url));
  return undefined;
}

async function start(config: ServerConfig, logger: Logger, store?: KvStore): Promise<RunningServer> {
  const { processCount } = await import('./config/process-count.js');
  if (processCount(config) > 1) {
    const { startProcesses } = await import('./assembly/primary.js');
    return startProcesses(config, { logger, program: process.argv[1]! });
  }
  const { startOpenServer } = await import('./assembly/server.js');
  return startOpenServer(config, { logger, ...(store && { store }) });
}

/** Shuts the server down gracefully on the first SIGTERM or SIGINT, and exits at once on the second. */
function stopOnSignals(close: () => Promise<void>): void {
  let isStopping = false;
  const stop = () => {
    if (isStopping) process.exit(1);
    isStopping = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`the server did not shut down cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function readyText(config: ServerConfig, url: string): string {
  const { storage, authorization, kubeconfigOut } = config;
  const store = storage.backend === 'etcd3' ? storage.etcd.servers.join(', ') : storage.backend;
  const authorizers = authorization.configFile ?? authorization.modes.join(', ');
  const lines = [`Serving ${url}  (store: ${store}; authorization: ${authorizers})`];
  if (kubeconfigOut !== undefined) {
    lines.push(`  kubeconfig  ${kubeconfigOut}`, `  try         kubectl --kubeconfig ${kubeconfigOut} get namespaces`);
  }
  return `${lines.join('\n')}\n`;
}

function warn(warning: ConfigWarning): void {
  process.stderr.write(`level=warn flag=${warning.flag} msg="${warning.message.replaceAll('"', "'")}"\n`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
