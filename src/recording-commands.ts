import { Option, type Command } from 'commander';
import type { RecordOptions } from './record-command.js';
import type { ReplayCommandOptions } from './replay-command.js';

/** Set by the action of the command that runs. */
interface Outcome {
  exitCode: number | undefined;
}

/** Adds `record` and `replay`. Their modules are imported when they run. */
export function recordingCommands(root: Command, outcome: Outcome, words: readonly string[]): void {
  root
    .command('record')
    .description('record the requests of a program and the answers of an API server, without confidential values')
    .usage('--output <path> [flags] [-- <program> [arguments]]')
    .requiredOption('-o, --output <path>', 'file for the recording; only another recording is replaced')
    .option('--kubeconfig <path>', 'kubeconfig whose credentials are used for all requests')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', recordHelp)
    .allowExcessArguments()
    .action(async (options: RecordOptions, { args }: Command) => {
      const { runRecord } = await import('./record-command.js');
      const end = words.indexOf('--');
      outcome.exitCode = await runRecord(end < 0 ? args : words.slice(end + 1), options, process);
    });
  const toNumber = (text: string) => Number(text || NaN);
  root
    .command('replay')
    .description('send the requests of a recording to another API server, and list the answers that differ')
    .usage('<recording> [flags]')
    .option(
      '--ignore <pointer>',
      'JSON pointer whose differences do not count, with * for any segment; may be repeated',
      (value: string, values: readonly string[]) => [...values, value],
      [],
    )
    .addOption(
      new Option('--event-timeout <seconds>', 'time for events of watches after the last request')
        .default(10)
        .argParser(toNumber),
    )
    .addOption(new Option('--differences <n>', 'maximum number of answers to list').default(100).argParser(toNumber))
    .option('--kubeconfig <path>', 'kubeconfig of the other server')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', replayHelp)
    .allowExcessArguments()
    .action(async (options: ReplayCommandOptions, { args }: Command) => {
      const { runReplay } = await import('./replay-command.js');
      outcome.exitCode = await runReplay(args, options, process);
    });
}

const recordHelp = `
Starts an HTTPS server on 127.0.0.1 that passes requests on, and runs the program with its kubeconfig in KUBECONFIG.
Without a program it prints the path of the kubeconfig and records until SIGINT or SIGTERM. exec, attach and port-forward
are not passed on.

Exit code:
  that of the program; 128 and the number of the signal that ended it
  125  the recording was not started, or could not be written
  127  the program cannot be run

Examples:
  keelson record -o run.jsonl -- kubectl apply -f objects.yaml
  keelson test -- keelson record -o run.jsonl -- npm test
`;

const replayHelp = `
Sends the requests one after the other. The server should have the objects that the recorded one had at the beginning:
"keelson test -f fixtures/ -- keelson replay run.jsonl" starts one. uids, resourceVersions, generated names and cluster IPs
in later requests are replaced by those of the server; times do not count.

Exit code:
  0  all answers are the same
  1  answers differ
  2  the recording cannot be read, or the server cannot be reached
`;
