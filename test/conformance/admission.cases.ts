import { as, get, keep, created, ok, patch, pod, post, put, refused, type Step, type Table } from './case.js';

const forbidden = (message: string) => refused(403, 'Forbidden', message);
/** A Pod without the fields that admission sets. */
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
  name: 'ServiceAccount admission',
  everywhere: true,
  rows: [
    ['a Pod gets the default service account and a token volume', [], post('~/pods', bare()), created({ spec: {
      serviceAccountName: 'default', serviceAccount: 'default',
      containers: [{ volumeMounts: [{ readOnly: true, mountPath: '/var/run/secrets/{label:serviceaccount}' }] }],
      volumes: [{ projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }, { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }] } }, { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } }] } }],
    } })],
    ['automountServiceAccountToken: false gives no token volume', [post('~/serviceaccounts', { metadata: { name: 'shy' }, automountServiceAccountToken: false, imagePullSecrets: [{ name: 'x' }] })], post('~/pods', bare({ serviceAccountName: 'shy' })), created({ spec: { serviceAccount: 'shy', imagePullSecrets: [{ name: 'x' }] } }, { absent: ['spec.volumes'] })],
    ['a Pod with an unknown service account is rejected (403)', [], post('~/pods', bare({ serviceAccountName: 'nobody' })), forbidden('pods "p" is forbidden: error looking up service account {ns}/nobody: serviceaccount "nobody" not found')],
    ['a Pod may use a service account created just before', [post('~/serviceaccounts', { metadata: { name: 'young' } })], post('~/pods', bare({ serviceAccountName: 'young' })), created()],
    ['a Pod can be updated with the same spec', [keep('p', post('~/pods', pod('p')))], put('~/pods/p', pod('p')), ok({ metadata: { generation: 1 } })],
  ],
};

