import { startTestServer, type TestServer } from '../harness/servers.js';

/** PUT without metadata.resourceVersion, which kube-apiserver takes as an unconditional update for most kinds. */
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
});
afterAll(() => server.stop());

interface Row {
  readonly collection: string;
  readonly spec: object;
  readonly status: object;
  readonly name?: string;
  /** Absent if unconditional updates are allowed. */
  readonly refusedAs?: string;
}

const schema = { type: 'object', properties: { spec: { type: 'object' } } };
const rows: Readonly<Record<string, Row>> = {
  PodDisruptionBudget: {
    collection: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
    refusedAs: 'poddisruptionbudgets.policy',
  },
  CustomResourceDefinition: {
    collection: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    name: 'widgets.example.com',
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
    status: { acceptedNames: { plural: 'widgets', kind: 'Widget' }, conditions: [], storedVersions: ['v1'] },
    refusedAs: 'customresourcedefinitions.apiextensions.k8s.io',
  },
  ValidatingAdmissionPolicy: {
    collection: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] },
        ],
      },
      validations: [{ expression: 'true' }],
    },
    status: { observedGeneration: 1 },
    refusedAs: 'validatingadmissionpolicies.admissionregistration.k8s.io',
  },
  Pod: {
    collection: '/api/v1/namespaces/default/pods',
    spec: { containers: [{ name: 'c', image: 'example.com/i' }] },
    status: { phase: 'Pending', message: 'waits' },
  },
};

describe.each(Object.entries(rows))('PUT of a %s', (_kind, { collection, spec, status, name = 'x', refusedAs }) => {
  beforeAll(async () => {
    const { code, body } = await server.admin.post(collection, { metadata: { name }, spec });
    expect([code, body.message]).toEqual([201, undefined]);
  });
  const message = `${refusedAs} "${name}" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`;

  it.each(['', '/status'])(`at "%s" without resourceVersion answers ${refusedAs ? 422 : 200}`, async (subresource) => {
    const current = (await server.admin.get(`${collection}/${name}`)).body;
    const { resourceVersion: _version, ...metadata } = current.metadata;
    const sent = { ...current, metadata, status };
    for (const version of [{}, { resourceVersion: '0' }, { resourceVersion: '' }]) {
      const object = { ...sent, metadata: { ...metadata, ...version } };
      const { code, body } = await server.admin.put(`${collection}/${name}${subresource}`, object);
      expect([code, body.message]).toEqual(refusedAs ? [422, message] : [200, undefined]);
    }
  });

  it('with the resourceVersion updates the status', async () => {
    for (let attempt = 0; ; attempt++) {
      const current = (await server.admin.get(`${collection}/${name}`)).body;
      const { code, body } = await server.admin.put(`${collection}/${name}/status`, { ...current, status });
      // Reconcilers write the status of definitions too.
      if (code === 409 && attempt < 5) continue;
      expect([code, body.message]).toEqual([200, undefined]);
      return;
    }
  });
});
