import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientError, reasonOf } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { objectsOf } from '../kubeconfig-client/manifest-objects.js';
import { collectionPath, ServedKinds, type ServedKind } from '../kubeconfig-client/served-kinds.js';
import { asFields, asItems, asText, type Fields } from '../machinery/fields.js';

/** An object, YAML with one or more documents, or the path of a file or directory with `.yaml`, `.yml` or `.json`. */
export type Fixture = string | Readonly<Record<string, unknown>>;

const fieldManager = 'keelson-testing';
const manifestName = /\.(ya?ml|json)$/;
/** Definitions of kinds are usually in force after a few milliseconds. */
const establishedMsMax = 30_000;
const pollMs = 5;

/** Reads fixtures. Directories are read recursively, in the order of names. */
export async function readFixtures(fixtures: readonly Fixture[]): Promise<Fields[]> {
  const objects: Fields[] = [];
  for (const fixture of fixtures) {
    if (typeof fixture !== 'string') objects.push(...itemsOf(fixture));
    else if (fixture.includes('\n')) objects.push(...objectsOf(Buffer.from(fixture), 'the text').flatMap(itemsOf));
    else objects.push(...(await objectsAt(fixture)));
  }
  return objects;
}

async function objectsAt(path: string): Promise<Fields[]> {
  try {
    if (!(await stat(path)).isDirectory()) return objectsOf(await readFile(path), path).flatMap(itemsOf);
    const names = await readdir(path, { recursive: true });
    const files = names.filter((name) => manifestName.test(name)).sort();
    if (files.length === 0) throw new ClientError('Kubeconfig', `${path} has no files *.yaml, *.yml or *.json`);
    const objects = await Promise.all(files.map((name) => objectsAt(join(path, name))));
    return objects.flat();
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw new ClientError('Kubeconfig', `the fixture ${path} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** The items of a List, or the object itself. */
function itemsOf(object: Readonly<Record<string, unknown>>): Fields[] {
  const { kind, items } = object;
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) ? asItems(items) : [object];
}

/**
 * Applies objects by server-side apply: Namespaces first, then CustomResourceDefinitions until their kinds are served, then
 * the others in their order. A status is written through the subresource. Rejects with the first object that is refused.
 */
export async function applyFixtures(client: KubeconfigClient, objects: readonly Fields[]): Promise<void> {
  const kinds = new ServedKinds(client);
  const definitions = objects.filter(isDefinition);
  for (const object of objects.filter(isNamespace)) await applyObject(client, kinds, object);
  for (const object of definitions) await applyObject(client, kinds, object);
  for (const object of definitions) await untilServed(client, kinds, object);
  for (const object of objects)
    if (!isNamespace(object) && !isDefinition(object)) await applyObject(client, kinds, object);
}

/** Rejects definitions for a server that establishes none: their kinds would never be served. */
export function refuseDefinitions(objects: readonly Fields[]): void {
  const definition = objects.find(isDefinition);
  if (!definition) return;
  const name = asText(asFields(definition['metadata'])['name']);
  throw new ClientError(
    'Status',
    `the CustomResourceDefinition ${name} cannot be established with reconciles: false; leave that option out, and give ` +
      "config: { reconcilers: { controllers: ['-*'] } } to run only the reconcilers that a server always runs",
  );
}

const isNamespace = ({ apiVersion, kind }: Fields) => apiVersion === 'v1' && kind === 'Namespace';
const isDefinition = ({ kind }: Fields) => kind === 'CustomResourceDefinition';

async function applyObject(client: KubeconfigClient, kinds: ServedKinds, object: Fields): Promise<void> {
  const metadata = asFields(object['metadata']);
  const name = asText(metadata['name']);
  const kind = await kinds.of(object);
  if (name === '') throw new ClientError('Status', `a fixture of the kind ${kind.kind} has no metadata.name`);
  const { status, ...desired } = object;
  const path = pathOf(kind, asText(metadata['namespace']) || client.namespace, name);
  const options = { type: 'apply', query: { fieldManager, force: true } } as const;
  try {
    await client.patch(path, kind.hasStatus ? desired : object, options);
    if (status !== undefined && kind.hasStatus) await client.patch(`${path}/status`, { status });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw new ClientError(error.code, `fixture ${kind.kind} "${name}": ${error.message}`, { cause: error });
  }
}

function pathOf(kind: ServedKind, namespace: string, name: string): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

async function untilServed(client: KubeconfigClient, kinds: ServedKinds, definition: Fields): Promise<void> {
  const name = asText(asFields(definition['metadata'])['name']);
  const { group, names, versions } = asFields(definition['spec']);
  const kind = asText(asFields(names)['kind']);
  const served = asItems(versions).filter((version) => version['served'] === true);
  const deadline = performance.now() + establishedMsMax;
  for (const version of served) {
    const object = { apiVersion: `${asText(group)}/${asText(version['name'])}`, kind };
    while (!(await isServed(kinds, object))) {
      kinds.forget();
      if (performance.now() > deadline) {
        const found = await client.get<Fields>(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
        const conditions = asItems(asFields(found['status'])['conditions']).map(
          ({ type, status, message }) => `${asText(type)}=${asText(status)}: ${asText(message)}`,
        );
        throw new ClientError('Timeout', `the kind ${kind} of ${name} is not served: ${conditions.join('; ')}`);
      }
      await sleep(pollMs);
    }
  }
}

async function isServed(kinds: ServedKinds, object: Fields): Promise<boolean> {
  try {
    await kinds.of(object);
    return true;
  } catch (error) {
    if (error instanceof ClientError && error.code === 'Status') return false;
    throw error;
  }
}
