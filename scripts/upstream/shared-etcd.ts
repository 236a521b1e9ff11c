import { setTimeout as sleep } from 'node:timers/promises';
import { asFields, asItems, asNumber, asText, valueAt, type Fields } from '../../src/machinery/fields.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { ApiClient, WatchEvent } from './api-client.js';
import { compareAlteredObjects } from './altered-objects.js';
import { eventually, type Checks } from './checks.js';
import { nodePortRange, type Cluster } from './cluster.js';
import { differences, everyKind, itemNamed, pathOf, type Sample } from './every-kind.js';
import { describeWrites, StoreWrites } from './store-writes.js';
import { keelsonWarnings, klogErrors } from './program-logs.js';

interface SharedRun {
  readonly cluster: Cluster;
  readonly checks: Checks;
  readonly say: (line: string) => void;
  /** The encoding that Keelson stores; kube-apiserver stores its default, protobuf. */
  readonly storageMediaType: string;
}

const servicesAtOnce = 160;
const quietMs = 120_000;
/** Timeout for a watch event of a write through the other server. */
const eventMsMax = 20_000;

/** Runs Keelson and the real kube-apiserver on one etcd, with no controllers but Keelson's reconcilers. */
export async function runSharedEtcd(run: SharedRun): Promise<void> {
  const { cluster, checks, say } = run;
  const flags = [`--storage-media-type=${run.storageMediaType}`];
  const upstream = await cluster.startApiServer();
  const keelson = await cluster.startKeelson(flags);
  const both = [keelson, upstream] as const;
  try {
    await compareRaw(both, checks, say);
    await compareAlteredObjects(both, checks, say, cluster.directory);
    await keelson.must(keelson.delete('/api/v1/namespaces/shop'));
    await eventually('the namespace is gone', async () =>
      (await upstream.get('/api/v1/namespaces/shop')).code === 404 ? true : undefined,
    );
    for (const path of [
      'scheduling.k8s.io/v1/priorityclasses/shop-checkout',
      'node.k8s.io/v1/runtimeclasses/shop-sandboxed',
    ]) {
      await keelson.must(keelson.delete(`/apis/${path}`));
    }
    await compareKinds(keelson, upstream, checks, say);
    await compareKinds(upstream, keelson, checks, say);
    await checkEncodings(run, both, checks);
    await checkPages(both, checks);
    await checkApply(keelson, upstream, checks);
    await checkApply(upstream, keelson, checks);
    await checkTokens(both, checks);
    await checkNodePorts(both, checks);
    await checkFinalizers(keelson, upstream, checks);
    await checkFinalizers(upstream, keelson, checks);
    const definitions = await makeDefinitions(both, checks);
    await cluster.stop('keelson');
    await cluster.startKeelson(flags);
    await cluster.stop('kube-apiserver');
    await cluster.startApiServer();
    await checkDefinitions(both, definitions, checks);
    await checkQuiet(run);
    checks.add('no program ended by itself', cluster.exits.length === 0, cluster.exits.join(', '));
  } finally {
    say('warnings and errors in the log of Keelson:');
    for (const { count, example } of keelsonWarnings(cluster.logOf('keelson'))) say(`    ${count} × ${example}`);
    say('errors in the log of kube-apiserver:');
    for (const { count, example } of klogErrors(cluster.logOf('kube-apiserver'))) say(`    ${count} × ${example}`);
  }
}

type Both = readonly [ApiClient, ApiClient];

