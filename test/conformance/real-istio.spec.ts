import { patched } from '../harness/admission-webhook.js';
import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { InstalledWebhooks } from '../harness/installed-webhooks.js';

// The webhook configurations of Istio: each Pod gets the sidecar of one revision, which labels of its namespace and its
// own choose.

const core = '/api/v1/namespaces';
const services = '/apis/networking.istio.io/v1/namespaces/plain/virtualservices';
const [canary, ofTag] = ['/inject', '/inject/cluster/default'];
const podSpec = { containers: [{ name: 'app', image: 'i' }] };
const inject = (value: string) => ({ 'sidecar.istio.io/inject': value });
const revision = (value: string) => ({ 'istio.io/rev': value });
const canaryLabels = { metadata: { labels: revision('canary') } };

const namespaces = {
  plain: {},
  revised: revision('canary'),
  enabled: { 'istio-injection': 'enabled' },
  disabled: { 'istio-injection': 'disabled' },
  both: { 'istio-injection': 'enabled', ...revision('canary') },
} as const;

let installed: InstalledWebhooks;
let admin: HttpClient;
beforeAll(async () => {
  installed = await InstalledWebhooks.start('istio', 'https-webhook');
  ({ admin } = installed);
  for (const [name, labels] of Object.entries(namespaces)) await installed.namespace(name, labels);
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const group = 'networking.istio.io';
  const definition = customResourceDefinition({ group, plural: 'virtualservices', kind: 'VirtualService', schema });
  const [version] = definition.spec.versions;
  const versions = ['v1', 'v1beta1'].map((name) => ({
    ...version,
    name,
    storage: name === 'v1',
    subresources: { status: {} },
  }));
  await installed.created(definitions, { ...definition, spec: { ...definition.spec, versions } });
  await eventually('VirtualServices are served', async () => (await admin.get(services)).code === 200);
  await installed.announce();
  await installed.configure();
});
afterAll(() => installed.stop());

let count = 0;
/** Creates a Pod as a dry run. */
const createPod = (namespace: string, labels: object) =>
  admin.post(`${core}/${namespace}/pods?dryRun=All`, { metadata: { name: `p${count++}`, labels }, spec: podSpec });

it('the configurations are stored as submitted, with defaults', () => installed.expectStored());

it.each<[keyof typeof namespaces, string, object, string | undefined]>([
  ['plain', 'no label', {}, undefined],
  ['plain', 'inject: true', inject('true'), ofTag],
  ['plain', 'inject: false', inject('false'), undefined],
  ['plain', 'the revision', revision('canary'), canary],
  ['plain', 'the revision and inject: true', { ...revision('canary'), ...inject('true') }, canary],
  ['plain', 'the revision and inject: false', { ...revision('canary'), ...inject('false') }, undefined],
  ['plain', 'another revision', revision('stable'), undefined],
  ['revised', 'no label', {}, canary],
  ['revised', 'inject: true', inject('true'), canary],
  ['revised', 'inject: false', inject('false'), undefined],
  ['revised', 'another revision, which the one of the namespace overrides,', revision('stable'), canary],
  ['enabled', 'no label', {}, ofTag],
  ['enabled', 'inject: false', inject('false'), undefined],
  ['enabled', 'the revision', revision('canary'), ofTag],
  ['both', 'no label', {}, ofTag],
  ['disabled', 'no label', {}, undefined],
  ['disabled', 'inject: true', inject('true'), undefined],
  ['disabled', 'the revision', revision('canary'), undefined],
])('in a namespace of kind %s, a Pod with %s gets at most one sidecar', async (namespace, _title, labels, want) => {
  const { answer, calls } = await installed.callsOf(() => createPod(namespace, labels));
  expect(answer.code).toBe(201);
  expect(calls.map((call) => call.split(' ', 2).join(' '))).toEqual(want === undefined ? [] : [`${want} CREATE`]);
});

it('labels that a namespace gets later are in force with the next Pod', async () => {
  await installed.namespace('late');
  expect((await installed.callsOf(() => createPod('late', {}))).calls).toEqual([]);
  await admin.patch(`${core}/late`, { metadata: { labels: revision('canary') } });
  expect((await installed.callsOf(() => createPod('late', {}))).calls).toHaveLength(1);
});

