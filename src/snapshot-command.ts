import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stringifyJson } from './codec/json.js';
import { clusterObjects, serverVersion } from './history/cluster-objects.js';
import { changeText, isSecretField } from './history/history-text.js';
import { fileError } from './history/own-file.js';
import { Progress } from './history/progress.js';
import { checkServed, definedKinds, ofRecordedKinds, recordedKinds } from './history/snapshot/known-kinds.js';
import { differences, objectSet, type Difference, type ObjectSet } from './history/snapshot/object-set.js';
import { planRestore, type RestorePlan } from './history/snapshot/restore-plan.js';
import { restore } from './history/snapshot/restore.js';
import { SnapshotReader, writeSnapshot } from './history/snapshot/snapshot-file.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import type { KubeconfigClient } from './kubeconfig-client/kubeconfig-client.js';
import { withClient, type ClientCommandOptions, type Outputs } from './kubeconfig-client/with-client.js';
import { systemClock } from './std/clock.js';
import { printable } from './std/printable.js';

export interface SnapshotSaveOptions extends ClientCommandOptions {
  readonly force?: boolean;
}

export interface SnapshotRestoreOptions extends ClientCommandOptions {
  readonly yes?: boolean;
}

export interface SnapshotDiffOptions extends ClientCommandOptions {
  readonly output: 'text' | 'json';
}

const shownMax = 20;

/** Runs `keelson snapshot save` and returns its exit code: 0, or 2 after an error. */
export function runSnapshotSave(
  words: readonly string[],
  options: SnapshotSaveOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = teller(stderr);
  return withClient(options, tell, async (client) => {
    const file = onlyWord(words, 'give the file to write');
    const cluster = await clusterObjects(client);
    for (const reason of cluster.leftOut) tell(`not saved: ${reason}`);
    const progress = new Progress('saved', tell);
    const header = {
      savedAt: new Date(systemClock.now()).toISOString(),
      resourceVersion: cluster.resourceVersion,
      serverVersion: await serverVersion(client),
      kinds: recordedKinds(cluster.kinds),
    };
    const count = await writeSnapshot(file, header, counted(cluster.read(), progress), {
      force: options.force === true,
    });
    stdout.write(`${file}: ${count} objects at resourceVersion ${cluster.resourceVersion}, in ${progress.duration}\n`);
    return 0;
  });
}

async function* counted<T>(items: AsyncIterable<T>, progress: Progress): AsyncGenerator<T> {
  for await (const item of items) {
    progress.add();
    yield item;
  }
}

/** Runs `keelson snapshot list` and returns its exit code: 0; 1 if a file is damaged; 2 after an error. */
export async function runSnapshotList(words: readonly string[], { stdout, stderr }: Outputs): Promise<number> {
  let code = 0;
  const rows: string[][] = [];
  try {
    for (const file of await filesIn(words.length > 0 ? words : ['.'])) {
      const reader = new SnapshotReader(file);
      const header = await reader.header().catch(nothingIfNotOurs);
      if (!header) continue;
      const { savedAt, resourceVersion, serverVersion: version } = header;
      let count = 0;
      try {
        for await (const _object of reader.objects()) count++;
        rows.push([file, savedAt, resourceVersion, String(count), version]);
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        code = 1;
        rows.push([file, savedAt, resourceVersion, error.message, version]);
      }
    }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    teller(stderr)(error.message);
    return 2;
  }
  const table = [['FILE', 'SAVED', 'RESOURCEVERSION', 'OBJECTS', 'SERVER'], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table) {
    stdout.write(`${printable(row.map((text, column) => text.padEnd(widths[column]!)).join('   ')).trimEnd()}\n`);
  }
  return code;
}

/** The files of the directories, and the files that are named. */
async function filesIn(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    try {
      if (!(await stat(path)).isDirectory()) files.push(path);
      else {
        const entries = await readdir(path, { withFileTypes: true });
        files.push(
          ...entries
            .filter((entry) => entry.isFile())
            .map(({ name }) => join(path, name))
            .sort(),
        );
      }
    } catch (error) {
      throw fileError(path, 'read', error);
    }
  }
  return files;
}

function nothingIfNotOurs(error: unknown): undefined {
  if (error instanceof ClientError) return undefined;
  throw error;
}