/** Removes the namespace `shop` and the cluster-scoped objects of the manifests. */
async function removeSamples(client: ApiClient, samples: readonly Sample[]): Promise<void> {
  for (const sample of [...samples].reverse()) {
    await client.delete(pathOf(sample), { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
    await client.patch(pathOf(sample), { metadata: { finalizers: null } });
  }
  for (const sample of samples) {
    await eventually(`${sample.name} is gone`, async () => {
      const { code } = await client.get(pathOf(sample));
      return code === 404 || code === 403 ? true : undefined;
    });
  }
}

/** Creates each kind through `writer`; reads, watches, changes and deletes it through `reader`. */
async function compareKinds(
  writer: ApiClient,
  reader: ApiClient,
  checks: Checks,
  say: (line: string) => void,
): Promise<void> {
  const direction = `${writer.name} to ${reader.name}`;
  const samples = await everyKind(writer);
  const agreed: string[] = [];
  for (const sample of samples) {
    const problems = await compareKind(writer, reader, sample).catch((error: unknown) => [(error as Error).message]);
    if (problems.length === 0) agreed.push(sample.name);
    for (const problem of problems) say(`    ${direction}: ${sample.name}: ${problem}`);
  }
  const count = `${agreed.length} of ${samples.length} objects`;
  checks.add(`GET, LIST, watch, change agree, ${direction}`, agreed.length === samples.length, count);
  await checks.run(`objects are deleted through the other server, ${direction}`, () => removeSamples(reader, samples));
}

async function compareKind(writer: ApiClient, reader: ApiClient, sample: Sample): Promise<string[]> {
  const { collection, object } = sample;
  const { name } = object.metadata;
  const before = await reader.get(`${collection}?limit=1`);
  const from = asText(valueAt(before.body, ['metadata', 'resourceVersion']));
  const events: Record<string, WatchEvent[]> = { [writer.name]: [], [reader.name]: [] };
  const watchPath = `${collection}?fieldSelector=metadata.name=${name}&resourceVersion=${from}&timeoutSeconds=60`;
  const stops = await Promise.all(
    [writer, reader].map((client) => client.watch(watchPath, (event) => events[client.name]!.push(event))),
  );
  try {
    const made = await writer.post(collection, object);
    if (made.code !== 201) return [`create: ${made.code} ${made.text.slice(0, 400)}`];
    const uid = asText(valueAt(made.body, ['metadata', 'uid']));
    const problems = [...(await compareReads(writer, reader, sample, 'created'))];
    const changed = await reader.patch(pathOf(sample), { metadata: { labels: { changed: 'yes' } } });
    if (changed.code !== 200) problems.push(`change: ${changed.code} ${changed.text.slice(0, 400)}`);
    problems.push(...(await compareReads(writer, reader, sample, 'changed')));
    problems.push(
      ...(await compareEvents(events, uid, asText(valueAt(changed.body, ['metadata', 'resourceVersion'])))),
    );
    return problems;
  } finally {
    stops.forEach((stop) => stop());
  }
}

/** Compares GET, LIST and Table rows; retried while reconcilers of Keelson still change the object. */
async function compareReads(writer: ApiClient, reader: ApiClient, sample: Sample, when: string): Promise<string[]> {
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  let problems: string[] = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    problems = [];
    const gets = await Promise.all([writer, reader].map((client) => client.get(pathOf(sample))));
    const lists = await Promise.all([writer, reader].map((client) => client.get(sample.collection)));
    const tables = await Promise.all([writer, reader].map((client) => client.get(pathOf(sample), table)));
    const versions = [
      ...gets.map(({ body }) => body),
      ...lists.map(({ body }) => itemNamed(body, sample.object.metadata.name)),
      ...tables.map(({ body }) => asItems(body['rows'])[0]?.['object']),
    ].map((body) => valueAt(body, ['metadata', 'resourceVersion']));
    const items = lists.map(({ body }) => itemNamed(body, sample.object.metadata.name));
    if (items.some((item) => item === undefined)) problems.push(`LIST ${when}: the object is missing`);
    if (tables.some(({ body }) => asItems(body['rows']).length !== 1)) problems.push(`Table ${when}: not one row`);
    if (gets.some(({ code }) => code !== 200)) problems.push(`GET ${when}: ${gets.map(({ code }) => code).join()}`);
    else problems.push(...differences(gets[0]!.body, gets[1]!.body).map((one) => `GET ${when} ${one}`));
    problems.push(...differences(items[0], items[1]).map((one) => `LIST ${when} ${one}`));
    problems.push(...compareTables(tables[0]!.body, tables[1]!.body).map((one) => `Table ${when} ${one}`));
    if (problems.length === 0 || new Set(versions).size === 1) break;
  }
  return problems;
}

/** Compares columns and cells, except ages. */
function compareTables(left: Fields, right: Fields): string[] {
  const shape = (table: Fields) => ({
    columns: asItems(table['columnDefinitions']).map(({ name, type, format, priority }) => ({
      name,
      type,
      format,
      priority,
    })),
    cells: asItems(table['rows']).map(({ cells }) =>
      (cells as unknown[]).map((cell) => (/^(\d+[smhdy])+$|<unknown>$|ago$/.test(String(cell)) ? 'age' : cell)),
    ),
  });
  return differences(shape(left), shape(right));
}

/** Both watches must send the same states of the object, up to the last change. */
async function compareEvents(
  events: Readonly<Record<string, readonly WatchEvent[]>>,
  uid: string,
  lastVersion: string,
): Promise<string[]> {
  const told = (name: string) =>
    events[name]!.filter(({ type, object }) => type !== 'BOOKMARK' && object.metadata.uid === uid);
  const [left, right] = Object.keys(events);
  try {
    await eventually(
      'the last change in both watches',
      async () => {
        const all = [left!, right!].map((name) => told(name).some(isVersion(lastVersion)));
        return all.every(Boolean) ? true : undefined;
      },
      eventMsMax,
    );
  } catch (error) {
    return [(error as Error).message];
  }
  const until = (name: string) => {
    const all = told(name);
    return all.slice(0, all.findIndex(isVersion(lastVersion)) + 1);
  };
  return differences(until(left!), until(right!)).map((one) => `watch ${one}`);
}

const isVersion =
  (version: string) =>
  ({ object }: WatchEvent) =>
    object.metadata.resourceVersion === version;

/** Compares discovery and version documents that both serve. */
async function compareRaw([keelson, upstream]: Both, checks: Checks, say: (line: string) => void): Promise<void> {
  const groups = asItems((await upstream.must(upstream.get('/apis')))['groups']);
  const roots = groups.flatMap((group) =>
    asItems(group['versions']).map((one) => `/apis/${asText(one['groupVersion'])}`),
  );
  for (const path of ['/api', '/apis', '/api/v1', ...roots.sort()]) {
    const answers = await Promise.all([keelson.get(path), upstream.get(path)]);
    const [ours, theirs] = answers.map(({ body }) => normalDiscovery(body));
    const found = answers.every(({ code }) => code === 200)
      ? differences(ours, theirs)
      : [answers.map((a) => a.code).join()];
    checks.add(`raw ${path} is the same`, found.length === 0, found.length === 0 ? '' : `${found.length} differences`);
    for (const one of found.slice(0, 40)) say(`    ${path} ${one}`);
  }
}

/** Sorts resources and groups by name, and removes server addresses. */
function normalDiscovery(body: Fields): unknown {
  const byName = (list: unknown, key: string) =>
    Object.fromEntries(asItems(list).map((one) => [`${asText(one[key])}`, one]));
  if (body['resources'] !== undefined) return byName(body['resources'], 'name');
  if (body['groups'] !== undefined) return byName(body['groups'], 'name');
  return body['versions'];
}

/** Each server reads objects that the other stored in its own encoding. */
async function checkEncodings({ cluster, storageMediaType }: SharedRun, both: Both, checks: Checks): Promise<void> {
  await checks.run('values in etcd have the encoding of the server that wrote them', async () => {
    const store = await cluster.openStore();
    try {
      for (const client of both) {
        const name = `by-${client.name}`;
        await client.must(
          client.post('/api/v1/namespaces/default/configmaps', { metadata: { name }, data: { a: 'b' } }),
        );
        const { item } = await store.get(`/registry/configmaps/default/${name}`);
        const found = item?.value.subarray(0, 3).toString() === 'k8s' ? 'protobuf' : 'json';
        const wanted = client.name === 'keelson' && storageMediaType.endsWith('json') ? 'json' : 'protobuf';
        if (found !== wanted) throw new Error(`${client.name} wrote ${found}`);
      }
    } finally {
      await store.close();
    }
  });
}

/** A list is continued through the other server, as behind a load balancer. */
async function checkPages(both: Both, checks: Checks): Promise<void> {
  await checks.run('pages of a list through both servers in turn are the list', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const whole = asItems((await both[0].must(both[0].get(path)))['items']);
    for (const first of [0, 1]) {
      const pages: Fields[] = [];
      let token = '';
      for (let page = first; ; page++) {
        const client = both[page % 2]!;
        const more = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
        const list = await client.must(client.get(`${path}?limit=7${more}`));
        pages.push(...asItems(list['items']));
        token = asText(valueAt(list, ['metadata', 'continue']));
        if (token === '') break;
      }
      const found = differences(pages, whole);
      if (found.length > 0) throw new Error(found.slice(0, 3).join('; '));
    }
    return `${whole.length} ClusterRoles`;
  });
}

