import { Catalog } from '../../src/catalog/catalog.js';
import type { KindFacts } from '../../src/catalog/kind-facts.js';
import { decodeJson, stringifyJson } from '../../src/codec/json.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { asFields, asItems, asText, valueAt, type Fields } from '../../src/machinery/fields.js';
import { parseApiVersion } from '../../src/machinery/gvk.js';
import type { Int64 } from '../../src/machinery/int64.js';
import { isRemoved } from '../../src/registry/apis/api-lifecycle.js';
import { fieldText, int64At, int64Fields, withInt64, type FieldSteps } from '../harness/int64-fields.js';
import { everyManifest } from '../harness/manifests.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Integers that a double does not hold exactly: they are stored with all digits, or refused with the value sent. */
const aboveDouble = 2n ** 53n + 1n;
const highest = 2n ** 63n - 1n;
const lowest = -(2n ** 63n);

let server: TestServer;
beforeAll(async () => {
  const config = { runtimeConfig: { 'api/all': true }, featureGates: { DRADeviceTaints: true } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { reconciles: false, config });
});
afterAll(() => server.stop());

/** Sends and reads integers with all digits. */
async function send(method: string, path: string, body?: object, type = 'application/json') {
  const text = body === undefined ? {} : { body: stringifyJson(body) };
  const answer = await server.admin.request(method, path, { ...text, headers: { 'content-type': type } });
  return { code: answer.code, text: answer.text, body: asFields(decodeJson(answer.text)) };
}
type Sent = Awaited<ReturnType<typeof send>>;

/** Removes an object at once, with its finalizers. */
async function remove(at: string): Promise<void> {
  const { code } = await send('DELETE', at, { gracePeriodSeconds: 0 });
  if (code === 200) await send('PATCH', at, { metadata: { finalizers: null } }, 'application/merge-patch+json');
}

