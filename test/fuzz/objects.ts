import fc from 'fast-check';

type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

const metadata = (labels: Record<string, string> = { color: 'red' }): Json => ({
  name: 'base',
  labels,
  annotations: { note: 'x' },
  finalizers: ['example.com/held'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u', controller: true, blockOwnerDeletion: true }],
});

const container: Json = {
  name: 'c',
  image: 'registry.example.com:5000/a/b:tag@sha256:0123',
  command: ['a'],
  args: ['b'],
  workingDir: '/',
  ports: [{ name: 'http', containerPort: 80, hostPort: 0, hostIP: '1.2.3.4', protocol: 'TCP' }],
  env: [
    { name: 'A', value: 'b' },
    { name: 'B', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['color']" } } },
    { name: 'C', valueFrom: { configMapKeyRef: { name: 'm', key: 'k', optional: true } } },
  ],
  envFrom: [{ prefix: 'P', secretRef: { name: 's' } }],
  resources: { limits: { cpu: '100m', memory: '1Gi' }, requests: { cpu: 0.1, memory: '1e3' } },
  volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'a', readOnly: true }],
  livenessProbe: { httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, periodSeconds: 5 },
  readinessProbe: { exec: { command: ['x'] }, timeoutSeconds: 1 },
  startupProbe: { tcpSocket: { port: 80 } },
  lifecycle: { preStop: { sleep: { seconds: 1 } } },
  securityContext: {
    runAsUser: 1,
    capabilities: { add: ['A'] },
    privileged: false,
    seccompProfile: { type: 'Unconfined' },
  },
  imagePullPolicy: 'Always',
};