/** Field managers that apply through one server conflict with those of the other. */
async function checkApply(one: ApiClient, other: ApiClient, checks: Checks): Promise<void> {
  await checks.run(`server-side apply through ${one.name} is owned for ${other.name}`, async () => {
    const path = `/api/v1/namespaces/default/configmaps/applied-${one.name}`;
    const metadata = { name: `applied-${one.name}` };
    const body = (data: Fields) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    await one.must(one.patch(`${path}?fieldManager=a`, body({ a: '1', b: '1' }), 'apply'));
    const { code } = await other.patch(`${path}?fieldManager=b`, body({ a: '2' }), 'apply');
    if (code !== 409) throw new Error(`a conflict was answered with ${code}`);
    await other.must(other.patch(`${path}?fieldManager=b&force=true`, body({ a: '2' }), 'apply'));
    const dropped = await one.must(one.patch(`${path}?fieldManager=a`, body({ c: '1' }), 'apply'));
    const found = differences(dropped['data'], { a: '2', c: '1' });
    if (found.length > 0) throw new Error(found.join('; '));
  });
}

/** A token that one server issued is accepted by the other, until its ServiceAccount is deleted. */
async function checkTokens(both: Both, checks: Checks): Promise<void> {
  await checks.run('service account tokens of each server are accepted by both', async () => {
    for (const client of both) {
      const path = '/api/v1/namespaces/default/serviceaccounts';
      const name = `of-${client.name}`;
      await client.must(client.post(path, { metadata: { name } }));
      const made = await client.must(client.post(`${path}/${name}/token`, { spec: { expirationSeconds: 3600 } }));
      const review = { spec: { token: valueAt(made, ['status', 'token']) } };
      const isAccepted = async (server: ApiClient) => {
        const answer = await server.must(server.post('/apis/authentication.k8s.io/v1/tokenreviews', review));
        return valueAt(answer, ['status', 'authenticated']) === true;
      };
      for (const server of both) {
        await eventually(`${server.name} accepts it`, async () => ((await isAccepted(server)) ? true : undefined));
      }
      await client.must(client.delete(`${path}/${name}`));
      for (const server of both) {
        await eventually(`${server.name} refuses it`, async () => ((await isAccepted(server)) ? undefined : true));
      }
    }
  });
}

