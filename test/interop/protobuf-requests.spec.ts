import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchedGoPackages } from '../../scripts/catalog/go-packages.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { protobufEncoding } from '../../src/codec/protobuf.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { parseApiVersion } from '../../src/machinery/gvk.js';
import type { ServedResource } from '../../src/registry/resource-registry.js';
import { toStorageVersion } from '../../src/registry/definition/served-version.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/**
 * The published samples, one of every kind with every field set, over HTTP: stored samples are answered as the bytes
 * that Go writes, and those bytes are decoded. The samples have invalid values, so writes are refused by validation,
 * which shows that the body was decoded.
 */
const mediaType = 'application/vnd.kubernetes.protobuf';
const how = 'run `npm run build && node dist/scripts/gen-catalog.js --fetch` on a Debian-like system';
const found = fetchedGoPackages();
const folder = found && join(found.sources, 'k8s.io/api/testdata/HEAD');
const names = folder && existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.pb')) : [];
const catalog = new Catalog(namingProfile('kubernetes'));
const encoding = protobufEncoding(mediaType, () => catalog);
const asProtobuf = { 'content-type': mediaType, accept: mediaType };

if (names.length === 0) {
  process.stderr.write(`skipped: samples over HTTP: ${how}\n`);
  describe.skip(`samples over HTTP (${how})`, () => it('are not available', () => undefined));
} else {
  describe('samples over HTTP', requests);
}

interface Sample {
  readonly file: string;
  readonly bytes: Buffer;
  readonly object: KubeObject;
  readonly served: ServedResource;
  readonly collection: string;
}

function requests(): void {
  let server: TestServer;
  let samples: Sample[];

  beforeAll(async () => {
    const config = { runtimeConfig: { 'api/all': true } };
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config, reconciles: false });
    samples = names.flatMap((file) => sampleOf(server, file) ?? []);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } };
    expect((await server.admin.post('/api/v1/namespaces', namespace)).code).toBe(201);
  });
  afterAll(() => server.stop());

  it('exist for nearly all served kinds', () => {
    const served = server.keelson.components.registry.storedResources().filter(({ struct }) => struct);
    const without = served.filter(
      ({ definition, computeList: made }) =>
        !made && !samples.some((sample) => sample.served.definition === definition),
    );
    // API groups whose types are published in packages without samples.
    const groups = new Set(without.map(({ definition }) => definition.group));
    expect([...groups].sort()).toEqual(['apiextensions.k8s.io', 'apiregistration.k8s.io']);
    expect(samples.length).toBeGreaterThan(80);
  });

  it('are answered as Go encodes them', async () => {
    const { store } = server.keelson.components;
    const different: string[] = [];
    for (const { file, bytes, object, served, collection } of samples) {
      const { name = '', namespace = '' } = object.metadata;
      const key = served.store.keyOf(namespace, name);
      const value = storedBytes(toStorageVersion(served.definition, structuredClone(object)));
      const { revision } = await store.txn([], [{ type: 'put', key, value }]);
      const answer = await server.admin.get(`${collection}/${name}`, { accept: mediaType });
      expect([file, answer.code, answer.headers['content-type']]).toEqual([file, 200, mediaType]);
      // The sample with its resourceVersion; another test shows that the rest is byte for byte Go's.
      const want = encoding.encode({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
      const own = encoding.decode(answer.bytes).value as unknown as KubeObject;
      const again = { ...own, metadata: { ...own.metadata, resourceVersion: object.metadata.resourceVersion! } };
      if (!answer.bytes.equals(want) || !encoding.encode(again).equals(bytes)) different.push(file);
      await store.txn([], [{ type: 'delete', key }]);
    }
    // Stored as v2, which has other metrics and the conditions outside of the sample's annotations.
    expect(different).toEqual(['autoscaling.v1.HorizontalPodAutoscaler.pb']);
  });

  it('are decoded from requests', async () => {
    const outcomes = new Map<number, number>();
    const refusedOtherwise: string[] = [];
    for (const { file, object, served, collection } of samples) {
      if (!served.definition.verbs.includes('create')) continue;
      const { resourceVersion: _version, uid: _uid, namespace: _namespace, ...kept } = object.metadata;
      const metadata = { ...kept, name: 'a', ...(served.definition.namespaced && { namespace: 'ns' }) };
      const body = encoding.encode({ ...object, metadata });
      const path = collection.replace('/namespaces/namespaceValue/', '/namespaces/ns/');
      const answer = await server.admin.post(`${path}?dryRun=All`, body, asProtobuf);
      expect([file, answer.headers['content-type']]).toEqual([file, mediaType]);
      const told = encoding.decode(answer.bytes).value as { kind: string };
      // The bytes are accepted: the object is created, or its values are refused.
      if (answer.code < 300) expect([file, told.kind]).toEqual([file, object.kind]);
      else if (answer.code !== 422) refusedOtherwise.push(`${file}: ${answer.code}`);
      outcomes.set(answer.code, (outcomes.get(answer.code) ?? 0) + 1);
    }
    // Its service account is checked before anything else.
    expect(refusedOtherwise).toEqual(['core.v1.Pod.pb: 403']);
    expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(75);
  });
}

/** With all fields, including those that the server never stores. */
function storedBytes({ kind, apiVersion, metadata, ...rest }: KubeObject): Buffer {
  const { resourceVersion: _version, ...kept } = metadata;
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata: kept, ...rest }));
}

/** Undefined if the kind is not served, or occurs only inside others. */
function sampleOf({ keelson }: TestServer, file: string): Sample | undefined {
  const bytes = readFileSync(join(folder!, file));
  const object = JSON.parse(readFileSync(join(folder!, file.replace(/pb$/, 'json')), 'utf8')) as KubeObject;
  const { group = '', version = '' } = parseApiVersion(object.apiVersion ?? '') ?? {};
  const served = keelson.components.registry
    .storedResources()
    .find(({ definition: it }) => it.group === group && it.version === version && it.kind === object.kind);
  // Virtual resources are computed for each read.
  if (!served || served.computeList || !object.metadata) return undefined;
  const { namespaced, plural } = served.definition;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = `${root}${namespaced ? `/namespaces/${object.metadata.namespace}` : ''}/${plural}`;
  return { file, bytes, object, served, collection };
}
