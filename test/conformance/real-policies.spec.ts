import { eventually } from '../harness/eventually.js';
import type { Answer, ClientOptions, HttpClient } from '../harness/http-client.js';
import { PublishedPolicies } from '../harness/published-policies.js';
import { rule, startRbacServer } from '../harness/rbac-users.js';
import type { TestServer } from '../harness/servers.js';

// Published policies, all in force at once: each accepts one object and refuses or changes another one, in a namespace
// of its own.

let server: TestServer;
let admin: HttpClient;
let published: PublishedPolicies;
beforeAll(async () => {
  const started = await startRbacServer();
  ({ server, admin } = started);
  const verbs = ['get', 'create', 'update', 'patch', 'delete', 'bind', 'escalate'];
  await started.users.create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'everything' },
    rules: [rule('*', '*', ...verbs)],
  });
  const apiGroup = 'rbac.authorization.k8s.io';
  await started.users.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'everything' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'everything' },
    subjects: [{ apiGroup, kind: 'Group', name: 'system:authenticated' }],
  });
  published = await PublishedPolicies.install(admin, {
    'replica-limit': { environment: 'test' },
    'image-environment': { environment: 'dev' },
  });
});
afterAll(() => server.stop());

type Headers = NonNullable<ClientOptions['headers']>;
const as = (user: string, headers: Headers = {}) =>
  server.client({ ...server.keelson.client, headers: { 'impersonate-user': user, ...headers } });
const onNode = (user: string, node: string) =>
  as(user, { 'impersonate-extra-authentication.kubernetes.io%2Fnode-name': node });

const groups: Readonly<Record<string, string>> = {
  deployments: 'apps/v1',
  statefulsets: 'apps/v1',
  cronjobs: 'batch/v1',
  ingresses: 'networking.k8s.io/v1',
  leases: 'coordination.k8s.io/v1',
  roles: 'rbac.authorization.k8s.io/v1',
  envoyfilters: 'networking.istio.io/v1',
  telemetries: 'telemetry.istio.io/v1',
  certificates: 'cert-manager.io/v1',
};
/** The path of a collection in a namespace. */
const within = (namespace: string, resource: string) =>
  `${groups[resource] === undefined ? '/api/v1' : `/apis/${groups[resource]}`}/namespaces/${namespace}/${resource}`;

interface Given {
  readonly metadata?: object;
  readonly [field: string]: unknown;
}
type Attempt = (namespace: string) => Promise<Answer>;
let count = 0;
const post = (client: HttpClient, namespace: string, resource: string, { metadata, ...rest }: Given = {}) =>
  client.post(within(namespace, resource), { metadata: { name: `o${count++}`, ...metadata }, ...rest });
const creates =
  (resource: string, given: Given, client: () => HttpClient = () => admin): Attempt =>
  (namespace) =>
    post(client(), namespace, resource, given);

const template = (image = 'i', spec: object = {}) => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image }], ...spec },
});
const deployment = (replicas: number, image = 'i', metadata: object = {}): Given => ({
  metadata,
  spec: { replicas, selector: { matchLabels: { app: 'a' } }, template: template(image) },
});
const container = (fields: object = {}) => ({ name: 'c', image: 'i:1', ...fields });
const pod = (fields: object = {}, spec: object = {}, metadata: object = {}): Given => ({
  metadata,
  spec: { containers: [container(fields)], ...spec },
});
const secure = (securityContext: object) => pod({ securityContext });
const service = (spec: object, metadata: object = {}): Given => ({
  metadata,
  spec: { ports: [{ port: 80 }], ...spec },
});
const backend = { service: { name: 's', port: { number: 80 } } };
const ingress = (host?: string): Given => ({
  spec: {
    rules: [{ ...(host !== undefined && { host }), http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
  },
});
const claim = (storage: string): Given => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
const job = (privileged: boolean): Given => {
  const spec = { restartPolicy: 'Never', containers: [container({ securityContext: { privileged } })] };
  return { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec } } } } };
};
const clusterRole = (name: string, client: () => HttpClient) => () =>
  client().post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: name.replace('/', '-') },
    rules: [{ apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: ['sign'], resourceNames: [name] }],
  });
const controller = () => as('system:serviceaccount:issuer:controller');
const slice = (name: string, nodeName: string) => () =>
  onNode('system:serviceaccount:resource-slices:plugin', 'n1').post('/apis/resource.k8s.io/v1/resourceslices', {
    metadata: { name },
    spec: { driver: 'gpu.example.com', nodeName, pool: { name: nodeName, generation: 1, resourceSliceCount: 1 } },
  });
