import {
  aPod,
  get,
  invalid,
  keep,
  made,
  names,
  notFound,
  ok,
  patch,
  post,
  put,
  refused,
  type Step,
  type Table,
} from './case.js';

const apps = '/apis/apps/v1/namespaces/{ns}';
const budgets = '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets';
const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'example.com/app:1' }] },
};
const deployment = (name: string) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'a' } }, template },
});
const aDeployment = (name: string): Step => keep(name, post(`${apps}/deployments`, deployment(name)));
const scale = (replicas: number) => ({ metadata: { name: 'd' }, spec: { replicas } });

const running = (conditions: object[] = [{ type: 'Ready', status: 'True' }]): Step[] => [
  aPod('p', { metadata: { labels: { app: 'a' } }, spec: { nodeName: 'n', terminationGracePeriodSeconds: 0 } }),
  patch('~/pods/p/status', { status: { phase: 'Running', conditions } }),
];
const asTable = { accept: 'application/json;as=Table;v=v1;g={group:meta}' };

// prettier-ignore
export const scaling: Table = {
  name: 'scale',
  everywhere: true,
  rows: [
    ['is a view of its own kind', [aDeployment('d')], get(`${apps}/deployments/d/scale`), ok({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 }, status: { replicas: 0, selector: 'app=a' } })],
    ['says how many there should be', [aDeployment('d')], put(`${apps}/deployments/d/scale`, scale(3)), ok({ spec: { replicas: 3 } }, { then: [[get(`${apps}/deployments/d`), ok({ spec: { replicas: 3 }, metadata: { generation: 2 } })]] })],
    ['by a patch', [aDeployment('d')], patch(`${apps}/deployments/d/scale`, { spec: { replicas: 0 } }), ok({ kind: 'Scale', spec: { replicas: 0 } })],
    ['is not below nothing', [aDeployment('d')], patch(`${apps}/deployments/d/scale`, { spec: { replicas: -1 } }), { ...invalid('spec.replicas'), body: { details: { kind: 'Scale', group: 'autoscaling' } } }],
    ['has columns of its own', [aDeployment('d')], get(`${apps}/deployments/d/scale`, asTable), ok({ kind: 'Table', rows: [{ cells: ['d', 1, 0, expect.any(String)] }] })],
    ['of what is not there', [], get(`${apps}/deployments/none/scale`), notFound('deployments.apps "none" not found')],
    ['of a kind without', [aPod('p')], get('~/pods/p/scale'), notFound('the server could not find the requested resource')],
    ['of a replication controller', [post('~/replicationcontrollers', { metadata: { name: 'r' }, spec: { template } })], get('~/replicationcontrollers/r/scale'), ok({ spec: { replicas: 1 }, status: { selector: 'app=a' } })],
  ],
};

// prettier-ignore
export const workloads: Table = {
  name: 'workloads',
  rows: [
    ['status is not the maker\'s', [], post(`${apps}/deployments`, { ...deployment('d'), status: { replicas: 9 } }), made({ status: {} }, { absent: ['status.replicas'] })],
    ['annotations of a deployment count as changes', [aDeployment('d')], patch(`${apps}/deployments/d`, { metadata: { annotations: { a: 'b' } } }), ok({ metadata: { generation: 2 } })],
    ['labels do not', [aDeployment('d')], patch(`${apps}/deployments/d`, { metadata: { labels: { a: 'b' } } }), ok({ metadata: { generation: 1 } })],
    ['a pod that has ended says so in its row', [...running(), patch('~/pods/p/status', { status: { phase: 'Failed' } })], get('~/pods/p', asTable), ok({ rows: [{ conditions: [{ type: 'Completed', status: 'True', reason: 'Failed' }] }] })],
    ['the selector is for life', [aDeployment('d')], patch(`${apps}/deployments/d`, { spec: { selector: { matchLabels: { app: 'b' } } } }), invalid('spec.selector')],
    ['controllers are selected by their replicas', [post('~/replicationcontrollers', { metadata: { name: 'r' }, spec: { template } })], get('~/replicationcontrollers?fieldSelector=status.replicas=0'), names('r')],
    ['jobs are selected by what succeeded', [], get('/apis/batch/v1/namespaces/{ns}/jobs?fieldSelector=status.successful=1'), names()],
    ['deployments are not', [], get(`${apps}/deployments?fieldSelector=status.replicas=0`), refused(400, 'BadRequest')],
    ['budgets are written only by who has read them', [post(budgets, { metadata: { name: 'b' }, spec: {} })], put(`${budgets}/b`, { metadata: { name: 'b' }, spec: {} }), invalid('metadata.resourceVersion')],
    ['limits are made by PUT', [], put('~/limitranges/l', { metadata: { name: 'l' }, spec: { limits: [] } }), made({ kind: 'LimitRange' })],
    ['the store is the component that can be asked', [], get('/api/v1/componentstatuses'), names('etcd-0')],
    ['it says how it is', [], get('/api/v1/componentstatuses/etcd-0'), ok({ kind: 'ComponentStatus', conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] })],
    ['there is no other', [], get('/api/v1/componentstatuses/scheduler'), notFound('componentstatuses "scheduler" not found')],
    ['and none can be made', [], post('/api/v1/componentstatuses', { metadata: { name: 'c' } }), refused(405, 'MethodNotAllowed')],
  ],
};

