import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CustomResourceDefinition } from '../../src/catalog/types/apiextensions.v1.js';
import type { StorageVersionMigration } from '../../src/catalog/types/storagemigration.v1beta1.js';
import { ApiError, defineAdmissionPlugin } from '../../src/index.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { ConversionWebhook } from '../harness/conversion-webhook.js';
import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient, type Answer } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const apiVersion = 'storagemigration.k8s.io/v1beta1';
const migrations = `/apis/${apiVersion}/storageversionmigrations`;
const runtimeConfig = { [apiVersion]: true };
const group = 'example.com';
const name = `widgets.${group}`;
const widgets = (version: string) => `/apis/${group}/${version}/namespaces/default/widgets`;
const widgetKeys = `/registry/${group}/widgets/default/`;
const configMaps = '/api/v1/namespaces/default/configmaps';
const numbers = (length: number) => Array.from({ length }, (_, index) => index);

const height = { type: 'integer' };
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' } } } },
};

/** The versions of the kind; `stored` is the storage version. */
const versions = (names: readonly string[], stored: string) =>
  names.map((version) => ({
    name: version,
    served: true,
    storage: version === stored,
    schema: { openAPIV3Schema: schema },
  }));

async function ok(answer: Promise<Answer>): Promise<KubeObject> {
  const { code, body } = await answer;
  if (code !== 200 && code !== 201) throw new Error(`${code}: ${String(body.message)}`);
  return body as KubeObject;
}

/** Defines widgets, stored as v1, and creates some of them. */
async function defineWidgets(admin: HttpClient, count: number): Promise<void> {
  await ok(admin.post(definitions, customResourceDefinition({ group, plural: 'widgets', kind: 'Widget', schema })));
  await eventually('widgets are served', async () => (await admin.get(widgets('v1'))).code === 200);
  await switchTo(admin, 'v1');
  for (const size of numbers(count)) {
    await ok(admin.post(widgets('v1'), { apiVersion: `${group}/v1`, ...widget(`w${size}`, size) }));
  }
}

const widget = (of: string, size: number) => ({ kind: 'Widget', metadata: { name: of }, spec: { size } });

/** Changes the definition of widgets, and waits until v2 is served by it: requests of that moment may get a 503. */
async function redefine(admin: HttpClient, spec: object): Promise<KubeObject> {
  const definition = await ok(admin.patch(`${definitions}/${name}`, { spec }));
  await eventually('widgets are served', async () => (await admin.get(widgets('v2'))).code === 200);
  return definition;
}

const switchTo = (admin: HttpClient, stored: string) => redefine(admin, { versions: versions(['v1', 'v2'], stored) });

async function begin(admin: HttpClient, migration: string, of = { group, resource: 'widgets' }): Promise<void> {
  await ok(admin.post(migrations, { metadata: { name: migration }, spec: { resource: of } }));
}

/** Waits until a migration has ended; returns its conditions as text. */
async function ended(admin: HttpClient, migration: string): Promise<string[]> {
  const isEnded = ({ status }: StorageVersionMigration) =>
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'Running' && value === 'False');
  const found: StorageVersionMigration = (await until(
    admin,
    migrations,
    migration,
    (object) => object !== undefined && isEnded(object),
  ))!;
  return (found.status?.conditions ?? []).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
}

const completed = 'Running=False MigrationCompleted: Migration completed';
const success = [completed, 'Succeeded=True StorageVersionMigrationSucceeded: '];
const failure = (message: string) => [completed, `Failed=True StorageVersionMigrationFailed: ${message}`];

/** The version in which each stored widget is stored. */
async function storedVersions(store: KvStore, keys = widgetKeys): Promise<Record<string, string>> {
  const { items } = await store.range(keys);
  return Object.fromEntries(
    items.map(({ key, value }) => {
      const text = value.toString('latin1');
      const version = text.startsWith('k8s\0')
        ? 'protobuf'
        : (/"apiVersion":"([^"]*)"/.exec(text)?.[1] ?? 'unreadable');
      return [key.slice(keys.length), version];
    }),
  );
}

