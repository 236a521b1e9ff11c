import type { KubeObject } from '../../src/machinery/kube-object.js';
import { parseApiVersion } from '../../src/machinery/gvk.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { everyManifest } from '../harness/manifests.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** A server without a controller manager, scheduler or kubelet. */
let server: TestServer;
let client: HttpClient;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  client = server.client(server.keelson.client);
});
afterAll(() => server.stop());

const namespace = 'shop';
const manifests = everyManifest();

function collectionOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const { group, version } = parseApiVersion(apiVersion)!;
  const found = server.keelson.components.registry
    .storedResources()
    .find(({ definition: it }) => it.group === group && it.version === version && it.kind === kind);
  if (!found) return undefined;
  const root = `${group === '' ? '/api' : `/apis/${group}`}/${version}`;
  const scope = found.definition.namespaced ? `/namespaces/${metadata.namespace ?? namespace}` : '';
  return `${root}${scope}/${found.definition.plural}`;
}

/** Returns the paths of the created objects, in order. Custom objects are created as soon as their kind is served. */
async function createAll(): Promise<string[]> {
  const paths: string[] = [];
  for (const object of manifests) {
    await eventually(`${object.kind} is served`, () => collectionOf(object) !== undefined);
    const collection = collectionOf(object)!;
    const { code, body } = await client.post(collection, object);
    expect([object.kind, code, code === 201 ? '' : body.message]).toEqual([object.kind, 201, '']);
    paths.push(`${collection}/${body.metadata.name}`);
  }
  return paths;
}

const isGone = async (path: string) => (await client.get(path)).code === 404;
async function areGone(paths: readonly string[]): Promise<void> {
  const left = new Set(paths);
  await eventually('all that was deleted is gone', async () => {
    for (const path of left) if (await isGone(path)) left.delete(path);
    return left.size === 0;
  }).catch(async (error: unknown) => {
    const found = await Promise.all([...left].map(async (path) => [path, (await client.get(path)).body.metadata]));
    throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
  });
}

it('a created and deleted object of every kind is gone', async () => {
  const paths = await createAll();
  for (const path of [...paths].reverse()) {
    const { code, body } = await client.delete(path);
    expect([path, [200, 202, 404].includes(code), body.message]).toEqual([path, true, body.message]);
  }
  await areGone(paths);
});

it('a namespace with an object of every kind is gone', async () => {
  const paths = await createAll();
  const isInside = (path: string) => path.includes(`/namespaces/${namespace}/`);
  // Namespaces wait for aggregated servers, which may hold objects of theirs, and this one does not exist.
  for (const path of paths.filter((path) => path.includes('/apiservices/'))) await client.delete(path);
  await client.delete(`/api/v1/namespaces/${namespace}`);
  await areGone([...paths.filter(isInside), `/api/v1/namespaces/${namespace}`]);
  const outside = paths.filter((path) => !isInside(path)).reverse();
  for (const path of outside) await client.delete(path);
  await areGone(outside);
});

it('nothing is left Terminating', async () => {
  for (const { store } of server.keelson.components.registry.storedResources()) {
    for (const { key, attributes } of store.cache.snapshot().range(store.scopeOf(''))) {
      expect([key, attributes.lifetime?.isDeleting ?? false]).toEqual([key, false]);
    }
  }
});
