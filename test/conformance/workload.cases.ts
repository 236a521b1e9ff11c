import {
  aPod,
  get,
  invalid,
  keep,
  created,
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
    ['GET answers a Scale', [aDeployment('d')], get(`${apps}/deployments/d/scale`), ok({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 }, status: { replicas: 0, selector: 'app=a' } })],
    ['PUT changes spec.replicas', [aDeployment('d')], put(`${apps}/deployments/d/scale`, scale(3)), ok({ spec: { replicas: 3 } }, { then: [[get(`${apps}/deployments/d`), ok({ spec: { replicas: 3 }, metadata: { generation: 2 } })]] })],
    ['PATCH changes spec.replicas', [aDeployment('d')], patch(`${apps}/deployments/d/scale`, { spec: { replicas: 0 } }), ok({ kind: 'Scale', spec: { replicas: 0 } })],
    ['negative replicas are rejected (422)', [aDeployment('d')], patch(`${apps}/deployments/d/scale`, { spec: { replicas: -1 } }), { ...invalid('spec.replicas'), body: { details: { kind: 'Scale', group: 'autoscaling' } } }],
    ['a Table has the columns of Scale', [aDeployment('d')], get(`${apps}/deployments/d/scale`, asTable), ok({ kind: 'Table', rows: [{ cells: ['d', 1, 0, expect.any(String)] }] })],
    ['of an absent Deployment is not found (404)', [], get(`${apps}/deployments/none/scale`), notFound('deployments.apps "none" not found')],
    ['of a kind without scale is not found (404)', [aPod('p')], get('~/pods/p/scale'), notFound('the server could not find the requested resource')],
    ['of a ReplicationController', [post('~/replicationcontrollers', { metadata: { name: 'r' }, spec: { template } })], get('~/replicationcontrollers/r/scale'), ok({ spec: { replicas: 1 }, status: { selector: 'app=a' } })],
  ],
};