/** In two quiet minutes neither server writes. */
async function checkQuiet({ cluster, checks, say }: SharedRun): Promise<void> {
  const store = await cluster.openStore();
  const writes = await StoreWrites.open(store);
  const from = performance.now();
  await sleep(quietMs);
  const made = writes.since(from);
  checks.add('nothing but Leases is written in two quiet minutes', made.length === 0, `${made.length} writes`);
  for (const line of describeWrites(made)) say(`    ${line}`);
  writes.stop();
  await store.close();
}

/** Creates Services with node ports through both servers at once. */
async function checkNodePorts(both: Both, checks: Checks): Promise<void> {
  const namespace = 'node-ports';
  const collection = `/api/v1/namespaces/${namespace}/services`;
  await checks.run(`2 × ${servicesAtOnce} NodePort Services at once have different ports and addresses`, async () => {
    await both[0].must(both[0].post('/api/v1/namespaces', { metadata: { name: namespace } }));
    await eventually('namespace', async () =>
      (await both[1].get(`/api/v1/namespaces/${namespace}`)).code === 200 ? true : undefined,
    );
    const spec = { type: 'NodePort', ports: [{ port: 80 }] };
    const answers = await Promise.all(
      both.flatMap((client, server) =>
        Array.from({ length: servicesAtOnce }, (_, index) =>
          client.post(collection, { metadata: { name: `s-${server}-${index}` }, spec }),
        ),
      ),
    );
    const refused = answers.filter(({ code }) => code !== 201);
    if (refused.length > 0) throw new Error(`${refused.length} refused: ${refused[0]!.text.slice(0, 300)}`);
    const ports = answers.map(({ body }) => asNumber(asItems(valueAt(body, ['spec', 'ports']))[0]?.['nodePort']));
    const addresses = answers.map(({ body }) => asText(valueAt(body, ['spec', 'clusterIP'])));
    const [first = 0, last = 0] = nodePortRange.split('-').map(Number);
    if (ports.some((port) => port < first || port > last)) throw new Error('a port is outside the range');
    const count = answers.length;
    if (new Set(ports).size !== count) throw new Error(`${count - new Set(ports).size} ports were allocated twice`);
    if (new Set(addresses).size !== count)
      throw new Error(`${count - new Set(addresses).size} addresses were allocated twice`);
    return `${count} Services`;
  });
  await checks.run(
    'a port that one server gave is refused by the other, and free after a deletion through either',
    async () => {
      for (const [giver, other] of [both, [...both].reverse()]) {
        const fixed = (name: string) => ({
          metadata: { name },
          spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_767 }] },
        });
        // The port may be one of the 320 Services'.
        for (const name of await namesWithPort(giver, collection, 30_767)) await giver.delete(`${collection}/${name}`);
        await giver.must(giver.post(collection, fixed('first')));
        const { code } = await other.post(collection, fixed('second'));
        if (code !== 422) throw new Error(`${other.name} answered ${code}`);
        await other.must(other.delete(`${collection}/first`));
        await giver.must(giver.post(collection, fixed('third')));
        await giver.must(giver.delete(`${collection}/third`));
      }
    },
  );
  await both[0].delete(`/api/v1/namespaces/${namespace}`);
}

