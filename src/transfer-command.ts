import { existsSync } from 'node:fs';
import { encodeYaml } from './codec/yaml.js';
import { clusterObjects } from './history/cluster-objects.js';
import { existsError, NewFile } from './history/own-file.js';
import { Progress } from './history/progress.js';
import { checkServed, scopesOf } from './history/snapshot/known-kinds.js';
import { objectSet } from './history/snapshot/object-set.js';
import { cborEncoder } from './history/snapshot/snapshot-file.js';
import { importObjects, inNamespace, type ConflictPolicy } from './history/transfer/import-objects.js';
import { objectsIn } from './history/transfer/object-file.js';
import { isLeftOut, portable } from './history/transfer/portable.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import type { KubeconfigClient } from './kubeconfig-client/kubeconfig-client.js';
import { withClient, type ClientCommandOptions, type Outputs } from './kubeconfig-client/with-client.js';
import type { ServedKind } from './kubeconfig-client/served-kinds.js';
import type { Fields } from './machinery/fields.js';
import { printable } from './std/printable.js';

export interface ExportOptions extends ClientCommandOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output: 'yaml' | 'cbor';
  readonly controlled?: boolean;
  readonly force?: boolean;
}

export interface ImportOptions extends ClientCommandOptions {
  readonly namespace?: string;
  readonly onConflict: ConflictPolicy;
}

/** Runs `keelson export` and returns its exit code: 0, or 2 after an error. */
export function runExport(
  words: readonly string[],
  options: ExportOptions,
  { stdout, stderr }: Outputs,
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson export: ${line}\n`);
  return withClient(options, tell, async (client) => {
    const { namespace, allNamespaces, output, force = false } = options;
    if (words.length !== 1 || (namespace !== undefined) === (allNamespaces === true)) {
      throw new ClientError('Kubeconfig', 'give a file, and -n NAMESPACE or -A; see keelson export --help');
    }
    const [file = ''] = words;
    const encode = output === 'cbor' ? await cborEncoder() : yamlDocument;
    const progress = new Progress('exported', tell);
    const write = async (put: (bytes: Buffer) => Promise<void>) => {
      for await (const object of exportedObjects(client, options, tell)) {
        await put(encode(object));
        progress.add();
      }
    };
    if (file === '-') await write(async (bytes) => void stdout.write(bytes));
    else await writeNew(file, force, write);
    tell(`${progress.count} objects in ${progress.duration}`);
    return 0;
  });
}

const yamlDocument = (object: unknown) => Buffer.concat([Buffer.from('---\n'), encodeYaml(object)]);

async function writeNew(
  path: string,
  force: boolean,
  write: (put: (bytes: Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  const replaces = existsSync(path);
  if (replaces && !force) throw existsError(path);
  const file = await NewFile.create(path);
  try {
    await write((bytes) => file.write(bytes));
    await file.finish({ replaces });
  } catch (error) {
    await file.discard();
    throw error;
  }
}

async function* exportedObjects(
  client: KubeconfigClient,
  { namespace, controlled = false }: ExportOptions,
  tell: (line: string) => void,
): AsyncGenerator<Fields> {
  const cluster = await clusterObjects(client, { namespace });
  for (const reason of cluster.leftOut) tell(`not exported: ${reason}`);
  if (namespace !== undefined) {
    const own = await client.get<Fields>(`/api/v1/namespaces/${encodeURIComponent(namespace)}`);
    if (!isLeftOut(own, controlled)) yield portable(own);
  }
  let count = 0;
  for await (const object of cluster.read()) {
    if (isLeftOut(object, controlled)) count++;
    else yield portable(object);
  }
  if (count > 0) tell(`left out ${count} objects that controllers or every cluster make`);
}

/** Runs `keelson import`. Returns 0, 1 if some objects were refused, 2 after an error. */
export function runImport(words: readonly string[], options: ImportOptions, { stderr }: Outputs): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson import: ${line}\n`);
  return withClient(options, tell, async (client) => {
    const [file = '', ...others] = words;
    const { namespace, onConflict } = options;
    if (file === '' || others.length > 0)
      throw new ClientError('Kubeconfig', 'give one file; see keelson import --help');
    const { storedKinds: kinds } = await clusterObjects(client);
    const moved = namespace === undefined ? objectsIn(file) : movedTo({ namespace, kinds, tell }, objectsIn(file));
    const objects = await objectSet(moved, file);
    checkServed(objects, kinds);
    const progress = new Progress('wrote', tell);
    const { written, skipped, failures } = await importObjects(client, objects, { namespace, onConflict, progress });
    for (const failure of failures) tell(printable(`refused: ${failure}`));
    tell(`${written} objects written, ${skipped} skipped, ${failures.length} refused in ${progress.duration}`);
    return failures.length > 0 ? 1 : 0;
  });
}

interface Move {
  readonly namespace: string;
  readonly kinds: readonly ServedKind[];
  readonly tell: (line: string) => void;
}

async function* movedTo({ namespace, kinds, tell }: Move, objects: AsyncIterable<Fields>): AsyncGenerator<Fields> {
  const isNamespaced = scopesOf(kinds);
  let count = 0;
  for await (const object of objects) {
    const moved = inNamespace(object, { namespace, isNamespaced: isNamespaced(object) });
    if (moved) yield moved;
    else count++;
  }
  if (count > 0) tell(`left out ${count} objects of no namespace`);
}
