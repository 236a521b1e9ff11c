import { Option, type Command } from 'commander';
import type { HistoryGetOptions, HistoryListOptions } from './history-command.js';

/** Set by the action of the command that runs. */
interface Outcome {
  exitCode: number | undefined;
}

/** Adds the commands about past states. Their modules are imported when they run. */
export function historyCommands(root: Command, outcome: Outcome): void {
  const history = root.command('history').description('print past states of objects, and who changed what in them');
  history
    .command('get')
    .description('print who changed which fields of an object, and when')
    .usage('<resource>/<name> [flags]')
    .option('--at <resourceVersion>', 'print the object as it was instead')
    .option('--audit-log <path>', 'audit log of the server, for the users')
    .option('-n, --namespace <name>', 'namespace of the object; by default that of the kubeconfig')
    .addOption(
      new Option('-o, --output <format>', 'text or json; with --at yaml, json or table')
        .choices(['text', 'json', 'yaml', 'table'])
        .default('text'),
    )
    .option('--kubeconfig <path>', 'kubeconfig of a user who may list and watch the resource')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', historyGetHelp)
    .allowExcessArguments()
    .action(async (options: HistoryGetOptions, { args }: Command) => {
      const { runHistoryGet } = await import('./history-command.js');
      outcome.exitCode = await runHistoryGet(args, options, process);
    });
  history
    .command('list')
    .description('list the objects of a resource as they were')
    .usage('<resource> --at <resourceVersion> [flags]')
    .requiredOption('--at <resourceVersion>', 'a resourceVersion of any object, or of a list')
    .option('-n, --namespace <name>', 'namespace of the objects; by default that of the kubeconfig')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <selector>', 'label selector')
    .addOption(
      new Option('-o, --output <format>', 'format of the objects').choices(['table', 'yaml', 'json']).default('table'),
    )
    .option('--kubeconfig <path>', 'kubeconfig of a user who may list the resource')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', historyListHelp)
    .allowExcessArguments()
    .action(async (options: HistoryListOptions, { args }: Command) => {
      const { runHistoryList } = await import('./history-command.js');
      outcome.exitCode = await runHistoryList(args, options, process);
    });
}

const historyGetHelp = `
Prints the revisions that the server has, the oldest first: resourceVersion, time, what happened, field managers and, from
the audit log, users. Values of Secrets are hidden in the text. The server keeps past states for
--etcd-compaction-interval.

Exit code:
  0  the object has revisions, or existed at the resourceVersion
  1  it has none
  2  wrong usage, or the server cannot be asked
`;

const historyListHelp = `
A table has the columns of kubectl; yaml and json read the objects page by page.

Exit code:
  0  the objects are printed
  2  wrong usage, the server cannot be asked, or it no longer has the resourceVersion
`;