const all = (stored: Record<string, string>) => [...new Set(Object.values(stored))].sort();

async function definitionNow(admin: HttpClient): Promise<CustomResourceDefinition> {
  return ok(admin.get(`${definitions}/${name}`));
}

const migratingOf = ({ status }: CustomResourceDefinition) =>
  (status?.conditions ?? []).find(({ type }) => type === 'StorageMigrating');

const combination = { store: 'memory', naming: 'kubernetes' } as const;
let store: MemoryStore;
let running: TestServer[];
beforeEach(() => {
  store = new MemoryStore();
  running = [];
});
afterEach(async () => {
  for (const server of running) await server.stop();
  await store.close();
});

type Given = Omit<Parameters<typeof startTestServer>[1] & object, 'store'>;

/** Starts a server on the store of the test. */
async function start(options: Given = {}): Promise<HttpClient> {
  const config = { runtimeConfig, ...options.config };
  const server = await startTestServer(combination, { store, ...options, config });
  running.push(server);
  return server.admin;
}

describe('a custom kind whose storage version has changed', () => {
  it('is stored in the new version after a migration, and the old one can be removed', async () => {
    const admin = await start();
    await defineWidgets(admin, 30);
    const before = await ok(admin.get(`${widgets('v2')}/w3`));
    const { metadata } = await switchTo(admin, 'v2');
    await ok(admin.post(widgets('v2'), widget('late', 1)));
    const untouched = await ok(admin.get(`${widgets('v2')}/late`));
    expect(all(await storedVersions(store))).toEqual([`${group}/v1`, `${group}/v2`]);

    await begin(admin, 'm');
    expect(await ended(admin, 'm')).toEqual(success);
    expect(all(await storedVersions(store))).toEqual([`${group}/v2`]);
    expect(await ok(admin.get(`${widgets('v2')}/late`))).toEqual(untouched);
    const after = await ok(admin.get(`${widgets('v2')}/w3`));
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    const { resourceVersion } = after.metadata;
    expect(after).toEqual({ ...before, metadata: { ...before.metadata, resourceVersion } });

    const { status }: StorageVersionMigration = await ok(admin.get(`${migrations}/m`));
    expect(Number(status?.resourceVersion)).toBeGreaterThanOrEqual(Number(untouched.metadata.resourceVersion));
    expect(Number(status?.resourceVersion)).toBeLessThan(Number(resourceVersion));
    const definition = await definitionNow(admin);
    expect(definition.status?.storedVersions).toEqual(['v2']);
    expect(migratingOf(definition)).toEqual({
      type: 'StorageMigrating',
      status: 'False',
      reason: 'MigrationSucceeded',
      message: 'The migration has succeeded and the stored versions have been updated',
      lastTransitionTime: expect.any(String) as string,
      observedGeneration: metadata.generation,
    });

    await redefine(admin, { versions: versions(['v2'], 'v2') });
    expect((await ok(admin.get(`${widgets('v2')}/w3`)))['spec']).toEqual({ size: 3 });
  });

  it('is migrated back by a second migration, and a third one writes nothing', async () => {
    const admin = await start();
    await defineWidgets(admin, 3);
    for (const [migration, version] of [
      ['forth', 'v2'],
      ['back', 'v1'],
    ] as const) {
      await switchTo(admin, version);
      await begin(admin, migration);
      expect(await ended(admin, migration)).toEqual(success);
      expect(all(await storedVersions(store))).toEqual([`${group}/${version}`]);
      expect((await definitionNow(admin)).status?.storedVersions).toEqual([version]);
    }
    const revisions = async () => (await store.range(widgetKeys)).items.map(({ modRevision }) => modRevision);
    const before = await revisions();
    await begin(admin, 'idle');
    expect(await ended(admin, 'idle')).toEqual(success);
    expect(await revisions()).toEqual(before);
  });

  it('keeps the writes of clients during the migration', async () => {
    const admin = await start();
    await defineWidgets(admin, 200);
    await switchTo(admin, 'v2');
    const expected = new Map(numbers(200).map((size) => [`w${size}`, size]));
    let isMigrating = true;
    const writer = async (lane: number) => {
      for (let n = 0; isMigrating || n < 20; n++) {
        const of = `w${(lane + 5 * n) % 200}`;
        if (n % 7 === 6) {
          const { code } = await admin.delete(`${widgets('v2')}/${of}`);
          expect([200, 404]).toContain(code);
          expected.delete(of);
        } else {
          const size = 1000 * (n + 1) + lane;
          const { code } = await admin.patch(`${widgets(n % 2 ? 'v1' : 'v2')}/${of}`, { spec: { size } });
          expect(code).toBe(expected.has(of) ? 200 : 404);
          if (code === 200) expected.set(of, size);
        }
      }
    };
    const writers = numbers(5).map(writer);
    await begin(admin, 'm');
    expect(await ended(admin, 'm').finally(() => (isMigrating = false))).toEqual(success);
    await Promise.all(writers);
    expect(all(await storedVersions(store))).toEqual([`${group}/v2`]);
    const { body } = await admin.get(widgets('v2'));
    const sizes = (body.items as KubeObject[]).map(
      ({ metadata, spec }) => [metadata.name!, (spec as { size: number }).size] as const,
    );
    expect(new Map(sizes)).toEqual(new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1))));
  });

  it('is converted by its webhook, which the migration waits for', async () => {
    const webhook = await ConversionWebhook.start();
    try {
      webhook.convert = (object) => {
        const { size, height } = (object['spec'] ?? {}) as { size?: number; height?: number };
        const value = size ?? height;
        return { ...object, spec: object.apiVersion.endsWith('v1') ? { height: value } : { size: value } };
      };
      const admin = await start();
      await defineWidgets(admin, 30);
      const { conversion } = webhook;
      const heights = { type: 'object', properties: { spec: { type: 'object', properties: { height } } } };
      const [v1, v2] = versions(['v1', 'v2'], 'v2');
      const changed = { versions: [v1, { ...v2, schema: { openAPIV3Schema: heights } }], conversion };
      await redefine(admin, changed);
      let refusals = 0;
      webhook.answer = (_, response) => {
        refusals++;
        response.writeHead(500).end();
      };
      await begin(admin, 'm');
      await eventually('the webhook is asked', () => refusals > 0);
      expect(all(await storedVersions(store))).toEqual([`${group}/v1`]);
      webhook.answer = undefined;
      expect(await ended(admin, 'm')).toEqual(success);
      expect(all(await storedVersions(store))).toEqual([`${group}/v2`]);
      const { item } = await store.get(`${widgetKeys}w7`);
      expect(JSON.parse(item!.value.toString())).toMatchObject({ spec: { height: 7 } });
      expect((await definitionNow(admin)).status?.storedVersions).toEqual(['v2']);
      await eventually('v2 is read without the webhook', async () => {
        const asked = webhook.reviews.length;
        const { code } = await admin.get(widgets('v2'));
        return code === 200 && webhook.reviews.length === asked;
      });
    } finally {
      await webhook.stop();
    }
  });

  it('keeps its watches when the migration ends', async () => {
    const admin = await start();
    await defineWidgets(admin, 3);
    await switchTo(admin, 'v2');
    const watch = await admin.watch(`${widgets('v2')}?watch=1`);
    try {
      await begin(admin, 'm');
      expect(await ended(admin, 'm')).toEqual(success);
      await ok(admin.post(widgets('v2'), widget('last', 1)));
      const seen: string[] = [];
      for await (const { type, object } of watch) {
        seen.push(`${type} ${object.metadata.name}`);
        if (object.metadata.name === 'last') break;
      }
      expect(seen.slice(-4).sort()).toEqual(['ADDED last', 'MODIFIED w0', 'MODIFIED w1', 'MODIFIED w2']);
    } finally {
      watch.close();
    }
  });

  it('whose migration had begun on another server is completed', async () => {
    const first = await start({ config: { reconcilers: { controllers: ['*', '-svm'] } } });
    await defineWidgets(first, 10);
    await switchTo(first, 'v2');
    await begin(first, 'm');
    // Half of the objects are written in the new version, as by a migration that was interrupted.
    for (const size of numbers(5)) await ok(first.patch(`${widgets('v2')}/w${size}`, { spec: { color: 'red' } }));
    const { metadata } = await ok(first.get(`${widgets('v2')}/w4`));
    const lastTransitionTime = '2026-01-02T03:04:05Z';
    const runs = { type: 'Running', status: 'True', reason: 'MigrationRunning', message: '', lastTransitionTime };
    const status = { conditions: [runs], resourceVersion: metadata.resourceVersion };
    await ok(first.patch(`${migrations}/m/status`, { status }));
    await running.pop()!.stop();

    const admin = await start();
    expect(await ended(admin, 'm')).toEqual(success);
    expect(all(await storedVersions(store))).toEqual([`${group}/v2`]);
    expect(await ok(admin.get(`${widgets('v2')}/w4`))).toMatchObject({ metadata });
  });
});