const definition = (plural: string, channel: string) => () =>
  admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: {
      name: `${plural}.gateway.networking.k8s.io`,
      annotations: {
        'gateway.networking.k8s.io/channel': channel,
        'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/1',
      },
    },
    spec: {
      group: 'gateway.networking.k8s.io',
      scope: 'Namespaced',
      names: { plural, kind: plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
/** Creates an object, and then changes or deletes it. */
const thenPatch =
  (resource: string, given: Given, patch: object): Attempt =>
  async (namespace) => {
    const { body } = await post(admin, namespace, resource, given);
    return admin.patch(`${within(namespace, resource)}/${body.metadata.name}`, patch);
  };
const thenDelete =
  (resource: string, given: Given): Attempt =>
  async (namespace) => {
    const { body } = await post(admin, namespace, resource, given);
    return admin.delete(`${within(namespace, resource)}/${body.metadata.name}`);
  };
const istio = (spec: object, revision = 'default'): Given => ({
  metadata: { labels: { 'istio.io/rev': revision } },
  spec,
});
const certificate = (issuer: string, ...dnsNames: string[]): Given => ({
  spec: { dnsNames, issuerRef: { name: issuer } },
});

/** Policy, accepted attempt, refused attempt, its message, and its reason. */
// prettier-ignore
const validated: readonly (readonly [string, Attempt, Attempt, string, reason?: string])[] = [
  ['few-replicas', creates('deployments', deployment(5)), creates('deployments', deployment(6)), 'failed expression: object.spec.replicas <= 5'],
  ['replica-limit', creates('deployments', deployment(3)), thenPatch('deployments', deployment(1), { spec: { replicas: 4 } }), 'failed expression: object.spec.replicas <= params.maxReplicas'],
  ['own-limit', creates('deployments', deployment(2)), creates('deployments', deployment(3)), 'replicas must be at most 2'],
  ['named-demo', creates('leases', { metadata: { name: 'other' } }), creates('configmaps', { metadata: { name: 'other' } }), "failed expression: object.metadata.name.startsWith('demo')"],
  ['named-demo', creates('roles', { rules: [] }), creates('secrets', { metadata: { name: 'other' } }), "failed expression: object.metadata.name.startsWith('demo')"],
  ['named-demo', creates('configmaps', {}, () => as('kubelet', { 'impersonate-group': 'system:nodes' })), creates('configmaps', {}, () => as('ann')), "failed expression: object.metadata.name.startsWith('demo')"],
  ['image-environment', creates('deployments', deployment(1, 'dev.example.com/a')), creates('deployments', deployment(1, 'prod.example.com/a')), 'namespace image-environment allows dev images only'],
  ['image-environment', creates('deployments', deployment(1, 'prod.example.com/a', { labels: { exempt: 'true' } })), creates('deployments', deployment(1, 'example.com/a', { labels: { exempt: 'no' } })), 'namespace image-environment allows dev images only'],
  ['wrong-field', creates('statefulsets', { spec: { ...(deployment(1)['spec'] as object), serviceName: 's' } }), creates('deployments', deployment(1)), "expression 'object.replicas > 1' resulted in error: no such key: replicas"],
  ['ignored-errors', creates('configmaps', { data: { other: 'x' } }), creates('configmaps', { data: { size: 'large' } }), 'it must be small'],
  ['delegated-signers', clusterRole('example.com/a', controller), clusterRole('other.com/a', controller), 'controller may not CREATE the role other.com-a', 'Forbidden'],
  ['delegated-signers', clusterRole('other.com/b', () => as('ann')), clusterRole('other.com/c', controller), 'controller may not CREATE the role other.com-c', 'Forbidden'],
  ['break-glass', creates('deployments', deployment(9)), creates('deployments', deployment(9), () => as('ann')), 'ann may not break the glass', 'Forbidden'],
  ['kept-type', thenPatch('services', service({}), { metadata: { labels: { a: 'b' } } }), thenPatch('services', service({}), { spec: { type: 'NodePort' } }), 'the type of a Service is immutable: ClusterIP'],
  ['protected', thenDelete('configmaps', {}), thenDelete('configmaps', { metadata: { name: 'kept', annotations: { 'example.com/protected': 'yes' } } }), 'ConfigMap kept is protected from deletion', 'Forbidden'],
  ['own-node', creates('configmaps', { metadata: { labels: { node: 'n1' } } }, () => onNode('system:serviceaccount:own-node:agent', 'n1')), creates('configmaps', { metadata: { labels: { node: 'n2' } } }, () => onNode('system:serviceaccount:own-node:agent', 'n1')), 'agent of n1 may not write objects of n2'],
  ['own-node', creates('configmaps', {}, () => as('ann')), creates('configmaps', {}, () => as('system:serviceaccount:own-node:agent')), 'no node is bound to the token'],
  ['host-namespaces', creates('pods', pod({}, { hostPID: false })), creates('pods', pod({}, { hostPID: true })), 'the host namespaces may not be used'],
  ['privileged', creates('pods', secure({ privileged: false })), creates('pods', secure({ capabilities: { add: ['SYS_ADM'] } })), expect.stringMatching(/^Pod o\d+ has a privileged container$/) as string],
  ['privileged', creates('cronjobs', job(false)), creates('cronjobs', job(true)), expect.stringMatching(/^CronJob o\d+ has a privileged container$/) as string],
  ['capabilities', creates('pods', secure({ capabilities: { add: ['CHOWN'] } })), creates('pods', secure({ capabilities: { add: ['NET_ADMIN'] } })), 'Pod has a container with an insecure capability'],
  ['non-root', creates('pods', pod({}, { securityContext: { runAsNonRoot: true } })), creates('pods', pod({ securityContext: { runAsNonRoot: false } }, { securityContext: { runAsNonRoot: true } })), 'all containers must run as non-root'],
  ['non-root', creates('pods', secure({ runAsNonRoot: true, runAsUser: 1000 })), creates('pods', pod()), 'all containers must run as non-root'],
  ['seccomp', creates('pods', pod({}, { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } })), creates('pods', pod()), 'seccomp profile must be one of RuntimeDefault, Localhost'],
  ['host-ports', creates('pods', pod({ ports: [{ containerPort: 80, hostPort: 5000 }] })), creates('pods', pod({ ports: [{ containerPort: 80, hostPort: 80 }] })), 'host ports must be between 5000 and 6000'],
  ['host-path', creates('pods', pod({}, { volumes: [{ name: 'v', emptyDir: {} }] })), creates('pods', pod({}, { volumes: [{ name: 'v', emptyDir: {} }, { name: 'root', hostPath: { path: '/' } }] })), 'hostPath volumes: root', 'Forbidden'],
  ['volume-types', creates('pods', pod({}, { volumes: [{ name: 'v', configMap: { name: 'c' } }] })), creates('pods', pod({}, { volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }] })), 'this type of volume is not allowed'],
  ['escalation', creates('pods', secure({ allowPrivilegeEscalation: false })), creates('pods', secure({ runAsUser: 1 })), 'allowPrivilegeEscalation must be false'],
  ['sysctls', creates('pods', pod({}, { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }] } })), creates('pods', pod({}, { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } })), 'unsafe sysctls: kernel.msgmax'],
  ['repositories', creates('pods', pod({ image: 'registry.example.com/a:1' })), creates('pods', pod({ image: 'registry.example.com.evil.org/a:1' })), 'Pod uses an image of a repository that is not allowed'],
  ['image-tag', creates('pods', pod({ image: 'nginx:1.27' })), creates('pods', pod({ image: 'nginx' })), 'an image tag is required'],
  ['image-tag', creates('pods', pod({ image: 'a@sha256:b' })), creates('pods', pod({ image: 'nginx:latest' })), 'the tag latest is not allowed'],
  ['labels', creates('pods', pod({}, {}, { labels: { tier: 'web' } })), creates('pods', pod({}, {}, { labels: { other: 'web' } })), 'one of these labels is required: app, tier'],
  ['memory-limit', creates('pods', pod({ resources: { limits: { memory: '1024Mi' } } })), creates('pods', pod({ resources: { limits: { memory: '1025Mi' } } })), 'memory limits may not exceed 1Gi', 'RequestEntityTooLarge'],
  ['memory-limit', creates('pods', pod({ resources: { limits: { memory: '1G' } } })), creates('pods', pod({ resources: { limits: { cpu: 1 } } })), 'all containers need a memory limit'],
  ['priority', creates('pods', pod({}, { priorityClassName: 'system-node-critical' })), creates('pods', pod({}, { priorityClassName: 'system-node-critical' }), () => as('ann')), 'ann may not use system-node-critical', 'Forbidden'],
  ['node-port', creates('services', service({})), creates('services', service({ type: 'NodePort' })), 'Services of type NodePort are not allowed'],
  ['load-balancer', creates('services', service({ type: 'LoadBalancer' }, { annotations: { 'example.com/internal': 'true' } })), creates('services', service({ type: 'LoadBalancer' })), 'only internal load balancers are allowed'],
  ['external-ips', creates('services', service({ externalIPs: ['203.0.113.7'] })), creates('services', service({ externalIPs: ['203.0.113.7', '198.51.100.1'] })), 'external IPs must be of 203.0.113.0/24, not 203.0.113.7, 198.51.100.1'],
  ['ingress-host', creates('ingresses', ingress('a.apps.example.com')), creates('ingresses', ingress()), 'a host is required'],
  ['ingress-host', creates('ingresses', ingress('b.apps.example.com')), creates('ingresses', ingress('a.example.org')), 'hosts must be of apps.example.com: a.example.org'],
  ['claim-size', creates('persistentvolumeclaims', claim('10Gi')), creates('persistentvolumeclaims', claim('11Gi')), 'claims may have 10Gi, not 11Gi'],
  ['names', creates('deployments', deployment(1, 'i', { name: 'dev-web' })), creates('deployments', deployment(1, 'i', { name: 'web' })), 'Deployment web must be named dev-… or prod-…'],
  ['stable-channel', creates('envoyfilters', istio({}, 'canary')), creates('envoyfilters', istio({})), 'failed expression: !variables.isEnvoyFilter'],
  ['stable-channel', creates('telemetries', istio({ metrics: [{ providers: [] }] })), creates('telemetries', istio({ metrics: [{ reportingInterval: '1s' }] })), expect.stringMatching(/^failed expression: !variables.isTelemetry \|\|/) as string],
  ['safe-upgrades', definition('gateways', 'standard'), definition('tcproutes', 'experimental'), 'definitions of the experimental channel are not allowed'],
  ['resource-slices', slice('mine', 'n1'), slice('others', 'n2'), 'this user runs on node n1 and may not write ResourceSlices of n2'],
  ['certificate-issuers', creates('certificates', certificate('internal', 'a.com')), creates('certificates', certificate('other', 'a.com')), 'issuer other is none of internal, letsencrypt'],
  ['certificate-issuers', creates('certificates', certificate('letsencrypt', 'a.com')), creates('certificates', certificate('internal', 'a.com', '*.a.com')), 'certificates for wildcards are not allowed'],
];