describe('every int64 field', () => {
  const catalog = new Catalog(namingProfile('kubernetes'));
  /** Types of webhook payloads, subresources, and versions removed before lifecycles were recorded. */
  const notServed = /^(imagepolicy\.k8s\.io|extensions|node\.k8s\.io\/v1alpha1|rbac\..*\/v1alpha1|policy\/v1 Eviction)/;
  const kinds = [...catalog.kinds().values()]
    .map((facts) => [`${facts.group}/${facts.version} ${facts.kind}`, facts] as const)
    .filter(([name, { resource, lifecycle }]) => resource && !isRemoved(lifecycle) && !notServed.test(name));

  /** Fields that no object of the test can have. */
  const unreachable: readonly RegExp[] = [
    /^metadata\./,
    // Forbidden in new Pods and in Pod templates.
    /ephemeralContainers\[0\]/,
    // Forbidden at the root of a schema, if there is a status subresource.
    /openAPIV3Schema\.(max|min)Properties$/,
    // Dropped without a feature gate that is off.
    /attributes\.\*\.ints\[0\]$/,
    // Refused for a ResourceClaim that is not allocated, and for requests with a deviceClassName.
    /status\.devices\[0\]\.conditions\[0\]/,
    /firstAvailable\[0\]\.(count|tolerations\[0\]\.tolerationSeconds)$/,
  ];
  /** Kinds of which the test has no valid object. */
  const withoutObject = ['PodCertificateRequest', 'LeaseCandidate', 'ClusterTrustBundle'];

  const manifests = everyManifest();
  const others: Readonly<Record<string, Fields>> = {
    DeviceTaintRule: { spec: { taint: { key: 'k', effect: 'None' } } },
    // The other objects are in the namespace of the manifest.
    Namespace: { metadata: { name: 'other' } },
    PodGroup: { spec: { schedulingPolicy: { gang: { minCount: 2 } } } },
    ResourcePoolStatusRequest: { spec: { driver: 'dra.example.com' } },
    'v1beta1 ResourceClaim': { spec: { devices: { requests: [{ name: 'scanner', deviceClassName: 'c' }] } } },
    StorageVersion: { metadata: { name: 'apps.deployments' } },
    StorageVersionMigration: { spec: { resource: { resource: 'pods' } } },
  };

  /** Returns an object of the kind, if the test has one in this or another version. */
  function objectOf({ group, version, kind }: KindFacts): Fields {
    const found = manifests.filter((one) => one.kind === kind && parseApiVersion(one.apiVersion)?.group === group);
    const manifest = found.find((one) => parseApiVersion(one.apiVersion)?.version === version) ?? found[0];
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return {
      metadata: { name: 'o' },
      kind,
      ...manifest,
      ...(others[kind] ?? others[`${version} ${kind}`]),
      apiVersion,
    };
  }

  /** The values as doubles. */
  const rounded = /9007199254740992|(?<!-)9223372036854775808|922337203685477[56]000/;

  type Outcome = 'stored' | 'refused' | 'not reached' | { readonly wrong: string };

  /** The error of fields that metadata of a template does not have. */
  const notAllowed = 'Forbidden: cannot be set';

  /** `refused` is an answer with an error of the field that shows the value. */
  function outcomeOf({ code, text, body }: Sent, field: string, value: Int64): Outcome {
    if (code >= 500 || rounded.test(text)) return { wrong: `${code} ${text}` };
    if (code < 300) return 'stored';
    const messages = asItems(valueAt(body, ['details', 'causes']))
      .filter((cause) => field === cause['field'] || field.startsWith(`${asText(cause['field'])}.`))
      .map(({ message }) => asText(message));
    if (messages.some((message) => message.startsWith(`Invalid value: ${value}: `) || message === notAllowed))
      return 'refused';
    const wrong = messages.find((message) => /^Invalid value: -?\d/.test(message));
    return wrong === undefined ? 'not reached' : { wrong };
  }

  beforeEach(async () => {
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    for (const name of ['default', 'reporter']) {
      await send('POST', '/api/v1/namespaces/shop/serviceaccounts', { metadata: { name } });
    }
    await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'shop-checkout' }, value: 1 });
    await send('POST', '/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'shop-sandboxed' }, handler: 'h' });
  });

  it.each(kinds)('of %s is stored exactly, or refused with the value', async (_name, facts) => {
    const { group, version, kind } = facts;
    const { plural, namespaced, hasStatus } = facts.resource!;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const collection = `${root}${namespaced ? '/namespaces/shop' : ''}/${plural}`;
    const object = objectOf(facts);
    const at = `${collection}/${asText(valueAt(object, ['metadata', 'name']))}`;

    const write = async (path: FieldSteps, value: Int64): Promise<Sent> => {
      if (path[0] === 'metadata') return send('POST', `${collection}?dryRun=All`, withInt64(object, path, value));
      await remove(at);
      if (path[0] !== 'status' || !hasStatus) return send('POST', collection, withInt64(object, path, value));
      const created = await send('POST', collection, object);
      return created.code >= 300 ? created : send('PUT', `${at}/status`, withInt64(created.body, path, value));
    };

    const wrong: string[] = [];
    const notReached: string[] = [];
    for (const path of int64Fields(catalog.kind(group, version, kind)!)) {
      const field = fieldText(path);
      const outcomes = new Set<Outcome>();
      for (const value of [aboveDouble, highest, lowest]) {
        const outcome = outcomeOf(await write(path, value), field, value);
        outcomes.add(outcome);
        if (typeof outcome === 'object') wrong.push(`${field}=${value}: ${outcome.wrong}`);
        if (outcome !== 'stored' || path[0] === 'metadata') continue;
        const read = int64At((await send('GET', at)).body, path);
        const isShortest = field === 'spec.terminationGracePeriodSeconds' && value === lowest && read === 1;
        const isDropped = /\.ints\[0\]$/.test(field) && read === undefined;
        if (read !== value && !isShortest && !isDropped) wrong.push(`${field}=${value}: is read as ${String(read)}`);
      }
      if (!outcomes.has('stored') && !outcomes.has('refused')) notReached.push(field);
    }
    await remove(at);
    expect(wrong).toEqual([]);
    const isExpected = (field: string) => withoutObject.includes(kind) || unreachable.some((one) => one.test(field));
    expect(notReached.filter((field) => !isExpected(field))).toEqual([]);
  });
});