const eviction = (name: string, more: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...more,
});
const evict = (name: string, more?: object, query = ''): Step =>
  post(`~/pods/${name}/eviction${query}`, eviction(name, more));
const aBudget = (name: string, counted: object): Step[] => [
  post(budgets, { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } }),
  patch(`${budgets}/${name}/status`, {
    status: { observedGeneration: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, ...counted },
  }),
];
const gone = [get('~/pods/p'), notFound()] as const;
const there = [get('~/pods/p'), ok({}, { absent: ['metadata.deletionTimestamp'] })] as const;

// prettier-ignore
export const evicting: Table = {
  name: 'eviction',
  everywhere: true,
  rows: [
    ['without a budget', running(), evict('p'), made({ kind: 'Status', status: 'Success' }, { then: [gone] })],
    ['as a dry run', running(), evict('p', {}, '?dryRun=All'), made({ status: 'Success' }, { then: [there] })],
    ['as a dry run of its options', running(), evict('p', { deleteOptions: { dryRun: ['All'] } }), made({}, { then: [there] })],
    ['with one to give', [...running(), ...aBudget('b', { disruptionsAllowed: 1 })], evict('p'), made({}, { then: [gone, [get(`${budgets}/b`), ok({ status: { disruptionsAllowed: 0, conditions: [{ type: 'DisruptionAllowed', status: 'False' }] } })]] })],
    ['as a dry run takes none', [...running(), ...aBudget('b', { disruptionsAllowed: 1 })], evict('p', {}, '?dryRun=All'), made({}, { then: [there, [get(`${budgets}/b`), ok({ status: { disruptionsAllowed: 1 } })]] })],
    ['with none to give', [...running(), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), { ...refused(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget."), body: { details: { causes: [{ reason: 'DisruptionBudget' }] } }, then: [there] }],
    ['before the budget is counted', [...running(), ...aBudget('b', { observedGeneration: 0 })], evict('p'), { ...refused(429, 'TooManyRequests'), headers: { 'retry-after': '10' } }],
    ['with two budgets', [...running(), ...aBudget('b', {}), ...aBudget('c', {})], evict('p'), { code: 500, body: { status: 'Failure' }, then: [there] }],
    ['of a pod that waits', [aPod('p', { metadata: { labels: { app: 'a' } } }), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), made({}, { then: [gone] })],
    ['of a pod that has ended', [...running(), patch('~/pods/p/status', { status: { phase: 'Succeeded' } }), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), made({}, { then: [gone] })],
    ['of a pod that is not ready, while enough are', [...running([]), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), made({}, { then: [gone, [get(`${budgets}/b`), ok({}, { absent: ['status.disruptedPods'] })]] })],
    ['of a pod that is not ready, while too few are', [...running([]), ...aBudget('b', { disruptionsAllowed: 0, currentHealthy: 0 })], evict('p'), refused(429, 'TooManyRequests')],
    ['of another pod than it was', running(), evict('p', { deleteOptions: { preconditions: { uid: 'x' } } }), { ...refused(409, 'Conflict'), then: [there] }],
    ['in its older version', running(), evict('p', { apiVersion: 'policy/v1beta1' }), made({}, { then: [gone] })],
    ['of another pod than the URL', running(), post('~/pods/p/eviction', eviction('q')), refused(400, 'BadRequest', 'name in URL does not match name in Eviction object')],
    ['of a pod that is not there', [], evict('p'), notFound('pods "p" not found')],
    ['cannot be read', running(), get('~/pods/p/eviction'), refused(405, 'MethodNotAllowed')],
  ],
};

// prettier-ignore
export const connecting: Table = {
  name: 'connections',
  rows: [
    ['with a pod that runs nowhere', [aPod('p')], get('~/pods/p/exec?command=ls'), refused(400, 'BadRequest', 'pod p does not have a host assigned')],
    ['by POST', [aPod('p')], post('~/pods/p/exec?command=ls', {}), refused(400, 'BadRequest', 'pod p does not have a host assigned')],
    ['with a container that is none', [aPod('p')], get('~/pods/p/exec?container=x&command=ls'), refused(400, 'BadRequest', 'container x is not valid for pod p')],
    ['the log of a pod that runs nowhere is empty', [aPod('p')], get('~/pods/p/log'), { code: 204, text: '' }],
    ['with a pod on a node', running(), get('~/pods/p/log'), refused(503, 'ServiceUnavailable')],
    ['with a pod that has no address', [aPod('p')], get('~/pods/p/proxy/x'), refused(400, 'BadRequest', 'address not allowed')],
    ['what is sent is nobody\'s business here', [aPod('p')], { ...put('~/pods/p/proxy/x', 'no object'), headers: { 'content-type': 'text/plain' } }, refused(400, 'BadRequest', 'address not allowed')],
    ['with a pod that is not there', [], get('~/pods/p/portforward'), notFound('pods "p" not found')],
    ['with a node that is not there', [], get('/api/v1/nodes/none/proxy/x'), notFound('nodes "none" not found')],
    ['a log is not written', [aPod('p')], post('~/pods/p/log', {}), refused(405, 'MethodNotAllowed')],
  ],
};
