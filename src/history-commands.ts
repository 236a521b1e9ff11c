import { Option, type Command } from 'commander';
import { withoutOptions } from './command-words.js';
import type { ForkOptions } from './fork-command.js';
import type { HistoryGetOptions, HistoryListOptions } from './history-command.js';
import type { ExportOptions, ImportOptions } from './transfer-command.js';
import type { OwnStore } from './assembly/own-store.js';
import type { SnapshotDiffOptions, SnapshotRestoreOptions, SnapshotSaveOptions } from './snapshot-command.js';

/** Set by the action of the command that runs. */
interface Outcome {
  exitCode: number | undefined;
}

interface CommandLine {
  readonly words: readonly string[];
  /**
   * Starts a server with flags of `serve`, and resolves with its exit code, or with undefined while it runs. `store` replaces
   * the one that the flags name.
   */
  readonly serve: (flags: readonly string[], store?: OwnStore) => Promise<number | undefined>;
}

/** Adds the commands about past states. Their modules are imported when they run. */
export function historyCommands(root: Command, outcome: Outcome, { words, serve }: CommandLine): void {
  historyCommand(root, outcome);
  forkCommand(root, outcome, { words, serve });
  snapshotCommand(root, outcome);
  exportCommand(root, outcome);
  importCommand(root, outcome);
}

function historyCommand(root: Command, outcome: Outcome): void {
  const history = root.command('history').description('print past states of objects, and who changed what in them');
  history
    .command('get')
    .description('print who changed which fields of an object, and when')
    .usage('<resource>/<name> [flags]')
    .option('--at <resourceVersion>', 'print the object as it was instead')
    .option('--audit-log <path>', 'audit log of the server, for users, verbs and audit IDs')
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

function forkCommand(root: Command, outcome: Outcome, { words, serve }: CommandLine): void {
  root
    .command('fork')
    .description('serve a copy of an embedded store, or of the state of a running server, on another port')
    .usage('[--data-dir <path> | --kubeconfig <path>] [flags]')
    .option('--to <path>', 'new data directory of the copy, which is kept; by default it is removed at the end')
    .option('--at <resourceVersion>', 'begin with the state at this resourceVersion')
    .option('--kubeconfig <path>', 'copy the state of the server of this kubeconfig, as a user who may do everything')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', forkHelp)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (options: ForkOptions) => {
      const { prepareFork } = await import('./fork-command.js');
      const fork = await prepareFork(
        withoutOptions(words.slice(words.indexOf('fork') + 1), ['--to', '--at', '--kubeconfig', '--context']),
        options,
        process,
      );
      outcome.exitCode = fork ? await serve(fork.flags, fork.store) : 1;
    });
}

const forkHelp = `
The copy is made at one moment and delays no writer; on file systems with shared extents (Btrfs, XFS) nothing is copied. The
fork answers meanwhile, and its first writes wait for the copy. It has the keys of --data-dir, so that clients and tokens of the
original are accepted, and its own kubeconfig. It listens on a free port of 127.0.0.1 unless --bind-address and --secure-port are
given. All flags of serve are accepted.

With --kubeconfig or --context the state of a running server is copied, such as one with --storage-backend=memory: all
objects with their uids and resourceVersions, Secrets among them. That copy has new keys and certificates.

With --storage-backend=memory the copy is in memory, and its Secrets are on no disk while it is served. Its writes are lost when
the fork ends. A copy of --data-dir has the past states of the original, that of a server begins without them.

Reconcilers of the copy run, and its webhooks are called: programs outside of the cluster may notice it.
`;

function snapshotCommand(root: Command, outcome: Outcome): void {
  const snapshot = root.command('snapshot').description('save all objects of a server to a file, and reset it to them');
  const forClient = (command: Command) =>
    command
      .option('--kubeconfig <path>', 'kubeconfig of a cluster administrator')
      .option('--context <name>', 'context of the kubeconfig')
      .allowExcessArguments();
  forClient(snapshot.command('save'))
    .description('write all objects at one resourceVersion to a file')
    .usage('<file> [flags]')
    .option('--force', 'replace a file that is not a snapshot')
    .addHelpText('after', snapshotSaveHelp)
    .action(async (options: SnapshotSaveOptions, { args }: Command) => {
      const { runSnapshotSave } = await import('./snapshot-command.js');
      outcome.exitCode = await runSnapshotSave(args, options, process);
    });
  snapshot
    .command('list')
    .description('list the snapshots in directories, by default in this one, and verify them')
    .usage('[directory or file ...]')
    .allowExcessArguments()
    .action(async (_options: object, { args }: Command) => {
      const { runSnapshotList } = await import('./snapshot-command.js');
      outcome.exitCode = await runSnapshotList(args, process);
    });
  forClient(snapshot.command('diff'))
    .description('print what differs between two snapshots, or between a snapshot and the server')
    .usage('<file> [file] [flags]')
    .addOption(
      new Option('-o, --output <format>', 'format of the differences').choices(['text', 'json']).default('text'),
    )
    .addHelpText('after', snapshotDiffHelp)
    .action(async (options: SnapshotDiffOptions, { args }: Command) => {
      const { runSnapshotDiff } = await import('./snapshot-command.js');
      outcome.exitCode = await runSnapshotDiff(args, options, process);
    });
  forClient(snapshot.command('restore'))
    .description('create, replace and delete objects until the server has those of a snapshot')
    .usage('<file> [flags]')
    .option('--yes', 'write; without it the writes are only listed')
    .addHelpText('after', snapshotRestoreHelp)
    .action(async (options: SnapshotRestoreOptions, { args }: Command) => {
      const { runSnapshotRestore } = await import('./snapshot-command.js');
      outcome.exitCode = await runSnapshotRestore(args, options, process);
    });
}