const pods = '/api/v1/namespaces/default/pods';
const container = { name: 'c', image: 'i' };
const pod = (spec: object, more: object = {}) => ({
  metadata: { name: 'p' },
  spec: { containers: [container], ...spec },
  ...more,
});
const inContainer = (fields: object) => pod({ containers: [{ ...container, ...fields }] });
const apps = '/apis/apps/v1/namespaces/default';
const batch = '/apis/batch/v1/namespaces/default';
const template = (spec: object = {}) => ({
  metadata: { labels: { a: 'b' } },
  spec: { containers: [container], ...spec },
});
const selector = { matchLabels: { a: 'b' } };
const deployment = { metadata: { name: 'd' }, spec: { selector, template: template() } };
const job = (spec: object) => ({ template: template({ restartPolicy: 'Never' }), ...spec });
const drivers = '/apis/storage.k8s.io/v1/csidrivers';
const driver = (spec: object) => ({ metadata: { name: 'd.example.com' }, spec });
const slices = '/apis/resource.k8s.io/v1/resourceslices';
const slice = (pool: object) => ({
  metadata: { name: 's' },
  spec: { driver: 'd.example.com', nodeName: 'n', pool: { name: 'p', resourceSliceCount: 1, ...pool } },
});
const claim = (request: object) => ({
  metadata: { name: 'c' },
  spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', ...request } }] } },
});
const userRange = 'must be between 0 and 2147483647, inclusive';
const notNegative = 'must be greater than or equal to 0';
const tooLong = 'may not specify a duration larger than 2^32 seconds';
const tooShort = 'may not specify a duration less than 10 minutes';

// prettier-ignore
it.each<[kind: string, field: string, value: Int64, message: string, path: string, body: object]>([
  ['Pod', 'spec.securityContext.runAsUser', aboveDouble, userRange, pods, pod({ securityContext: { runAsUser: aboveDouble } })],
  ['Pod', 'spec.securityContext.runAsGroup', highest, userRange, pods, pod({ securityContext: { runAsGroup: highest } })],
  ['Pod', 'spec.securityContext.fsGroup', lowest, userRange, pods, pod({ securityContext: { fsGroup: lowest } })],
  ['Pod', 'spec.securityContext.supplementalGroups[1]', aboveDouble, userRange, pods, pod({ securityContext: { supplementalGroups: [1, aboveDouble] } })],
  ['Pod', 'spec.containers[0].securityContext.runAsUser', highest, userRange, pods, inContainer({ securityContext: { runAsUser: highest } })],
  ['Pod', 'spec.activeDeadlineSeconds', aboveDouble, 'must be between 1 and 2147483647, inclusive', pods, pod({ activeDeadlineSeconds: aboveDouble })],
  ['Pod', 'spec.containers[0].livenessProbe.terminationGracePeriodSeconds', lowest, 'must be greater than 0', pods, inContainer({ livenessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: lowest } })],
  ['Pod', 'spec.containers[0].lifecycle.preStop.sleep', aboveDouble, 'must be non-negative and less than terminationGracePeriodSeconds (30)', pods, inContainer({ lifecycle: { preStop: { sleep: { seconds: aboveDouble } } } })],
  ['Pod', 'spec.containers[0].lifecycle.preStop.sleep', highest, `must be non-negative and less than terminationGracePeriodSeconds (${aboveDouble})`, pods, pod({ terminationGracePeriodSeconds: aboveDouble, containers: [{ ...container, lifecycle: { preStop: { sleep: { seconds: highest } } } }] })],
  ['Pod', 'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds', aboveDouble, tooLong, pods, pod({ volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: aboveDouble } }] } }] })],
  ['CronJob.batch', 'spec.startingDeadlineSeconds', lowest, notNegative, `${batch}/cronjobs`, { metadata: { name: 'c' }, spec: { schedule: '@daily', startingDeadlineSeconds: lowest, jobTemplate: { spec: job({}) } } }],
  ['Job.batch', 'spec.activeDeadlineSeconds', lowest, notNegative, `${batch}/jobs`, { metadata: { name: 'j' }, spec: job({ activeDeadlineSeconds: lowest }) }],
  ['ControllerRevision.apps', 'revision', lowest, notNegative, `${apps}/controllerrevisions`, { metadata: { name: 'r' }, data: {}, revision: lowest }],
  ['CSIDriver.storage.k8s.io', 'spec.nodeAllocatableUpdatePeriodSeconds', lowest, 'must be greater than or equal to 10 seconds', drivers, driver({ nodeAllocatableUpdatePeriodSeconds: lowest })],
  ['CSIDriver.storage.k8s.io', 'spec.tokenRequests[0].expirationSeconds', highest, tooLong, drivers, driver({ tokenRequests: [{ audience: 'a', expirationSeconds: highest }] })],
  ['CSIDriver.storage.k8s.io', 'spec.tokenRequests[0].expirationSeconds', lowest, tooShort, drivers, driver({ tokenRequests: [{ audience: 'a', expirationSeconds: lowest }] })],
  ['ResourceSlice.resource.k8s.io', 'spec.pool.generation', lowest, 'must be greater than or equal to zero', slices, slice({ generation: lowest })],
  ['ResourceSlice.resource.k8s.io', 'spec.pool.resourceSliceCount', lowest, 'must be greater than zero', slices, slice({ resourceSliceCount: lowest })],
  ['ResourceClaim.resource.k8s.io', 'spec.devices.requests[0].exactly.count', lowest, 'must be greater than zero', '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims', claim({ allocationMode: 'ExactCount', count: lowest })],
  ['ResourceClaim.resource.k8s.io', 'spec.devices.requests[0].exactly.count', highest, "must not be specified when allocationMode is 'All'", '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims', claim({ allocationMode: 'All', count: highest })],
  ['ConfigMap', 'metadata.generation', lowest, notNegative, '/api/v1/namespaces/default/configmaps', { metadata: { name: 'c', generation: lowest } }],
  ['TokenRequest.authentication.k8s.io', 'spec.expirationSeconds', highest, tooLong, '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: { expirationSeconds: highest } }],
  ['TokenRequest.authentication.k8s.io', 'spec.expirationSeconds', lowest, tooShort, '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: { expirationSeconds: lowest } }],
])('%s with %s=%s is refused (422): %s', async (kind, field, value, message, path, body) => {
  await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const { metadata } = body as { metadata?: { name: string } };
  const text = `${kind} "${metadata?.name ?? ''}" is invalid: ${field}: Invalid value: ${value}: ${message}`;
  expect(await send('POST', path, body)).toMatchObject({ code: 422, body: { message: text } });
});