async function namesWithPort(client: ApiClient, collection: string, port: number): Promise<string[]> {
  const items = asItems((await client.must(client.get(collection)))['items']);
  return items
    .filter((item) => asItems(valueAt(item, ['spec', 'ports'])).some(({ nodePort }) => nodePort === port))
    .map((item) => asText(valueAt(item, ['metadata', 'name'])));
}

/** Finalizers hold an object, whichever server deletes it and whichever removes them. */
async function checkFinalizers(one: ApiClient, other: ApiClient, checks: Checks): Promise<void> {
  await checks.run(`finalizers hold: created through ${one.name}, deleted through ${other.name}`, async () => {
    const collection = '/api/v1/namespaces/default/configmaps';
    const path = `${collection}/held`;
    const body = { metadata: { name: 'held', finalizers: ['example.com/hold'] }, data: { a: 'b' } };
    await one.must(one.post(collection, body));
    await other.must(other.delete(path));
    for (const client of [one, other]) {
      const found = await client.must(client.get(path));
      if (valueAt(found, ['metadata', 'deletionTimestamp']) === undefined)
        throw new Error(`${client.name}: not deleted`);
    }
    const again = await one.post(collection, body);
    if (again.code !== 409) throw new Error(`create during the deletion was answered with ${again.code}`);
    await one.must(one.patch(path, { metadata: { finalizers: null } }));
    for (const client of [one, other]) {
      const { code } = await client.get(path);
      if (code !== 404) throw new Error(`${client.name} still answers ${code}`);
    }
  });
}

interface Definition {
  readonly plural: string;
  readonly collection: string;
  readonly crd: string;
}

