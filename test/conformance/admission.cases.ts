import { as, get, keep, made, ok, patch, pod, post, put, refused, type Step, type Table } from './case.js';

const forbidden = (message: string) => refused(403, 'Forbidden', message);
/** A Pod that leaves everything to admission. */
const bare = (spec: object = {}) => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const sized = (resources: object, spec: object = {}) =>
  pod('p', { spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec } });
const labelled = (labels: object): Step =>
  patch('/api/v1/namespaces/{ns}', {
    metadata: {
      labels: Object.fromEntries(
        Object.entries(labels).map(([name, value]) => [`pod-security.{label:${name}}`, value]),
      ),
    },
  });
const claim = (storage: string) => ({
  metadata: { name: 'c' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
const limits = (...items: object[]): Step =>
  post('~/limitranges', { metadata: { name: 'l' }, spec: { limits: items } });
const quota = (hard: object, used: object, spec: object = {}): readonly Step[] => [
  post('~/resourcequotas', { metadata: { name: 'q' }, spec: { hard, ...spec } }),
  patch('~/resourcequotas/q/status', { status: { hard, used } }),
];
const used = (amounts: object): readonly [Step, ReturnType<typeof ok>] => [
  get('~/resourcequotas/q'),
  ok({ status: { used: amounts } }),
];
const secret = { metadata: { name: 's' } };
const classes = '/apis/{group:scheduling}/v1/priorityclasses';
const lasting = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });

// prettier-ignore
export const accounts: Table = {
  name: 'service accounts of Pods',
  everywhere: true,
  rows: [
    ['the default one, with its token', [], post('~/pods', bare()), made({ spec: {
      serviceAccountName: 'default', serviceAccount: 'default',
      containers: [{ volumeMounts: [{ readOnly: true, mountPath: '/var/run/secrets/{label:serviceaccount}' }] }],
      volumes: [{ projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }, { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }] } }, { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } }] } }],
    } })],
    ['one that wants no token', [post('~/serviceaccounts', { metadata: { name: 'shy' }, automountServiceAccountToken: false, imagePullSecrets: [{ name: 'x' }] })], post('~/pods', bare({ serviceAccountName: 'shy' })), made({ spec: { serviceAccount: 'shy', imagePullSecrets: [{ name: 'x' }] } }, { absent: ['spec.volumes'] })],
    ['one that is not there', [], post('~/pods', bare({ serviceAccountName: 'nobody' })), forbidden('pods "p" is forbidden: error looking up service account {ns}/nobody: serviceaccount "nobody" not found')],
    ['one that was made just before', [post('~/serviceaccounts', { metadata: { name: 'young' } })], post('~/pods', bare({ serviceAccountName: 'young' })), made()],
    ['the same Pod can be put again', [keep('p', post('~/pods', pod('p')))], put('~/pods/p', pod('p')), ok({ metadata: { generation: 1 } })],
  ],
};