describe('a change', () => {
  const merge = 'application/merge-patch+json';
  /** Creates an object, changes it, and returns the message of the 422. */
  const refusalOf = async (collection: string, object: { metadata: { name: string } }, change: object, part = '') => {
    const at = `${collection}/${object.metadata.name}`;
    expect((await send('POST', collection, object)).code).toBe(201);
    const { code, body } = await send('PATCH', `${at}${part}`, change, merge);
    await remove(at);
    expect(code).toBe(422);
    return asText(body['message']);
  };
  beforeEach(() => send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } }));

  const status = (fields: object) => ({ status: fields });
  const condition = { type: 'T', status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  // prettier-ignore
  it.each<[what: string, collection: string, object: { metadata: { name: string } }, change: object, part: string, errors: string[]]>([
    ['of observedGeneration of a Deployment', `${apps}/deployments`, deployment, status({ observedGeneration: lowest }), '/status', [`status.observedGeneration: Invalid value: ${lowest}: ${notNegative}`]],
    ['of observedGeneration of a condition', budgets, { metadata: { name: 'b' } }, status({ conditions: [{ ...condition, observedGeneration: lowest }] }), '/status', [`status.conditions[0].observedGeneration: Invalid value: ${lowest}: must be greater than or equal to zero`]],
    ['of observedGeneration of a Pod', pods, pod({}), status({ observedGeneration: lowest }), '/status', [`status.observedGeneration: Invalid value: ${lowest}: must be a non-negative integer`]],
    ['of observedGeneration of a condition of a Pod', pods, pod({}), status({ conditions: [{ ...condition, observedGeneration: lowest }] }), '/status', [`status.conditions[0].observedGeneration: Invalid value: ${lowest}: must be a non-negative integer`]],
    ['that extends the deadline of a Pod', pods, pod({ activeDeadlineSeconds: 9 }), { spec: { activeDeadlineSeconds: highest } }, '', [`spec.activeDeadlineSeconds: Invalid value: ${highest}: must be between 1 and 2147483647, inclusive`, `spec.activeDeadlineSeconds: Invalid value: ${highest}: must be less than or equal to previous value`]],
    ['of the grace period of a Pod', pods, pod({ terminationGracePeriodSeconds: aboveDouble }), { spec: { terminationGracePeriodSeconds: highest } }, '', [`- "TerminationGracePeriodSeconds": ${aboveDouble},`, `+ "TerminationGracePeriodSeconds": ${highest},`]],
    ['that decrements metadata.generation', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'c', generation: highest } as { name: string } }, { metadata: { generation: aboveDouble } }, '', [`metadata.generation: Invalid value: ${aboveDouble}: must not be decremented`]],
  ])('%s is refused with the value', async (_what, collection, object, change, part, errors) => {
    const message = await refusalOf(collection, object, change, part);
    for (const error of errors) expect(message).toContain(error);
  });

  it('metadata.generation is incremented beyond 2^53, and stays at the largest int64', async () => {
    const generationAfterDelete = async (generation: Int64) => {
      const at = '/api/v1/namespaces/default/configmaps';
      await send('POST', at, { metadata: { name: 'g', generation, finalizers: ['example.com/f'] } });
      const { body } = await send('DELETE', `${at}/g`);
      await remove(`${at}/g`);
      return valueAt(body, ['metadata', 'generation']);
    };
    expect([await generationAfterDelete(aboveDouble), await generationAfterDelete(highest)]).toEqual([
      aboveDouble + 1n,
      highest,
    ]);
  });
});