/** Runs `keelson snapshot diff`. Returns 0 if nothing differs, 1 if something does, 2 after an error. */
export async function runSnapshotDiff(
  words: readonly string[],
  options: SnapshotDiffOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = teller(stderr);
  const compared = async (client: KubeconfigClient | undefined) => {
    const [first = '', second] = words;
    if (first === '' || words.length > 2) throw usageError('give one snapshot, or two');
    const before = await savedObjects(first);
    const after = second === undefined ? await liveObjects(client!, tell) : await savedObjects(second);
    const found = differences(before, after);
    if (options.output === 'json') stdout.write(`${stringifyJson(found)}\n`);
    else for (const difference of found) stdout.write(differenceText(difference));
    return found.length > 0 ? 1 : 0;
  };
  if (words.length < 2) return withClient(options, tell, compared);
  try {
    return await compared(undefined);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    tell(error.message);
    return 2;
  }
}

const signs = { added: '+', removed: '-', changed: '~' } as const;

function differenceText({ key, kind, type, fields }: Difference): string {
  const lines = [`${signs[type]} ${key}`];
  for (const change of fields) lines.push(`    ${changeText(change, isSecretField(kind, change))}`);
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/** Runs `keelson snapshot restore`. Returns 0, 1 if something was not restored, 2 after an error. */
export function runSnapshotRestore(
  words: readonly string[],
  options: SnapshotRestoreOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = teller(stderr);
  return withClient(options, tell, async (client) => {
    const file = onlyWord(words, 'give the file of a snapshot');
    const reader = new SnapshotReader(file);
    const { kinds: recorded } = await reader.header();
    const saved = await savedObjects(file);
    const { kinds } = await clusterObjects(client);
    checkServed(saved, kinds);
    const all = await liveObjects(client, tell);
    const { objects: live, others } = ofRecordedKinds(all, recorded);
    const untouched = others.filter((kind) => !definedKinds(all).includes(kind));
    if (untouched.length > 0) tell(`not in the snapshot, and left as it is: ${untouched.join(', ')}`);
    const plan = planRestore(saved, live);
    stdout.write(planText(plan));
    if (options.yes !== true) {
      for (const line of changesOf(plan)) stdout.write(`${printable(line)}\n`);
      tell('nothing was written; give --yes to restore');
      return 1;
    }
    const progress = new Progress('wrote', tell);
    const failures = [...plan.impossible, ...(await restore(client, plan, progress))];
    for (const failure of failures) tell(printable(`not restored: ${failure}`));
    stdout.write(`wrote ${progress.count} objects in ${progress.duration}\n`);
    return failures.length > 0 ? 1 : 0;
  });
}

function planText({ creates, replaces, deletes, unchanged }: RestorePlan): string {
  const counts = `${creates.length} to create, ${replaces.length} to replace, ${deletes.length} to delete`;
  return `${counts}, ${unchanged} unchanged\n`;
}

function changesOf({ creates, replaces, deletes, impossible }: RestorePlan): string[] {
  const lines = [
    ...deletes.map(({ key }) => `- ${key}`),
    ...creates.map(({ key }) => `+ ${key}`),
    ...replaces.map(({ key }) => `~ ${key}`),
    ...impossible.map((problem) => `! ${problem}`),
  ];
  const more = lines.length - shownMax;
  return more > 0 ? [...lines.slice(0, shownMax), `and ${more} more`] : lines;
}

const savedObjects = (file: string): Promise<ObjectSet> => objectSet(new SnapshotReader(file).objects(), file);

async function liveObjects(client: KubeconfigClient, tell: (line: string) => void): Promise<ObjectSet> {
  const cluster = await clusterObjects(client);
  return objectSet(counted(cluster.read(), new Progress('read', tell)), 'the server');
}

const teller = (stderr: Outputs['stderr']) => (line: string) => void stderr.write(`keelson snapshot: ${line}\n`);

function onlyWord(words: readonly string[], problem: string): string {
  if (words.length !== 1 || words[0] === '') throw usageError(problem);
  return words[0]!;
}

const usageError = (problem: string) => new ClientError('Kubeconfig', `${problem}; see keelson snapshot --help`);