function exportCommand(root: Command, outcome: Outcome): void {
  root
    .command('export')
    .description('write the objects of a namespace or a cluster to a file, for another cluster')
    .usage('<file | -> -n <namespace> | -A [flags]')
    .option('-n, --namespace <name>', 'a namespace with its objects')
    .option('-A, --all-namespaces', 'all namespaces, and objects of none')
    .addOption(new Option('-o, --output <format>', 'format of the file').choices(['yaml', 'cbor']).default('yaml'))
    .option('--controlled', 'objects of controllers too, such as the ReplicaSets of Deployments')
    .option('--force', 'replace a file that exists')
    .option('--kubeconfig <path>', 'kubeconfig of a user who may list all resources')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', exportHelp)
    .allowExcessArguments()
    .action(async (options: ExportOptions, { args }: Command) => {
      const { runExport } = await import('./transfer-command.js');
      outcome.exitCode = await runExport(args, options, process);
    });
}

const exportHelp = `
Left out are uids, versions, owners, finalizers, status and addresses, and what every cluster makes by itself. The file
contains Secrets: only its owner may read it. YAML can be applied by kubectl; cbor is a sequence of CBOR items.
`;

function importCommand(root: Command, outcome: Outcome): void {
  root
    .command('import')
    .description('create or apply the objects of a file of YAML or JSON documents, or of a CBOR sequence')
    .usage('<file | -> [flags]')
    .addOption(
      new Option('--on-conflict <policy>', 'what happens with objects that exist')
        .choices(['fail', 'skip', 'apply', 'overwrite'])
        .default('fail'),
    )
    .option('-n, --namespace <name>', 'write objects of all namespaces of the file to this one')
    .option('--kubeconfig <path>', 'kubeconfig of a user who may write the objects')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText('after', importHelp)
    .allowExcessArguments()
    .action(async (options: ImportOptions, { args }: Command) => {
      const { runImport } = await import('./transfer-command.js');
      outcome.exitCode = await runImport(args, options, process);
    });
}

const importHelp = `
Policies:
  fail       report objects that exist, and write the others
  skip       leave objects that exist as they are
  apply      change them by server-side apply, which fails for fields of other managers
  overwrite  change them by server-side apply, and take over fields of other managers

The whole file is checked before the first write. Namespaces and definitions of kinds are written first.

Exit code:
  0  all objects are written or skipped
  1  some were refused, each with the reason
  2  wrong usage, or nothing was written
`;

const snapshotSaveHelp = `
Reads the objects of all kinds by the public API, except Events and Leases. The file contains all Secrets: only its owner
may read it. An older snapshot of the name is replaced when the new one is whole.
`;

const snapshotDiffHelp = `
Lines begin with + for objects that were added, - for removed and ~ for changed ones. resourceVersions and field managers are
not compared. Values of Secrets are hidden in the text.

Exit code:
  0  nothing differs
  1  something differs
  2  wrong usage, or a snapshot cannot be read
`;

const snapshotRestoreHelp = `
Objects that are equal are not written. Objects of kinds that the snapshot does not know are left as they are. Created objects
get new uids, and references to them are adapted. An interrupted restore is continued by running it again.

Exit code:
  0  everything was restored
  1  some objects were not, each with the reason; or --yes is missing
  2  wrong usage, or nothing was restored
`;

const historyGetHelp = `
Prints the revisions that the server has, the oldest first: resourceVersion, time, what happened, field managers and, from
the audit log and its rotated files, users, verbs and audit IDs. Values of Secrets are hidden in the text. The server keeps
past states for --etcd-compaction-interval.

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
