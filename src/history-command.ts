import { stringifyJson } from './codec/json.js';
import { encodeYaml } from './codec/yaml.js';
import { auditedWrites, clusterOf } from './history/audited-writes.js';
import { historyText } from './history/history-text.js';
import { readHistory } from './history/object-history.js';
import { revisionWrites } from './history/revision-writes.js';
import { pastObjects, pastTable } from './history/past-objects.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import type { KubeconfigClient } from './kubeconfig-client/kubeconfig-client.js';
import { collectionPath, groupOf, ServedKinds, type ServedKind } from './kubeconfig-client/served-kinds.js';
import { withClient, type ClientCommandOptions, type Outputs } from './kubeconfig-client/with-client.js';

interface TargetOptions extends ClientCommandOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

export interface HistoryGetOptions extends TargetOptions {
  readonly at?: string;
  readonly auditLog?: string;
  readonly output: 'text' | 'json' | 'yaml' | 'table';
}

export interface HistoryListOptions extends TargetOptions {
  readonly at: string;
  readonly selector?: string;
  readonly output: 'table' | 'json' | 'yaml';
}

interface Target {
  readonly kind: ServedKind;
  readonly namespace: string;
  readonly collection: string;
}

/** Runs `keelson history get` and returns its exit code: 0; 1 if the object did not exist; 2 after an error. */
export function runHistoryGet(
  words: readonly string[],
  options: HistoryGetOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson history: ${line}\n`);
  return withClient(options, tell, async (client) => {
    const [type = '', name = '', ...more] = words.length === 1 ? words[0]!.split('/') : words;
    if (type === '' || name === '' || more.length > 0 || options.allNamespaces) {
      throw usageError('give the resource and the name of one object, like deployments/web');
    }
    const target = await targetOf(client, type, options);
    const { kind, namespace, collection } = target;
    const shownName = `${kind.plural}/${name}`;
    if (options.at !== undefined) {
      const query = { collection, name, resourceVersion: versionIn(options.at) };
      const output = options.output === 'text' ? 'yaml' : options.output;
      const count = await printPast(client, query, { output, isOne: true, withNamespace: false }, stdout);
      if (count === 0) tell(`${shownName} did not exist at resourceVersion ${options.at}`);
      return count > 0 ? 0 : 1;
    }
    if (options.output === 'table' || options.output === 'yaml')
      throw usageError('give -o text or -o json, or --at RV');
    const { since, revisions } = await readHistory(client, { collection, name });
    if (revisions.length === 0) {
      tell(`${shownName} has not existed since resourceVersion ${since}, the oldest one that the server has`);
      return 1;
    }
    const object = { group: groupOf(kind.path), resource: kind.plural, namespace, name };
    const sinceMs = Date.parse(revisions[0]!.time) || 0;
    const cluster = clusterOf(`${client.basePath}/`);
    const writes =
      options.auditLog === undefined
        ? []
        : await auditedWrites(options.auditLog, { ...object, cluster }, { sinceMs, tell });
    const found = revisionWrites(revisions, writes);
    const told = revisions.map((revision, index) => {
      const { user = '', verb = '', time = '', auditID = '' } = found[index] ?? {};
      return { ...revision, user, ...(found[index] && { audit: { verb, requestReceivedTimestamp: time, auditID } }) };
    });
    if (options.output === 'json') {
      const fields = { kind: 'ObjectHistory', ...object, oldestResourceVersion: since, revisions: told };
      stdout.write(`${stringifyJson(fields)}\n`);
    } else {
      stdout.write(historyText(told, kind.kind));
      if (Number(since) > 1) tell(`the oldest resourceVersion that the server has is ${since}`);
    }
    return 0;
  });
}

/** Runs `keelson history list` and returns its exit code: 0, or 2 after an error. */
export function runHistoryList(
  words: readonly string[],
  options: HistoryListOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson history: ${line}\n`);
  return withClient(options, tell, async (client) => {
    const [type = '', ...others] = words;
    if (type === '' || others.length > 0) throw usageError('give one resource, like deployments');
    const { kind, collection } = await targetOf(client, type, options);
    const query = {
      collection,
      resourceVersion: versionIn(options.at),
      ...(options.selector !== undefined && { labelSelector: options.selector }),
    };
    const withNamespace = kind.isNamespaced && options.allNamespaces === true;
    const count = await printPast(client, query, { output: options.output, isOne: false, withNamespace }, stdout);
    if (count === 0 && options.output === 'table') tell(`there were no ${kind.plural}`);
    return 0;
  });
}

async function targetOf(client: KubeconfigClient, type: string, options: TargetOptions): Promise<Target> {
  const kind = await new ServedKinds(client).named(type);
  const isInNamespace = kind.isNamespaced && options.allNamespaces !== true;
  const namespace = isInNamespace ? (options.namespace ?? client.namespace) : '';
  return { kind, namespace, collection: collectionPath(kind, namespace) };
}

interface Format {
  readonly output: 'table' | 'json' | 'yaml';
  /** True to print the object instead of a List. */
  readonly isOne: boolean;
  readonly withNamespace: boolean;
}

/** Prints objects as they come, and returns their number. */
async function printPast(
  client: KubeconfigClient,
  query: Parameters<typeof pastObjects>[1],
  { output, isOne, withNamespace }: Format,
  stdout: Outputs['stdout'],
): Promise<number> {
  if (output === 'table') {
    const table = await pastTable(client, query, withNamespace);
    stdout.write(table);
    return table === '' ? 0 : 1;
  }
  let count = 0;
  for await (const object of pastObjects(client, query)) {
    if (output === 'yaml') stdout.write(`${count > 0 ? '---\n' : ''}${encodeYaml(object).toString()}`);
    else if (isOne) stdout.write(`${stringifyJson(object)}\n`);
    else stdout.write(`${count > 0 ? ',\n' : '{"apiVersion":"v1","kind":"List","items":[\n'}${stringifyJson(object)}`);
    count++;
  }
  if (output === 'json' && !isOne)
    stdout.write(count > 0 ? '\n]}\n' : '{"apiVersion":"v1","kind":"List","items":[]}\n');
  return count;
}

function versionIn(text: string): string {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw usageError(`--at: ${stringifyJson(text)} is not a resourceVersion`);
  return text;
}

const usageError = (problem: string) => new ClientError('Kubeconfig', `${problem}; see keelson history --help`);