describe('a running Pod', () => {
  const at = `${pods}/p`;
  const metadataOf = async () => asFields((await send('GET', at)).body['metadata']);
  const start = async (terminationGracePeriodSeconds: Int64) => {
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    await remove(at);
    return send('POST', pods, pod({ nodeName: 'n', terminationGracePeriodSeconds }));
  };
  const endOfTime = '9999-12-31T23:59:59Z';

  it.each([aboveDouble, highest])('with a grace period of %s s stays after DELETE', async (seconds) => {
    expect((await start(seconds)).code).toBe(201);
    expect((await send('DELETE', at)).code).toBe(200);
    expect(await metadataOf()).toMatchObject({ deletionTimestamp: endOfTime, deletionGracePeriodSeconds: seconds });
    expect((await send('DELETE', at)).code).toBe(200);
    expect((await send('DELETE', at, { gracePeriodSeconds: 7 })).code).toBe(200);
    expect(await metadataOf()).toMatchObject({ deletionGracePeriodSeconds: 7 });
    expect((await send('DELETE', at, { gracePeriodSeconds: 0 })).code).toBe(200);
    expect((await send('GET', at)).code).toBe(404);
  });

  it.each([
    ['in the body', at, { gracePeriodSeconds: aboveDouble }],
    ['in the query', `${at}?gracePeriodSeconds=${aboveDouble}`, undefined],
  ])('is deleted with the exact gracePeriodSeconds %s', async (_where, path, options) => {
    await start(30);
    expect((await send('DELETE', path, options)).code).toBe(200);
    expect(await metadataOf()).toMatchObject({ deletionTimestamp: endOfTime, deletionGracePeriodSeconds: aboveDouble });
  });

  it('with a negative grace period has one of 1 s', async () => {
    const { body } = await start(lowest);
    expect(valueAt(body, ['spec', 'terminationGracePeriodSeconds'])).toBe(1);
  });

  it('can be evicted if its budget has observed a generation beyond 2^53', async () => {
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    await send('POST', pods, { ...pod({ nodeName: 'n' }), metadata: { name: 'q', labels: { a: 'b' } } });
    await send('POST', budgets, { metadata: { name: 'q' }, spec: { selector, minAvailable: 0 } });
    const status = { observedGeneration: aboveDouble, disruptionsAllowed: 1, currentHealthy: 1 };
    await send('PATCH', `${budgets}/q/status`, { status }, 'application/merge-patch+json');
    await send('PATCH', `${pods}/q/status`, { status: { phase: 'Running' } }, 'application/merge-patch+json');
    expect((await send('POST', `${pods}/q/eviction`, { metadata: { name: 'q' } })).code).toBe(201);
  });
});

it('the Table of ControllerRevisions shows the exact revision', async () => {
  await send('POST', `${apps}/controllerrevisions`, { metadata: { name: 'r' }, data: {}, revision: aboveDouble });
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { text } = await server.admin.get(`${apps}/controllerrevisions`, { accept });
  expect(text).toContain(`"cells":["r","\u003cnone\u003e",${aboveDouble},`);
});
