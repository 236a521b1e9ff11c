import { Command, CommanderError, Option } from 'commander';
import type { CheckOptions } from './check-command.js';
import type { ConfigWarning } from './config/load-config.js';
import { apiVersion, productVersion } from './config/version.js';
import type { ServerConfig } from './config/server-config.js';
import type { RunningServer } from './server.js';
import { systemClock } from './std/clock.js';

export type Program = 'keelson' | 'kube-apiserver';

/**
 * The command line. What a command needs is imported when it runs, so that help and version answer at once.
 * Resolves with the exit code, or with undefined while a server runs.
 */
export async function main(program: Program, words: readonly string[]): Promise<number | undefined> {
  let exitCode: number | undefined = 0;
  const serving = (command: Command, flagWords: () => readonly string[]) =>
    command
      .allowUnknownOption()
      .allowExcessArguments()
      .action(async () => {
        exitCode = await serve(program, flagWords());
      });

  let root: Command;
  let server: Command;
  let check: Command | undefined;
  if (program === 'kube-apiserver') {
    if (words.some((word) => /^--version(=(true|raw))?$/.test(word)))
      return print(`Kubernetes ${apiVersion.gitVersion}\n`);
    root = server = serving(new Command(program).exitOverride(), () => words);
    root
      .description("Keelson with kube-apiserver's defaults: a Kubernetes-compatible API server beside etcd")
      .usage('[flags]');
  } else {
    root = new Command(program)
      .exitOverride()
      .description('A Kubernetes-compatible API server')
      .version(versionText, '--version');
    server = serving(root.command('serve'), () => words.slice(words.indexOf('serve') + 1));
    server
      .description('serve the API; every flag can also be set by KEELSON_<FLAG>, or in the --config file')
      .usage('[flags]');
    check = root
      .command('check')
      .description('read a whole etcd as the server would, report what cannot be read or is not valid, change nothing')
      .usage('--etcd-servers <a,b,...> | --data-dir <path> [flags]')
      .option('--all', 'list every problem')
      .addOption(
        new Option('--problems <n>', 'problems to list of one resource').default(10).argParser((text) => Number(text)),
      )
      .addOption(new Option('-o, --output <format>', 'of the report').choices(['table', 'json']).default('table'))
      .addHelpText('after', checkHelp)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(async (options: CheckOptions, { args }: Command) => {
        const { runCheck } = await import('./check-command.js');
        exitCode = await runCheck(args, options, process);
      });
    root
      .command('version')
      .description('print the version')
      .action(() => void print(`${versionText}\n`));
  }
  if (words.includes('--help') || words.includes('-h') || words[0] === 'help') {
    const { helpOptions } = await import('./config/flag-help.js');
    const flags = helpOptions(program);
    check?.configureHelp({
      helpWidth: 100,
      visibleOptions: ({ options }) => [...options, ...flags.filter(({ long }) => checkFlags.has(long ?? ''))],
    });
    server.configureHelp({
      helpWidth: Math.min(process.stdout.columns ?? 100, 100),
      visibleOptions: () => flags,
      formatItem: (term, _width, description, help) =>
        `  ${term}\n${help.boxWrap(description, (help.helpWidth ?? 100) - 8).replace(/^/gm, '        ')}`,
    });
  }
  try {
    await root.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (words[0] === 'check') return error.exitCode === 0 ? 0 : 2;
    return error.code === 'commander.help' ? 1 : error.exitCode;
  }
  return exitCode;
}

/** Flags of `serve` that matter to `check`; it takes all of them, so that the same --config and variables do for both. */
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
Only range reads at one revision are sent to etcd. Without --etcd-servers the embedded store in --data-dir is read, while
no server has it open. Every flag of serve is taken, from the command line, KEELSON_<FLAG>
and --config.

Exit code:
  0  every object can be read and is valid
  1  some cannot be read, or are not valid: the report names them
  2  wrong usage, or the store cannot be reached
`;

const versionText = `keelson ${productVersion} (API ${apiVersion.gitVersion})`;

async function serve(program: Program, words: readonly string[]): Promise<number | undefined> {
  const { loadConfig } = await import('./config/load-config.js');
  const loaded = loadConfig(words, process.env, { defaults: program });
  if (loaded.errors) {
    for (const error of loaded.errors) process.stderr.write(`${program}: ${error}\n`);
    process.stderr.write(`${program}: not started; see ${program === 'keelson' ? 'keelson serve' : program} --help\n`);
    return 1;
  }
  loaded.warnings.forEach(warn);
  const { startServer } = await import('./server.js');
  const { makeLogger } = await import('./logging.js');
  const { StartLog } = await import('./start-log.js');
  const log = new StartLog(makeLogger(loaded.config.log), systemClock);
  if (loaded.config.log.level === 'debug') log.succeeded();
  let server: RunningServer;
  try {
    server = await startServer(loaded.config, { logger: log.logger });
  } catch (error) {
    log.failed();
    log.logger.debug('the server did not start', { error });
    const { startErrorLine } = await import('./start-error.js');
    process.stderr.write(`${program}: the server did not start: ${startErrorLine(error, loaded.config)}\n`);
    process.exit(1);
  }
  log.succeeded();
  stopOnSignals(() => server.close());
  print(readyText(loaded.config, server.url));
  return undefined;
}

/** The first signal stops the server in order, the second at once. */
function stopOnSignals(close: () => Promise<void>): void {
  let isStopping = false;
  const stop = () => {
    if (isStopping) process.exit(1);
    isStopping = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
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
  const lines = [`Serving ${url}  (store: ${store}; authorization: ${authorization.modes.join(', ')})`];
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