it('the sidecar is stored with defaults, and updates of the Pod are not sent', async () => {
  const proxy = { name: 'istio-proxy', image: 'proxyv2', ports: [{ containerPort: 15090, name: 'http-envoy-prom' }] };
  installed.webhooks.on(canary, () =>
    patched([
      {
        op: 'add',
        path: '/spec/initContainers',
        value: [{ name: 'istio-init', image: 'proxyv2', args: ['iptables'] }],
      },
      { op: 'add', path: '/spec/containers/1', value: proxy },
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: '/metadata/annotations/sidecar.istio.io~1status', value: '{"revision":"canary"}' },
      { op: 'add', path: '/spec/volumes/-', value: { name: 'istio-envoy', emptyDir: { medium: 'Memory' } } },
      { op: 'replace', path: '/spec/securityContext', value: { fsGroup: 1337 } },
    ]),
  );
  const pod = { metadata: { name: 'injected' }, spec: podSpec };
  const { answer } = await installed.callsOf(() => admin.post(`${core}/revised/pods`, pod));
  expect([answer.code, answer.body]).toMatchObject([
    201,
    {
      metadata: { annotations: { 'sidecar.istio.io/status': '{"revision":"canary"}' } },
      spec: {
        initContainers: [{ name: 'istio-init', imagePullPolicy: 'Always' }],
        containers: [{ name: 'app' }, { name: 'istio-proxy', ports: [{ protocol: 'TCP' }] }],
        securityContext: { fsGroup: 1337 },
      },
    },
  ]);
  const { volumes } = answer.body.spec as { readonly volumes: readonly { readonly name: string }[] };
  expect(volumes.map(({ name }) => name.replace(/^(kube-api-access)-\w{5}$/, '$1'))).toEqual([
    'kube-api-access',
    'istio-envoy',
  ]);
  const { calls } = await installed.callsOf(() =>
    admin.patch(`${core}/revised/pods/injected`, { metadata: { labels: { changed: 'yes' } } }),
  );
  expect(calls).toEqual([]);
  installed.webhooks.on(canary, () => ({ allowed: true }));
});

it.each<[string, () => Promise<Answer>, string[]]>([
  [
    'a resource of the revision',
    () => admin.post(services, { metadata: { name: 'a', labels: revision('canary') } }),
    ['/validate CREATE virtualservices plain/a'],
  ],
  [
    'another version of it',
    () => admin.post(services.replace('/v1/', '/v1beta1/'), { metadata: { name: 'b', labels: revision('canary') } }),
    ['/validate CREATE virtualservices plain/b'],
  ],
  [
    'an update that removes the label of the revision',
    () => admin.patch(`${services}/b`, { metadata: { labels: null } }),
    ['/validate UPDATE virtualservices plain/b'],
  ],
  ['a resource without the label', () => admin.post(services, { metadata: { name: 'c' } }), []],
  [
    'a resource of another revision',
    () => admin.post(services, { metadata: { name: 'd', labels: revision('stable') } }),
    [],
  ],
  ['the status', () => admin.patch(`${services}/a/status`, { status: { a: 1 } }), []],
  ['a deletion', () => admin.delete(`${services}/a`), []],
])('the validation of %s is that of its revision', async (_title, write, want) => {
  const { answer, calls } = await installed.callsOf(write);
  expect([answer.code < 300 ? '' : answer.text, calls]).toEqual(['', want]);
});

it('a resource that is not valid is denied', async () => {
  const message = 'configuration is invalid: at least one HTTP, TCP or TLS route is required';
  installed.webhooks.on('/validate', () => ({ allowed: false, status: { message } }));
  const { code, body } = await admin.post(services, { metadata: { name: 'e', labels: revision('canary') } });
  expect([code, body.message]).toEqual([
    400,
    `admission webhook "rev.validation.istio.io" denied the request: ${message}`,
  ]);
  installed.webhooks.on('/validate', () => ({ allowed: true }));
});

it('without istiod, resources are refused only after it has set failurePolicy to Fail', async () => {
  await installed.webhooks.stop();
  const create = (name: string) =>
    admin.post(services, { ...canaryLabels, metadata: { ...canaryLabels.metadata, name } });
  expect((await create('ignored')).code).toBe(201);
  const refused = await createPod('revised', {});
  expect([refused.code, refused.body.message]).toEqual([
    500,
    expect.stringContaining('failed calling webhook "rev.namespace.sidecar-injector.istio.io"'),
  ]);
  expect((await createPod('plain', {})).code).toBe(201);
  const path = `${installed.pathOf(installed.configurations[2]!)}/istio-validator-canary-istio-system`;
  const patch = [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Fail' }];
  expect((await admin.patch(path, patch, 'json')).code).toBe(200);
  await eventually('failurePolicy is in force', async () => (await create('x')).code === 500);
});