const definitionOf = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.upstream.example.com` },
  spec: {
    group: 'upstream.example.com',
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, shortNames: [plural.slice(0, 3)] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Note', type: 'string', jsonPath: '.spec.note', priority: 1, description: 'What it is for.' },
        ],
        selectableFields: [{ jsonPath: '.spec.note' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['replicas'],
                properties: {
                  replicas: { type: 'integer', minimum: 0, maximum: 9 },
                  note: { type: 'string', default: 'none', pattern: '^[a-z]+$' },
                  port: { 'x-kubernetes-int-or-string': true },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  ports: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
                  },
                },
              },
              status: { type: 'object', properties: { replicas: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
});

/** Creates a CustomResourceDefinition through each server, and objects of both through both. */
async function makeDefinitions(both: Both, checks: Checks): Promise<readonly Definition[]> {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const definitions: Definition[] = [];
  for (const [index, client] of both.entries()) {
    const plural = index === 0 ? 'anchors' : 'boilers';
    const collection = `/apis/upstream.example.com/v1/namespaces/default/${plural}`;
    const definition = { plural, collection, crd: `${crds}/${plural}.upstream.example.com` };
    await checks.run(`CustomResourceDefinition through ${client.name} is served by both`, async () => {
      await client.must(client.post(crds, definitionOf(plural, index === 0 ? 'Anchor' : 'Boiler')));
      for (const server of both) {
        await eventually(`${plural} of ${server.name}`, async () =>
          (await server.get(collection)).code === 200 ? true : undefined,
        );
        const metadata = { name: server.name };
        await server.must(
          server.post(collection, {
            apiVersion: 'upstream.example.com/v1',
            kind: index === 0 ? 'Anchor' : 'Boiler',
            metadata,
            spec: { replicas: 2, port: 'http', free: { any: [1] } },
          }),
        );
      }
    });
    definitions.push(definition);
  }
  await checkDefinitions(both, definitions, checks, 'before restarts');
  return definitions;
}

async function checkDefinitions(
  both: Both,
  definitions: readonly Definition[],
  checks: Checks,
  when = 'after restarts of both',
): Promise<void> {
  for (const { plural, collection, crd } of definitions) {
    await checks.run(`${plural}: definition, schema, columns, subresources agree ${when}`, async () => {
      for (const server of both) {
        await eventually(`${plural} of ${server.name}`, async () =>
          (await server.get(collection)).code === 200 ? true : undefined,
        );
      }
      const problems: string[] = [];
      const compare = async (name: string, path: string, accept?: string, shape = (body: Fields): unknown => body) => {
        const answers = await Promise.all(both.map((client) => client.get(path, accept)));
        problems.push(...differences(shape(answers[0]!.body), shape(answers[1]!.body)).map((one) => `${name} ${one}`));
        return answers[0]!.body;
      };
      const definition = await compare('definition', crd);
      const stored = valueAt(definition, ['spec', 'versions']);
      const wanted = definitionOf(plural, plural).spec.versions;
      problems.push(...differences(stored, wanted).map((one) => `stored versions ${one}`));
      // kube-apiserver's lists of custom objects contain "continue": "" on the last page.
      await compare('list', collection, undefined, ({ metadata, ...rest }) => ({
        ...rest,
        version: asFields(metadata)['resourceVersion'],
      }));
      await compare('table', collection, 'application/json;as=Table;v=v1;g=meta.k8s.io', (body) => ({
        columns: asItems(body['columnDefinitions']).map(({ description: _ownWords, ...column }) => column),
        cells: asItems(body['rows']).map((row) => (row['cells'] as unknown[]).slice(0, 2)),
      }));
      await compare('discovery', '/apis/upstream.example.com/v1', undefined, normalDiscovery);
      for (const name of both.map((client) => client.name)) {
        await compare('object', `${collection}/${name}`);
        await compare('scale', `${collection}/${name}/scale`);
        await compare('status', `${collection}/${name}/status`);
      }
      for (const client of both) {
        const kind = asText(valueAt(definition, ['spec', 'names', 'kind']));
        const bad = await client.post(collection, {
          apiVersion: 'upstream.example.com/v1',
          kind,
          metadata: { name: 'bad' },
          spec: { replicas: 10, note: 'UPPER' },
        } satisfies KubeObject);
        const causes = asItems(valueAt(bad.body, ['details', 'causes'])).length;
        if (bad.code !== 422 || causes !== 2) problems.push(`${client.name} answers ${bad.code} with ${causes} causes`);
      }
      if (problems.length > 0) throw new Error(problems.slice(0, 12).join('; '));
    });
  }
}