/** One object of each kind with as many validated fields as possible. */
export const templates: Readonly<Record<string, Json>> = {
  Namespace: {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: metadata(),
    spec: { finalizers: ['x'] },
    status: { phase: 'Active' },
  },
  Node: {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: metadata(),
    spec: {
      podCIDR: '10.0.0.0/24',
      podCIDRs: ['10.0.0.0/24'],
      taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
      unschedulable: true,
    },
    status: {
      capacity: { cpu: '1', memory: '1Gi' },
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }],
      addresses: [{ type: 'InternalIP', address: '1.2.3.4' }],
      nodeInfo: { kubeletVersion: 'v1.36.0' },
      images: [{ names: ['a'], sizeBytes: 1 }],
    },
  },
  Pod: {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: metadata(),
    spec: {
      containers: [container],
      initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always' }],
      ephemeralContainers: [],
      volumes: [
        { name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        { name: 'w', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
        { name: 'x', configMap: { name: 'm', items: [{ key: 'k', path: 'p', mode: 420 }] } },
        { name: 'y', hostPath: { path: '/', type: 'Directory' } },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 1,
      activeDeadlineSeconds: 10,
      dnsPolicy: 'ClusterFirst',
      dnsConfig: { nameservers: ['1.1.1.1'], searches: ['a.b'], options: [{ name: 'n', value: '1' }] },
      nodeSelector: { a: 'b' },
      serviceAccountName: 'default',
      hostNetwork: false,
      securityContext: { fsGroup: 1, sysctls: [{ name: 'kernel.x', value: '1' }], supplementalGroups: [1] },
      imagePullSecrets: [{ name: 's' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchFields: [] } }],
        },
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } }, namespaces: ['n'] },
          ],
        },
      },
      tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 }],
      hostAliases: [{ ip: '1.2.3.4', hostnames: ['h'] }],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
          matchLabelKeys: ['color'],
        },
      ],
      readinessGates: [{ conditionType: 'example.com/g' }],
      schedulingGates: [{ name: 'example.com/s' }],
      overhead: { cpu: '1m' },
      os: { name: 'linux' },
    },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: null }],
      containerStatuses: [{ name: 'c', ready: true, restartCount: 1, state: { running: {} }, lastState: {} }],
      podIPs: [{ ip: '1.2.3.4' }],
      qosClass: 'Burstable',
    },
  },
  ConfigMap: {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: metadata(),
    data: { a: 'b' },
    binaryData: { c: 'AAAA' },
    immutable: false,
  },
  Secret: {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: metadata(),
    type: 'Opaque',
    data: { a: 'AAAA' },
    stringData: { b: 'c' },
    immutable: false,
  },
  ServiceAccount: {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    metadata: metadata(),
    secrets: [{ name: 's' }],
    imagePullSecrets: [{ name: 's' }],
    automountServiceAccountToken: true,
  },
  Service: {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: metadata(),
    spec: {
      type: 'NodePort',
      clusterIP: '10.0.0.9',
      clusterIPs: ['10.0.0.9'],
      externalIPs: ['1.2.3.4'],
      externalName: '',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      ports: [{ name: 'a', port: 80, protocol: 'TCP', targetPort: 'http', nodePort: 30080, appProtocol: 'x/y' }],
      selector: { a: 'b' },
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
      internalTrafficPolicy: 'Cluster',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30081,
    },
    status: { loadBalancer: { ingress: [{ ip: '1.2.3.4', hostname: 'h', ports: [{ port: 1, protocol: 'TCP' }] }] } },
  },
  Endpoints: {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: metadata(),
    subsets: [
      {
        addresses: [{ ip: '1.2.3.4', hostname: 'h', nodeName: 'n', targetRef: { kind: 'Pod', name: 'p' } }],
        notReadyAddresses: [{ ip: '1.2.3.5' }],
        ports: [{ name: 'a', port: 80, protocol: 'TCP' }],
      },
    ],
  },
  Event: {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: metadata(),
    involvedObject: { kind: 'Pod', namespace: 'fuzz', name: 'p', fieldPath: 'x' },
    reason: 'r',
    message: 'm',
    source: { component: 'c', host: 'h' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    eventTime: '2026-01-01T00:00:00.000000Z',
    series: { count: 1, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
    count: 1,
    type: 'Normal',
    action: 'a',
    reportingComponent: 'example.com/c',
    reportingInstance: 'i',
  },
  Lease: {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: metadata(),
    spec: {
      holderIdentity: 'h',
      leaseDurationSeconds: 1,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 1,
      strategy: 'OldestEmulationVersion',
    },
  },
};

/** All locations in a value as JSON pointers. */
export function pointers(value: Json, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [at];
  const own = at === '' ? [] : [at];
  return own.concat(
    Object.entries(value).flatMap(([field, inner]) =>
      pointers(inner, `${at}/${field.replace('~', '~0').replace('/', '~1')}`),
    ),
  );
}

const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    9007199254740993,
    '',
    'x',
    'x'.repeat(300),
    '\u0000',
    '💩',
    [],
    {},
  ),
  fc.constantFrom<Json>(
    [null],
    [[]],
    [''],
    [1],
    { '': null },
    { a: null },
    { __proto__: null },
    [{}],
    '-1',
    '1e99',
    '0x1',
  ),
  fc.constantFrom<Json>('2026-13-45T99:99:99Z', '%', '../..', '300.1.2.3', '::1', '10.0.0.0/99', 'A_b', '-a', 'true'),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

/** The object with some of its values replaced, removed or repeated. */
export function mutated(template: Json): fc.Arbitrary<Json> {
  const places = pointers(template);
  const change = fc.tuple(fc.constantFrom(...places), fc.constantFrom('set', 'set', 'remove', 'more'), strange);
  return fc.array(change, { maxLength: 3 }).map((changes) => {
    const object = structuredClone(template);
    for (const [place, how, value] of changes) alter(object, place.split('/').slice(1), how, value);
    return object;
  });
}

function alter(object: Json, steps: readonly string[], how: string, value: Json): void {
  let at: Json | undefined = object;
  for (const step of steps.slice(0, -1)) at = (at as Record<string, Json> | null)?.[unescape(step)];
  if (typeof at !== 'object' || at === null) return;
  const holder = at as Record<string, Json>;
  const last = unescape(steps.at(-1)!);
  if (how === 'remove') delete holder[last];
  else if (how === 'set') holder[last] = structuredClone(value);
  else if (Array.isArray(at)) at.push(structuredClone(at[0] ?? value), structuredClone(value));
  else
    Object.defineProperty(at, 'unknown', {
      value: structuredClone(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

const unescape = (step: string) => step.replace('~1', '/').replace('~0', '~');