it('built-in kinds are migrated between JSON and protobuf', async () => {
  const admin = await start();
  await ok(admin.post(configMaps, { metadata: { name: 'a' }, data: { a: 'b' } }));
  const resources = [
    { keys: '/registry/configmaps/default/', resource: { group: '', resource: 'configmaps' } },
    { keys: '/registry/serviceaccounts/', resource: { group: '', resource: 'serviceaccounts' } },
    { keys: '/registry/services/specs/', resource: { group: '', resource: 'services' } },
    { keys: '/registry/namespaces/', resource: { group: '', resource: 'namespaces' } },
    { keys: '/registry/clusterroles/', resource: { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' } },
  ];
  const json = new Map<string, string[]>();
  for (const { keys } of resources) json.set(keys, all(await storedVersions(store, keys)));
  expect([...json.values()].flat()).not.toContain('protobuf');
  const { metadata, data } = await ok(admin.get(`${configMaps}/a`));
  for (const mediaType of ['application/vnd.kubernetes.protobuf', 'application/json']) {
    await running.pop()!.stop();
    const next = await start({ config: { storage: { mediaType } } });
    for (const { keys, resource } of resources) {
      const migration = `${resource.resource}-${mediaType.length}`;
      await begin(next, migration, resource);
      expect(await ended(next, migration)).toEqual(success);
      const isJson = mediaType === 'application/json';
      expect([keys, all(await storedVersions(store, keys))]).toEqual([keys, isJson ? json.get(keys) : ['protobuf']]);
    }
    const { resourceVersion: _version, ...kept } = metadata;
    expect(await ok(next.get(`${configMaps}/a`))).toMatchObject({ metadata: kept, data });
  }
});

describe('a migration fails', () => {
  const prefixed = (message: string) => failure(`migration encountered unhandled error: ${message}`);

  it('if an object cannot be read, and the CustomResourceDefinition keeps its stored versions', async () => {
    const admin = await start();
    await defineWidgets(admin, 3);
    await store.txn([], [{ type: 'put', key: `${widgetKeys}broken`, value: Buffer.from('{"kind":"Widget"') }]);
    await switchTo(admin, 'v2');
    await begin(admin, 'm');
    const [state, message = ''] = await ended(admin, 'm');
    expect(state).toBe(completed);
    expect(message).toMatch(
      /^Failed=True StorageVersionMigrationFailed: migration encountered unhandled error: Internal error occurred: the object stored under \/registry\/example\.com\/widgets\/default\/broken cannot be read: ./,
    );
    const definition = await definitionNow(admin);
    expect(definition.status?.storedVersions).toEqual(['v1', 'v2']);
    expect(migratingOf(definition)).toMatchObject({
      status: 'False',
      reason: 'MigrationFailed',
      message: 'The migration has failed',
    });
  });

  it.each<[string, object]>([
    ['has', {}],
    ['is being deleted and has', { deletionTimestamp: '2026-01-02T03:04:05Z', finalizers: ['example.com/hold'] }],
  ])('if an object %s fields that this server does not know, which are not lost', async (_, more) => {
    const admin = await start();
    await ok(admin.post(configMaps, { metadata: { name: 'a' } }));
    const key = '/registry/configmaps/default/a';
    const { item } = await store.get(key);
    const stored = JSON.parse(item!.value.toString()) as KubeObject;
    const object = { ...stored, metadata: { ...stored.metadata, ...more }, futureField: { a: 1 } };
    const value = Buffer.from(JSON.stringify(object));
    await store.txn([], [{ type: 'put', key, value }]);
    await begin(admin, 'm', { group: '', resource: 'configmaps' });
    expect(await ended(admin, 'm')).toEqual(
      prefixed(
        `Internal error occurred: the object stored under ${key} has fields that this server does not know ` +
          '(futureField) and would lose: write it through a server that knows them, or delete it',
      ),
    );
    expect((await store.get(key)).item!.value.toString()).toBe(value.toString());
  });

  it('if admission rejects the write of an object', async () => {
    const refusing = defineAdmissionPlugin({
      name: 'Refusing',
      runs: 'by default',
      make: () => ({
        validate({ operation, resource, name: of }) {
          if (operation === 'UPDATE' && of === 'w1') throw ApiError.forbidden(resource, of, 'no');
        },
      }),
    });
    const admin = await start({ admissionPlugins: [refusing] });
    await defineWidgets(admin, 3);
    await switchTo(admin, 'v2');
    await begin(admin, 'm');
    expect(await ended(admin, 'm')).toEqual(prefixed('widgets.example.com "w1" is forbidden: no'));
  });

  it.each<[resource: string, group: string, version: string]>([
    ['bindings', '', 'v1'],
    ['componentstatuses', '', 'v1'],
    ['subjectaccessreviews', 'authorization.k8s.io', 'v1'],
  ])('if %s cannot be updated and listed', async (resource, of, version) => {
    const admin = await start();
    await begin(admin, 'm', { group: of, resource });
    expect(await ended(admin, 'm')).toEqual(
      failure(
        `resource "${of}/${version}, Resource=${resource}" does not support discovery operations: [update patch list]`,
      ),
    );
  });

  it.each<[string, object, string]>([
    ['before it ran', {}, 'resource does not exist in discovery'],
    [
      'while it ran',
      { resourceVersion: '1' },
      'migration encountered unhandled error: unable to obtain GVR from discovery',
    ],
  ])('if its resource does not exist a minute after its creation: %s', async (_, status, message) => {
    const admin = await start();
    await begin(admin, 'new', { group, resource: 'gadgets' });
    const { items } = await store.range('/registry/');
    const { key, value } = items.find((item) => item.key.endsWith('/storageversionmigrations/new'))!;
    const stored = JSON.parse(value.toString()) as KubeObject;
    const metadata = { ...stored.metadata, name: 'old', uid: 'old', creationTimestamp: '2026-01-02T03:04:05Z' };
    const spec = { resource: { group, resource: 'gizmos' } };
    const old = Buffer.from(JSON.stringify({ ...stored, metadata, spec, status }));
    await store.txn([], [{ type: 'put', key: key.replace(/new$/, 'old'), value: old }]);
    expect(await ended(admin, 'old')).toEqual(failure(message));
  });
});

it('a migration waits for a resource that is defined after it', async () => {
  const admin = await start();
  await begin(admin, 'm');
  const isRunning = ({ status }: StorageVersionMigration) => status?.conditions?.[0]?.status === 'True';
  await until(admin, migrations, 'm', (object) => object !== undefined && isRunning(object));
  await defineWidgets(admin, 1);
  expect(await ended(admin, 'm')).toEqual(success);
});

it('errors that may pass are retried', async () => {
  let failures = 3;
  const unsteady = defineAdmissionPlugin({
    name: 'Unsteady',
    runs: 'by default',
    make: () => ({
      validate({ operation, resource }) {
        if (operation === 'UPDATE' && resource.resource === 'widgets' && failures-- > 0) {
          throw failures === 1 ? ApiError.tooManyRequests('later', 1) : ApiError.unavailable('later');
        }
      },
    }),
  });
  const admin = await start({ admissionPlugins: [unsteady] });
  await defineWidgets(admin, 3);
  await switchTo(admin, 'v2');
  await begin(admin, 'm');
  expect(await ended(admin, 'm')).toEqual(success);
  expect(failures).toBeLessThanOrEqual(0);
  expect(all(await storedVersions(store))).toEqual([`${group}/v2`]);
});

it('one migration of a resource runs at a time, in the order of their creation and names', async () => {
  const admin = await start();
  await defineWidgets(admin, 20);
  await switchTo(admin, 'v2');
  const watch = await admin.watch(`${migrations}?watch=1`);
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const migration of names) await begin(admin, migration);
  const states = new Map<string, string>();
  const starts: string[] = [];
  try {
    for await (const { object } of watch) {
      const { conditions = [] } = (object as StorageVersionMigration).status ?? {};
      const types = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
      const of = object.metadata.name!;
      if (types.includes('Running') && !starts.includes(of)) starts.push(of);
      states.set(of, types.join());
      expect([...states.values()].filter((state) => state === 'Running').length).toBeLessThanOrEqual(1);
      if (names.every((migration) => states.get(migration) === 'Succeeded')) break;
    }
  } finally {
    watch.close();
  }
  expect(starts).toEqual(names);
});

it('without the API the reconciler does nothing, and the server runs', async () => {
  const admin = await start({ config: { runtimeConfig: {} } });
  expect((await admin.get(migrations)).code).toBe(404);
  expect((await admin.get('/readyz')).code).toBe(200);
});

it('a migration on the embedded store goes on after the server was killed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-migration-'));
  const server = await ServerProcess.start(directory, [
    '--storage-backend=embedded',
    `--runtime-config=${apiVersion}=true`,
  ]);
  const { url, ca, client } = server.access;
  let admin = new HttpClient({ url, ca, ...client });
  try {
    await defineWidgets(admin, 400);
    const { body: before } = await admin.get(widgets('v2'));
    await switchTo(admin, 'v2');
    await begin(admin, 'm');
    const hasBegun = ({ status }: StorageVersionMigration) => status?.resourceVersion !== undefined;
    await until(admin, migrations, 'm', (object) => object !== undefined && hasBegun(object));
    for (let kills = 0; kills < 2; kills++) {
      await server.kill();
      admin.close();
      await server.start();
      admin = new HttpClient({ url, ca, ...client });
    }
    expect(await ended(admin, 'm')).toEqual(success);
    const { body: after } = await admin.get(widgets('v2'));
    const contents = (items: unknown) =>
      (items as KubeObject[]).map(({ metadata: { resourceVersion: _version, ...metadata }, ...rest }) => ({
        ...rest,
        metadata,
      }));
    expect(contents(after.items)).toEqual(contents(before.items));
    await server.kill();
    const embedded = await EmbeddedStore.open({ directory: join(directory, 'store') });
    const stored = await storedVersions(embedded).finally(() => embedded.close());
    expect([Object.keys(stored).length, all(stored)]).toEqual([400, [`${group}/v2`]]);
  } finally {
    admin.close();
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  }
});