const codes: Readonly<Record<string, number>> = {
  Invalid: 422,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
};
const succeeded = ({ code, text, warnings }: Answer) => {
  const ofPolicies = warnings.filter((warning) => warning.startsWith('Validation failed'));
  expect([code < 300 ? '' : text, ofPolicies]).toEqual(['', []]);
};

it.each(
  validated.map(([name, accepted, refused, message, reason = 'Invalid']) => ({
    name,
    accepted,
    refused,
    message,
    reason,
  })),
)(
  'ValidatingAdmissionPolicy $name ($#) accepts one object, and refuses another one',
  async ({ name, accepted, refused, message, reason }) => {
    succeeded(await accepted(name));
    const { code, body } = await refused(name);
    const denied = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: `;
    const text = (body.message as string).replace(/^\S+ "[^"]*" is forbidden: /, '');
    expect([text.slice(0, denied.length), text.slice(denied.length), code, body.reason]).toEqual([
      denied,
      message,
      codes[reason],
      reason,
    ]);
  },
);

it('ValidatingAdmissionPolicy noted-replicas warns, and lets the write pass', async () => {
  const warned = await creates('deployments', deployment(50))('noted-replicas');
  expect([warned.code, warned.warnings]).toEqual([
    201,
    [
      "Validation failed for ValidatingAdmissionPolicy 'noted-replicas' with binding 'noted-replicas': Deployment has 50 replicas",
    ],
  ]);
  succeeded(await creates('deployments', deployment(49))('noted-replicas'));
});

it('a binding with parameterNotFoundAction Deny refuses while its param is missing', async () => {
  const params = '/apis/rules.example.com/v1/namespaces/own-limit/replicalimits';
  const { body } = await admin.get(`${params}/own`);
  await admin.delete(`${params}/own`);
  const attempt = () => creates('deployments', deployment(1))('own-limit');
  await eventually('the param is gone', async () => (await attempt()).code !== 201);
  expect((await attempt()).body.message).toContain(
    'no params found for policy binding with `Deny` parameterNotFoundAction',
  );
  const { name, namespace, labels } = body.metadata;
  await admin.post(params, { ...body, metadata: { name, namespace, labels }, maxReplicas: 8 });
  await eventually('the param is known', async () => (await attempt()).code === 201);
  succeeded(await creates('deployments', deployment(8))('own-limit'));
});

/** Policy, attempt, and a part of the changed object. */
// prettier-ignore
const mutated: readonly (readonly [string, Attempt, object])[] = [
  ['sidecar', creates('pods', pod()), { spec: { initContainers: [{ name: 'mesh', image: 'mesh/proxy:v1', args: ['proxy', 'sidecar'], restartPolicy: 'Always', imagePullPolicy: 'IfNotPresent' }], containers: [{ name: 'c' }] } }],
  ['sidecar', creates('pods', pod({}, { initContainers: [{ name: 'mesh', image: 'own:1' }] })), { spec: { initContainers: [{ name: 'mesh', image: 'own:1' }] } }],
  ['sidecar-patch', creates('pods', pod()), { spec: { initContainers: [{ name: 'mesh', restartPolicy: 'Always', terminationMessagePath: '/dev/termination-log' }] } }],
  ['sidecar-patch', creates('pods', pod({}, { initContainers: [{ name: 'first', image: 'own:1' }] })), { spec: { initContainers: [{ name: 'first' }, { name: 'mesh', image: 'mesh/proxy:v1' }] } }],
  ['pod-security', () => admin.post('/api/v1/namespaces?dryRun=All', { metadata: { name: 'new', labels: { policy: 'pod-security' } } }), { metadata: { labels: { policy: 'pod-security', 'pod-security.kubernetes.io/enforce': 'baseline' } } }],
  ['pod-security', () => admin.post('/api/v1/namespaces?dryRun=All', { metadata: { name: 'new', labels: { policy: 'pod-security', 'pod-security.kubernetes.io/enforce': 'restricted' } } }), { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } }],
  ['always-pull', creates('pods', pod({ imagePullPolicy: 'Never' }, { containers: [container({ imagePullPolicy: 'Never', args: ['a'] }), { name: 'd', image: 'i' }] })), { spec: { containers: [{ name: 'c', imagePullPolicy: 'Always', args: ['a'] }, { name: 'd', imagePullPolicy: 'Always' }] } }],
  ['escaped-label', creates('configmaps', { data: { a: 'b' } }, () => as('ann')), { metadata: { labels: { 'example.com/writer': 'ann' } }, data: { a: 'b' } }],
  ['escaped-label', thenPatch('configmaps', { metadata: { labels: { own: 'x' } } }, { data: { a: 'c' } }), { metadata: { labels: { own: 'x', 'example.com/writer': expect.any(String) as string } }, data: { a: 'c' } }],
];
it.each(mutated.map(([name, attempt, want]) => ({ name, attempt, want })))(
  'MutatingAdmissionPolicy $name ($#) changes the object',
  async ({ name, attempt, want }) => {
    const answer = await attempt(name);
    succeeded(answer);
    expect(answer.body).toMatchObject(want);
  },
);

it('each policy has an attempt', () => {
  const tried = new Set([...validated, ...mutated].map(([name]) => name)).add('noted-replicas');
  expect([...tried].sort()).toEqual([...published.names].sort());
  expect(published.names.length).toBeGreaterThan(40);
});

it('only the policy with a wrong field has a warning of type checking', async () => {
  const warned: Record<string, readonly string[]> = {};
  for (const name of new Set([...validated.map(([name]) => name), 'noted-replicas'])) {
    const warnings = await published.typeWarnings(name);
    if (warnings.length > 0) warned[name] = warnings;
  }
  const [warning = ''] = warned['wrong-field'] ?? [];
  expect(Object.entries(warned)).toEqual([
    ['wrong-field', [expect.stringContaining('spec.validations[0].expression: ')]],
  ]);
  for (const kind of ['Deployment', 'ReplicaSet']) expect(warning).toContain(`apps/v1, Kind=${kind}: ERROR: `);
  expect(warning).toContain("undefined field 'replicas'");
});