// prettier-ignore
export const shapingPods: Table = {
  name: 'defaults that admission sets on Pods',
  rows: [
    ['priority, preemptionPolicy and tolerations', [], post('~/pods', bare()), created({ spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority', tolerations: [lasting('node.{label:not-ready}'), lasting('node.{label:unreachable}')] } })],
    ['priority and preemptionPolicy of a PriorityClass', [post(classes, { metadata: { name: '{ns}' }, value: 7, preemptionPolicy: 'Never' })], post('~/pods', bare({ priorityClassName: '{ns}' })), created({ spec: { priority: 7, preemptionPolicy: 'Never' } })],
    ['priority of a system PriorityClass', [], post('~/pods', bare({ priorityClassName: 'system-node-critical' })), created({ spec: { priority: 2000001000 } })],
    ['an unknown PriorityClass is rejected (403)', [], post('~/pods', bare({ priorityClassName: 'none' })), forbidden('pods "p" is forbidden: no PriorityClass with name none was found')],
    ['spec.priority without a PriorityClass is rejected (403)', [], post('~/pods', bare({ priority: 5 })), forbidden('pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name')],
    ['an unknown RuntimeClass is rejected (403)', [], post('~/pods', bare({ runtimeClassName: 'none' })), forbidden('pods "p" is forbidden: pod rejected: RuntimeClass "none" not found')],
    ['overhead of a RuntimeClass', [post('/apis/{group:node}/v1/runtimeclasses', { metadata: { name: '{ns}' }, handler: 'h', overhead: { podFixed: { cpu: '250m' } } })], post('~/pods', bare({ runtimeClassName: '{ns}' })), created({ spec: { overhead: { cpu: '250m' } } })],
    ['requests and limits of a LimitRange', [limits({ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '500m' } })], post('~/pods', bare()), created({ metadata: { annotations: { '{label:limit-ranger}': 'LimitRanger plugin set: cpu request for container c; cpu limit for container c' } }, spec: { containers: [{ resources: { requests: { cpu: '500m' }, limits: { cpu: '1' } } }] }, status: { qosClass: 'Burstable' } })],
    ['topology labels of the node, on binding', [post('/api/v1/nodes', { metadata: { name: '{ns}', labels: { 'topology.{label:zone}': 'z' } } }), post('~/pods', bare())], post('~/pods/p/binding', { target: { kind: 'Node', name: '{ns}' } }), created(undefined, { then: [[get('~/pods/p'), ok({ metadata: { labels: { 'topology.{label:zone}': 'z' } }, spec: { nodeName: '{ns}' } })]] })],
    ['a dry run sets the defaults too', [], post('~/pods?dryRun=All', bare()), created({ spec: { priority: 0, serviceAccountName: 'default' } })],
  ],
};

// prettier-ignore
export const limiting: Table = {
  name: 'LimitRange and ResourceQuota',
  rows: [
    ['a container above the maximum of a LimitRange is rejected (403)', [limits({ type: 'Container', max: { cpu: '1' } })], post('~/pods', sized({ limits: { cpu: '2' } })), forbidden('pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2')],
    ['a PersistentVolumeClaim above the maximum of a LimitRange is rejected (403)', [limits({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } })], post('~/persistentvolumeclaims', claim('2Gi')), forbidden('persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi')],
    ['a ResourceQuota counts created objects and rejects more (403)', [...quota({ secrets: '1' }, { secrets: '0' })], post('~/secrets', secret), created(undefined, { then: [used({ secrets: '1' }), [post('~/secrets', { metadata: { name: 't' } }), forbidden('secrets "t" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1')]] })],
    ['a ResourceQuota does not count dry runs', [...quota({ secrets: '1' }, { secrets: '0' })], post('~/secrets?dryRun=All', secret), created(undefined, { then: [used({ secrets: '0' })] })],
    ['a ResourceQuota does not count objects that validation rejects', [...quota({ secrets: '1' }, { secrets: '0' })], post('~/secrets', { metadata: { name: 'A_' } }), { code: 422, then: [used({ secrets: '0' })] }],
    ['a quota of requests.cpu rejects Pods without requests (403)', [...quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' })], post('~/pods', bare()), forbidden('pods "p" is forbidden: failed quota: q: must specify requests.cpu for: c')],
    ['a quota of requests.cpu rejects Pods above it (403)', [...quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' })], post('~/pods', sized({ requests: { cpu: '2' } })), forbidden('pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1')],
    ['a scoped quota ignores other objects', [...quota({ pods: '0' }, { pods: '0' }, { scopes: ['Terminating'] })], post('~/pods', bare()), created()],
    ['a quota without status.hard does not limit', [post('~/resourcequotas', { metadata: { name: 'q' }, spec: { hard: { secrets: '0' } } })], post('~/secrets', secret), created()],
    ['quotas apply to cluster administrators (403)', [...quota({ 'count/configmaps': '0' }, { 'count/configmaps': '0' })], as('admin', post('~/configmaps', secret)), forbidden('configmaps "s" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0')],
  ],
};

const wantsPrivilege = 'privileged (container "c" must not set securityContext.privileged=true)';
const almighty = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] };

// prettier-ignore
export const securing: Table = {
  name: 'PodSecurity',
  rows: [
    ['a privileged Pod is rejected in enforce: baseline (403)', [labelled({ enforce: 'baseline' })], post('~/pods', bare(almighty)), forbidden(`pods "p" is forbidden: violates PodSecurity "baseline:latest": ${wantsPrivilege}`)],
    ['a Deployment of privileged Pods gets a warning', [labelled({ enforce: 'baseline' })], post('/apis/apps/v1/namespaces/{ns}/deployments', { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: almighty } } }), created(undefined, { warnings: [expect.stringContaining('would violate PodSecurity')] })],
    ['warn: baseline only warns', [labelled({ warn: 'baseline' })], post('~/pods', bare(almighty)), created(undefined, { warnings: [expect.stringContaining('would violate PodSecurity')] })],
    ['an unknown level is rejected (422)', [], labelled({ enforce: 'x' }), refused(422, 'Invalid', /metadata\.labels\[.*enforce\]: Invalid value: "x": must be one of privileged, baseline, restricted$/)],
    ['stricter labels of a namespace warn of existing Pods', [post('~/pods', bare(almighty))], labelled({ enforce: 'baseline' }), ok(undefined, { warnings: [expect.stringContaining('existing pods in namespace'), expect.stringContaining('p: privileged')] })],
  ],
};

// prettier-ignore
export const protecting: Table = {
  name: 'defaults that admission sets on other objects',
  rows: [
    ['a PersistentVolumeClaim gets its protection finalizer', [], post('~/persistentvolumeclaims', claim('1Gi')), created({ metadata: { finalizers: ['{label:pvc-protection}'] } })],
    ['a PersistentVolume gets its protection finalizer', [], post('/api/v1/persistentvolumes', { metadata: { name: '{ns}' }, spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } }), created({ metadata: { finalizers: ['{label:pv-protection}'] } })],
    ['a claim of a class without allowVolumeExpansion cannot grow (403)', [post('~/persistentvolumeclaims', claim('1Gi')), patch('~/persistentvolumeclaims/c/status', { status: { phase: 'Bound' } })], patch('~/persistentvolumeclaims/c', { spec: { resources: { requests: { storage: '2Gi' } } } }), forbidden('persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize')],
    ['a Node gets the not-ready taint', [], post('/api/v1/nodes', { metadata: { name: '{ns}' } }), created({ spec: { taints: [{ key: 'node.{label:not-ready}', effect: 'NoSchedule' }] } })],
    ['a second default PriorityClass is accepted', [], post(`${classes}?dryRun=All`, { metadata: { name: '{ns}' }, value: 1, globalDefault: true }), created()],
  ],
};