// prettier-ignore
export const workloads: Table = {
  name: 'workloads',
  rows: [
    ['create ignores the status of a Deployment', [], post(`${apps}/deployments`, { ...deployment('d'), status: { replicas: 9 } }), created({ status: {} }, { absent: ['status.replicas'] })],
    ['a change of annotations of a Deployment increments generation', [aDeployment('d')], patch(`${apps}/deployments/d`, { metadata: { annotations: { a: 'b' } } }), ok({ metadata: { generation: 2 } })],
    ['a change of labels of a Deployment keeps generation', [aDeployment('d')], patch(`${apps}/deployments/d`, { metadata: { labels: { a: 'b' } } }), ok({ metadata: { generation: 1 } })],
    ['the Table row of a failed Pod has the condition Completed', [...running(), patch('~/pods/p/status', { status: { phase: 'Failed' } })], get('~/pods/p', asTable), ok({ rows: [{ conditions: [{ type: 'Completed', status: 'True', reason: 'Failed' }] }] })],
    ['the selector of a Deployment is immutable (422)', [aDeployment('d')], patch(`${apps}/deployments/d`, { spec: { selector: { matchLabels: { app: 'b' } } } }), invalid('spec.selector')],
    ['ReplicationControllers are selected by status.replicas', [post('~/replicationcontrollers', { metadata: { name: 'r' }, spec: { template } })], get('~/replicationcontrollers?fieldSelector=status.replicas=0'), names('r')],
    ['Jobs are selected by status.successful', [], get('/apis/batch/v1/namespaces/{ns}/jobs?fieldSelector=status.successful=1'), names()],
    ['Deployments are not selected by status.replicas (400)', [], get(`${apps}/deployments?fieldSelector=status.replicas=0`), refused(400, 'BadRequest')],
    ['PodDisruptionBudget update without resourceVersion is rejected (422)', [post(budgets, { metadata: { name: 'b' }, spec: {} })], put(`${budgets}/b`, { metadata: { name: 'b' }, spec: {} }), invalid('metadata.resourceVersion')],
    ['PUT creates an absent LimitRange (201)', [], put('~/limitranges/l', { metadata: { name: 'l' }, spec: { limits: [] } }), created({ kind: 'LimitRange' })],
    ['componentstatuses list the store', [], get('/api/v1/componentstatuses'), names('etcd-0')],
    ['a ComponentStatus is healthy', [], get('/api/v1/componentstatuses/etcd-0'), ok({ kind: 'ComponentStatus', conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] })],
    ['an unknown ComponentStatus is not found (404)', [], get('/api/v1/componentstatuses/scheduler'), notFound('componentstatuses "scheduler" not found')],
    ['a ComponentStatus cannot be created (405)', [], post('/api/v1/componentstatuses', { metadata: { name: 'c' } }), refused(405, 'MethodNotAllowed')],
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
    ['without a budget deletes the Pod', running(), evict('p'), created({ kind: 'Status', status: 'Success' }, { then: [gone] })],
    ['as a dry run leaves the Pod', running(), evict('p', {}, '?dryRun=All'), created({ status: 'Success' }, { then: [there] })],
    ['with dryRun in deleteOptions leaves the Pod', running(), evict('p', { deleteOptions: { dryRun: ['All'] } }), created({}, { then: [there] })],
    ['with disruptionsAllowed 1 deletes the Pod and decrements it', [...running(), ...aBudget('b', { disruptionsAllowed: 1 })], evict('p'), created({}, { then: [gone, [get(`${budgets}/b`), ok({ status: { disruptionsAllowed: 0, conditions: [{ type: 'DisruptionAllowed', status: 'False' }] } })]] })],
    ['as a dry run does not decrement disruptionsAllowed', [...running(), ...aBudget('b', { disruptionsAllowed: 1 })], evict('p', {}, '?dryRun=All'), created({}, { then: [there, [get(`${budgets}/b`), ok({ status: { disruptionsAllowed: 1 } })]] })],
    ['with disruptionsAllowed 0 is refused (429)', [...running(), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), { ...refused(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget."), body: { details: { causes: [{ reason: 'DisruptionBudget' }] } }, then: [there] }],
    ['before the budget is observed is refused with Retry-After (429)', [...running(), ...aBudget('b', { observedGeneration: 0 })], evict('p'), { ...refused(429, 'TooManyRequests'), headers: { 'retry-after': '10' } }],
    ['with two budgets is an error (500)', [...running(), ...aBudget('b', {}), ...aBudget('c', {})], evict('p'), { code: 500, body: { status: 'Failure' }, then: [there] }],
    ['of a pending Pod ignores the budget', [aPod('p', { metadata: { labels: { app: 'a' } } }), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), created({}, { then: [gone] })],
    ['of a finished Pod ignores the budget', [...running(), patch('~/pods/p/status', { status: { phase: 'Succeeded' } }), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), created({}, { then: [gone] })],
    ['of an unready Pod with enough healthy Pods ignores the budget', [...running([]), ...aBudget('b', { disruptionsAllowed: 0 })], evict('p'), created({}, { then: [gone, [get(`${budgets}/b`), ok({}, { absent: ['status.disruptedPods'] })]] })],
    ['of an unready Pod with too few healthy Pods is refused (429)', [...running([]), ...aBudget('b', { disruptionsAllowed: 0, currentHealthy: 0 })], evict('p'), refused(429, 'TooManyRequests')],
    ['with another uid in preconditions is a conflict (409)', running(), evict('p', { deleteOptions: { preconditions: { uid: 'x' } } }), { ...refused(409, 'Conflict'), then: [there] }],
    ['policy/v1beta1 is accepted', running(), evict('p', { apiVersion: 'policy/v1beta1' }), created({}, { then: [gone] })],
    ['a name other than in the URL is rejected (400)', running(), post('~/pods/p/eviction', eviction('q')), refused(400, 'BadRequest', 'name in URL does not match name in Eviction object')],
    ['of an absent Pod is not found (404)', [], evict('p'), notFound('pods "p" not found')],
    ['GET is not allowed (405)', running(), get('~/pods/p/eviction'), refused(405, 'MethodNotAllowed')],
  ],
};

// prettier-ignore
export const connecting: Table = {
  name: 'connections',
  rows: [
    ['exec in a Pod without a node is rejected (400)', [aPod('p')], get('~/pods/p/exec?command=ls'), refused(400, 'BadRequest', 'pod p does not have a host assigned')],
    ['exec by POST in a Pod without a node is rejected (400)', [aPod('p')], post('~/pods/p/exec?command=ls', {}), refused(400, 'BadRequest', 'pod p does not have a host assigned')],
    ['exec in an unknown container is rejected (400)', [aPod('p')], get('~/pods/p/exec?container=x&command=ls'), refused(400, 'BadRequest', 'container x is not valid for pod p')],
    ['the log of a Pod without a node is empty (204)', [aPod('p')], get('~/pods/p/log'), { code: 204, text: '' }],
    ['the log of a Pod whose Node is absent is not found (404)', running(), get('~/pods/p/log'), notFound('nodes "n" not found')],
    ['a proxy to a Pod without an address is rejected (400)', [aPod('p')], get('~/pods/p/proxy/x'), refused(400, 'BadRequest', 'address not allowed')],
    ['the body of a proxied request is not decoded (400)', [aPod('p')], { ...put('~/pods/p/proxy/x', 'no object'), headers: { 'content-type': 'text/plain' } }, refused(400, 'BadRequest', 'address not allowed')],
    ['portforward to an absent Pod is not found (404)', [], get('~/pods/p/portforward'), notFound('pods "p" not found')],
    ['a proxy to an absent Node is not found (404)', [], get('/api/v1/nodes/none/proxy/x'), notFound('nodes "none" not found')],
    ['POST to a log is not allowed (405)', [aPod('p')], post('~/pods/p/log', {}), refused(405, 'MethodNotAllowed')],
  ],
};