// prettier-ignore
export const shapingPods: Table = {
  name: 'what Pods are given',
  rows: [
    ['priority and tolerations', [], post('~/pods', bare()), made({ spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority', tolerations: [lasting('node.{label:not-ready}'), lasting('node.{label:unreachable}')] } })],
    ['the priority of a class', [post(classes, { metadata: { name: '{ns}' }, value: 7, preemptionPolicy: 'Never' })], post('~/pods', bare({ priorityClassName: '{ns}' })), made({ spec: { priority: 7, preemptionPolicy: 'Never' } })],
    ['a class of the system', [], post('~/pods', bare({ priorityClassName: 'system-node-critical' })), made({ spec: { priority: 2000001000 } })],
    ['no class that is not there', [], post('~/pods', bare({ priorityClassName: 'none' })), forbidden('pods "p" is forbidden: no PriorityClass with name none was found')],
    ['no priority by hand', [], post('~/pods', bare({ priority: 5 })), forbidden('pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name')],
    ['no runtime class that is not there', [], post('~/pods', bare({ runtimeClassName: 'none' })), forbidden('pods "p" is forbidden: pod rejected: RuntimeClass "none" not found')],
    ['the overhead of a runtime class', [post('/apis/{group:node}/v1/runtimeclasses', { metadata: { name: '{ns}' }, handler: 'h', overhead: { podFixed: { cpu: '250m' } } })], post('~/pods', bare({ runtimeClassName: '{ns}' })), made({ spec: { overhead: { cpu: '250m' } } })],
    ['sizes, where the namespace says some', [limits({ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '500m' } })], post('~/pods', bare()), made({ metadata: { annotations: { '{label:limit-ranger}': 'LimitRanger plugin set: cpu request for container c; cpu limit for container c' } }, spec: { containers: [{ resources: { requests: { cpu: '500m' }, limits: { cpu: '1' } } }] }, status: { qosClass: 'Burstable' } })],
    ['where its node is, when it gets one', [post('/api/v1/nodes', { metadata: { name: '{ns}', labels: { 'topology.{label:zone}': 'z' } } }), post('~/pods', bare())], post('~/pods/p/binding', { target: { kind: 'Node', name: '{ns}' } }), made(undefined, { then: [[get('~/pods/p'), ok({ metadata: { labels: { 'topology.{label:zone}': 'z' } }, spec: { nodeName: '{ns}' } })]] })],
    ['all of it in a dry run too', [], post('~/pods?dryRun=All', bare()), made({ spec: { priority: 0, serviceAccountName: 'default' } })],
  ],
};

// prettier-ignore
export const limiting: Table = {
  name: 'limits of a namespace',
  rows: [
    ['a container that is too large', [limits({ type: 'Container', max: { cpu: '1' } })], post('~/pods', sized({ limits: { cpu: '2' } })), forbidden('pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2')],
    ['a claim that is too large', [limits({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } })], post('~/persistentvolumeclaims', claim('2Gi')), forbidden('persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi')],
    ['a quota counts what is made', [...quota({ secrets: '1' }, { secrets: '0' })], post('~/secrets', secret), made(undefined, { then: [used({ secrets: '1' }), [post('~/secrets', { metadata: { name: 't' } }), forbidden('secrets "t" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1')]] })],
    ['a dry run is not counted', [...quota({ secrets: '1' }, { secrets: '0' })], post('~/secrets?dryRun=All', secret), made(undefined, { then: [used({ secrets: '0' })] })],
    ['what is refused otherwise is not counted', [...quota({ secrets: '1' }, { secrets: '0' })], post('~/secrets', { metadata: { name: 'A_' } }), { code: 422, then: [used({ secrets: '0' })] }],
    ['a quota of sizes wants them said', [...quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' })], post('~/pods', bare()), forbidden('pods "p" is forbidden: failed quota: q: must specify requests.cpu for: c')],
    ['a quota of sizes', [...quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' })], post('~/pods', sized({ requests: { cpu: '2' } })), forbidden('pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1')],
    ['a quota of a scope leaves others alone', [...quota({ pods: '0' }, { pods: '0' }, { scopes: ['Terminating'] })], post('~/pods', bare()), made()],
    ['a quota that has not been counted yet has no limits', [post('~/resourcequotas', { metadata: { name: 'q' }, spec: { hard: { secrets: '0' } } })], post('~/secrets', secret), made()],
    ['nobody passes a quota', [...quota({ 'count/configmaps': '0' }, { 'count/configmaps': '0' })], as('admin', post('~/configmaps', secret)), forbidden('configmaps "s" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0')],
  ],
};

const wantsPrivilege = 'privileged (container "c" must not set securityContext.privileged=true)';
const almighty = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] };

// prettier-ignore
export const securing: Table = {
  name: 'Pod security',
  rows: [
    ['a Pod that may do too much', [labelled({ enforce: 'baseline' })], post('~/pods', bare(almighty)), forbidden(`pods "p" is forbidden: violates PodSecurity "baseline:latest": ${wantsPrivilege}`)],
    ['a Deployment of such Pods', [labelled({ enforce: 'baseline' })], post('/apis/apps/v1/namespaces/{ns}/deployments', { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: almighty } } }), made(undefined, { warnings: [expect.stringContaining('would violate PodSecurity')] })],
    ['a warning alone', [labelled({ warn: 'baseline' })], post('~/pods', bare(almighty)), made(undefined, { warnings: [expect.stringContaining('would violate PodSecurity')] })],
    ['a level that is none', [], labelled({ enforce: 'x' }), refused(422, 'Invalid', /metadata\.labels\[.*enforce\]: Invalid value: "x": must be one of privileged, baseline, restricted$/)],
    ['a namespace that becomes stricter tells of its Pods', [post('~/pods', bare(almighty))], labelled({ enforce: 'baseline' }), ok(undefined, { warnings: [expect.stringContaining('existing pods in namespace'), expect.stringContaining('p: privileged')] })],
  ],
};

// prettier-ignore
export const protecting: Table = {
  name: 'what objects are given',
  rows: [
    ['claims are held while they are used', [], post('~/persistentvolumeclaims', claim('1Gi')), made({ metadata: { finalizers: ['{label:pvc-protection}'] } })],
    ['volumes too', [], post('/api/v1/persistentvolumes', { metadata: { name: '{ns}' }, spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } }), made({ metadata: { finalizers: ['{label:pv-protection}'] } })],
    ['a claim grows only where its class says so', [post('~/persistentvolumeclaims', claim('1Gi')), patch('~/persistentvolumeclaims/c/status', { status: { phase: 'Bound' } })], patch('~/persistentvolumeclaims/c', { spec: { resources: { requests: { storage: '2Gi' } } } }), forbidden('persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize')],
    ['nodes begin as not ready', [], post('/api/v1/nodes', { metadata: { name: '{ns}' } }), made({ spec: { taints: [{ key: 'node.{label:not-ready}', effect: 'NoSchedule' }] } })],
    ['there is one default priority class', [], post(`${classes}?dryRun=All`, { metadata: { name: '{ns}' }, value: 1, globalDefault: true }), made()],
  ],
};
