import { startTestServer, type TestServer } from '../harness/servers.js';

/** Versions that are served only if enabled; each is a view of the same stored objects. */
let server: TestServer;
beforeAll(async () => {
  const config = { runtimeConfig: { 'api/all': true }, featureGates: { DRADeviceTaints: true } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
});
afterAll(() => server.stop());

async function send(method: 'POST' | 'PUT' | 'GET' | 'PATCH', path: string, body?: object) {
  const headers = method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {};
  const answer = await server.admin.request(method, path, { ...(body && { body }), ...headers });
  return answer as { code: number; body: Record<string, unknown> };
}

const group = '/apis/resource.k8s.io';
const claims = (version: string) => `${group}/${version}/namespaces/default/resourceclaims`;
const one = { allocationMode: 'ExactCount', count: 1 };

/** As kube-apiserver 1.36.3 answers them. */
it.each([
  ['apiextensions.k8s.io/v1', 'customresourcedefinitions', 'jfWCUB31mvA='],
  ['admissionregistration.k8s.io/v1', 'mutatingadmissionpolicies', 'LYmCf+UMVdg='],
  ['admissionregistration.k8s.io/v1', 'mutatingadmissionpolicybindings', '90V5FRZZ3Zg='],
  ['resource.k8s.io/v1beta2', 'devicetaintrules', 'DJ3UJ0fj8MI='],
  ['resource.k8s.io/v1alpha3', 'devicetaintrules', 'DJ3UJ0fj8MI='],
])('storageVersionHash of %s %s is that of an earlier version', async (version, name, storageVersionHash) => {
  const { body } = await send('GET', `/apis/${version}`);
  expect(body['resources']).toContainEqual(expect.objectContaining({ name, storageVersionHash }));
});

it('ResourceClaims are served in the shape of each version', async () => {
  const requests = [
    { name: 'r', deviceClassName: 'c' },
    { name: 'q', firstAvailable: [{ name: 'a', deviceClassName: 'c' }] },
  ];
  const made = await send('POST', claims('v1beta1'), { metadata: { name: 'c' }, spec: { devices: { requests } } });
  expect(made).toMatchObject({
    code: 201,
    body: {
      apiVersion: 'resource.k8s.io/v1beta1',
      spec: {
        devices: {
          requests: [
            { name: 'r', deviceClassName: 'c', ...one },
            { name: 'q', firstAvailable: [{ name: 'a', deviceClassName: 'c', ...one }] },
          ],
        },
      },
    },
  });
  for (const version of ['v1', 'v1beta2']) {
    expect((await send('GET', `${claims(version)}/c`)).body).toMatchObject({
      apiVersion: `resource.k8s.io/${version}`,
      spec: {
        devices: {
          requests: [
            { name: 'r', exactly: { deviceClassName: 'c', ...one } },
            { name: 'q', firstAvailable: [{ name: 'a', deviceClassName: 'c', ...one }] },
          ],
        },
      },
    });
  }
  const again = await send('PUT', `${claims('v1beta1')}/c`, made.body);
  expect(again).toMatchObject({ code: 200, body: { metadata: { resourceVersion: metaOf(made).resourceVersion } } });
});

it('ResourceSlices are served in the shape of each version, and keep fields that only newer ones have', async () => {
  const slices = (version: string) => `${group}/${version}/resourceslices`;
  const taints = [{ key: 'k', effect: 'NoExecute', timeAdded: '2026-01-02T03:04:05Z' }];
  const spec = { driver: 'dra.example.com', nodeName: 'n', pool: { name: 'p', resourceSliceCount: 1 } };
  const device = { attributes: { a: { int: 1 } }, taints };
  await send('POST', slices('v1'), { metadata: { name: 's' }, spec: { ...spec, devices: [{ name: 'd', ...device }] } });
  const older = await send('GET', `${slices('v1beta1')}/s`);
  expect(older.body['spec']).toMatchObject({ devices: [{ name: 'd', basic: device }] });
  const labels = { a: 'b' };
  expect((await send('PATCH', `${slices('v1beta1')}/s`, { metadata: { labels } })).code).toBe(200);
  expect((await send('GET', `${slices('v1')}/s`)).body).toMatchObject({
    metadata: { labels, generation: 1 },
    spec: { devices: [{ name: 'd', ...device }] },
  });
});

it.each([
  ['coordination.k8s.io', 'namespaces/default/leasecandidates', 'v1alpha2', 'v1beta1', candidate()],
  ['resource.k8s.io', 'devicetaintrules', 'v1alpha3', 'v1beta2', { spec: { taint: { key: 'k', effect: 'None' } } }],
])('%s: %s are the same objects in %s and %s', async (name, plural, older, newer, object) => {
  const path = (version: string) => `/apis/${name}/${version}/${plural}`;
  const made = await send('POST', path(older), { metadata: { name: 'o' }, ...object });
  expect(made.code).toBe(201);
  const { apiVersion: _old, ...before } = made.body;
  const { apiVersion, ...after } = (await send('GET', `${path(newer)}/o`)).body;
  expect(apiVersion).toBe(`${name}/${newer}`);
  expect(withoutOwners(after)).toEqual(withoutOwners(before));
});

it.each([
  ['storagemigration.k8s.io/v1beta1', 'storageversionmigrations', { resource: { resource: 'pods' } }],
  [
    'scheduling.k8s.io/v1alpha2',
    'namespaces/default/workloads',
    { podGroupTemplates: [{ name: 't', schedulingPolicy: { basic: {} } }] },
  ],
  ['scheduling.k8s.io/v1alpha2', 'namespaces/default/podgroups', { schedulingPolicy: { gang: { minCount: 2 } } }],
  ['resource.k8s.io/v1alpha3', 'resourcepoolstatusrequests', { driver: 'dra.example.com' }],
])('%s: %s', async (version, plural, spec) => {
  const made = await send('POST', `/apis/${version}/${plural}`, { metadata: { name: 'o' }, spec });
  expect(made).toMatchObject({ code: 201, body: { apiVersion: version, spec } });
});

function candidate() {
  const strategy = 'OldestEmulationVersion';
  return { spec: { leaseName: 'l', binaryVersion: '1.37.0', emulationVersion: '1.37.0', strategy } };
}

function metaOf({ body }: { body: Record<string, unknown> }) {
  return body['metadata'] as { resourceVersion: string };
}

/** Removes managedFields, which name the version of the writer. */
function withoutOwners({ metadata, ...rest }: Record<string, unknown>) {
  const { managedFields: _managed, ...meta } = metadata as Record<string, unknown>;
  return { ...rest, metadata: meta };
}

it('an annotation of autoscaling/v1 with values of wrong types is ignored', async () => {
  const autoscalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const annotation = JSON.stringify([
    { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '1', selector: { matchLabels: 'x' } } },
  ]);
  const submitted = {
    metadata: { name: 'h', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': annotation } },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
  };
  expect((await send('POST', autoscalers('v1'), submitted)).code).toBe(201);
  const { body } = await send('GET', `${autoscalers('v2')}/h`);
  expect(body).toMatchObject({ spec: { metrics: [{ resource: { name: 'cpu' } }] } });
});
