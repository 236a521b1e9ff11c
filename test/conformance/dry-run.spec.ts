import type { JsonObject, JsonValue } from '../../src/machinery/kube-object.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import {
  aConfigMap,
  aPod,
  configMap,
  del,
  makeWorld,
  patch,
  pod,
  post,
  put,
  Scene,
  type Step,
  type World,
} from './case.js';

const apps = '/apis/apps/v1/namespaces/{ns}';
const deployment = (more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...more,
  },
});
const aDeployment = post(`${apps}/deployments`, deployment());
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 3 } };
const service = (spec: object) => ({ metadata: { name: 's' }, spec: { ports: [{ port: 80 }], ...spec } });
const aService = post('~/services', service({}));
const signing = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const budgets = '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets';
const held = aConfigMap('a', { metadata: { finalizers: ['example.com/f'] } });
const scheduled = aPod('p', { spec: { nodeName: 'n' } });
const apply = (path: string, body: object) =>
  patch(`${path}?fieldManager=m&force=true`, body, 'application/apply-patch+yaml');

/** `quiet`: the real request changes nothing either. */
type DryRow = readonly [name: string, given: readonly Step[], when: Step, quiet?: 'quiet'];

// prettier-ignore
const rows: readonly DryRow[] = [
  ['create', [], post('~/configmaps', configMap('a'))],
  ['create with a made name', [], post('~/configmaps', { metadata: { generateName: 'a-' } })],
  ['create of a namespace', [], post('/api/v1/namespaces', { metadata: { name: 'dry-{ns}' } })],
  ['create of a pod', [], post('~/pods', pod('p'))],
  ['create of a service', [], post('~/services', service({}))],
  ['create of a service with an address', [], post('~/services', service({ clusterIP: '10.0.0.77' }))],
  ['create of a service with a node port', [], post('~/services', service({ type: 'NodePort' }))],
  ['create of a balanced service', [], post('~/services', service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }))],
  ['create of a service that exists', [aService], post('~/services', service({})), 'quiet'],
  ['create of a claim', [], post('~/persistentvolumeclaims', { metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } })],
  ['create of a token secret', [], post('~/secrets', { metadata: { name: 's' }, type: 'Opaque', stringData: { a: 'b' } })],
  ['create of an address', [], post('/apis/networking.k8s.io/v1/ipaddresses', { metadata: { name: '192.168.7.7' }, spec: { parentRef: { resource: 'services', namespace: '{ns}', name: 's' } } })],
  ['update', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { x: '1' } }))],
  ['update of nothing', [aConfigMap('a')], put('~/configmaps/a', configMap('a')), 'quiet'],
  ['update that makes', [], put('/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l', { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } })],
  ['update of a service that takes a node port', [aService], patch('~/services/s', { spec: { type: 'NodePort' } })],
  ['update of a service that gives its address back', [aService], patch('~/services/s', { spec: { type: 'ExternalName', externalName: 'example.com', clusterIP: '' } })],
  ['merge patch', [aConfigMap('a')], patch('~/configmaps/a', { data: { x: '1' } })],
  ['strategic patch', [aDeployment], patch(`${apps}/deployments/d`, { spec: { replicas: 2 } }, 'strategic-merge')],
  ['JSON patch', [aConfigMap('a')], patch('~/configmaps/a', [{ op: 'add', path: '/data', value: { x: '1' } }], 'json')],
  ['apply', [aConfigMap('a')], apply('~/configmaps/a', configMap('a', { data: { x: '1' } }))],
  ['apply that makes', [], apply('~/services/s', { apiVersion: 'v1', kind: 'Service', ...service({}) })],
  ['the end of what is held', [held, del('~/configmaps/a')], patch('~/configmaps/a', { metadata: { finalizers: null } })],
  ['put of a status', [aPod('p')], put('~/pods/p/status', { metadata: { name: 'p' }, status: { phase: 'Running' } })],
  ['patch of a status', [aDeployment], patch(`${apps}/deployments/d/status`, { status: { replicas: 1 } })],
  ['strategic patch of a status', [aPod('p')], patch('~/pods/p/status', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 'strategic-merge')],
  ['apply of a status', [aDeployment], apply(`${apps}/deployments/d/status`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, status: { replicas: 1 } })],
  ['put of a scale', [aDeployment], put(`${apps}/deployments/d/scale`, scale)],
  ['patch of a scale', [aDeployment], patch(`${apps}/deployments/d/scale`, { spec: { replicas: 3 } })],
  ['apply of a scale', [aDeployment], apply(`${apps}/deployments/d/scale`, scale)],
  ['patch of debugging containers', [scheduled], patch('~/pods/p/ephemeralcontainers', { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } })],
  ['a new size', [post('/api/v1/nodes', { metadata: { name: '{ns}' }, status: { allocatable: { cpu: '4', memory: '1Gi' } } }), aPod('p', { spec: { nodeName: '{ns}', containers: [{ name: 'main', image: 'example.com/app:1', resources: { requests: { cpu: '2' } } }] } })], patch('~/pods/p/resize', { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } }, 'strategic-merge')],
  ['binding', [aPod('p')], post('~/pods/p/binding', { metadata: { name: 'p' }, target: { name: 'n1' } })],
  ['binding by its older path', [aPod('p')], post('~/bindings', { metadata: { name: 'p' }, target: { name: 'n1' } })],
  ['eviction', [aPod('p')], post('~/pods/p/eviction', { metadata: { name: 'p' } })],
  ['eviction that a budget counts', [aPod('p', { metadata: { labels: { l: '1' } } }), post(budgets, { metadata: { name: 'b' }, spec: { minAvailable: 0, selector: { matchLabels: { l: '1' } } } }), patch(`${budgets}/b/status`, { status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 } })], post('~/pods/p/eviction', { metadata: { name: 'p' } })],
  ['token', [post('~/serviceaccounts', { metadata: { name: 'sa' } })], post('~/serviceaccounts/sa/token', {}), 'quiet'],
  ['review', [], post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } }), 'quiet'],
  ['end of a namespace', [], put('/api/v1/namespaces/{ns}/finalize', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '{ns}' }, spec: {} })],
  ['delete', [aConfigMap('a')], del('~/configmaps/a')],
  ['delete of what is held', [held], del('~/configmaps/a')],
  ['delete in the foreground', [aDeployment], del(`${apps}/deployments/d`, { propagationPolicy: 'Foreground' })],
  ['delete that orphans', [aDeployment], del(`${apps}/deployments/d?propagationPolicy=Orphan`)],
  ['delete with patience', [scheduled], del('~/pods/p')],
  ['delete at once', [scheduled], del('~/pods/p', { gracePeriodSeconds: 0 })],
  ['delete of all, by a body', [aConfigMap('a')], del('~/configmaps', { gracePeriodSeconds: 0 })],
  ['delete of a service', [aService], del('~/services/s')],
  ['delete of a namespace', [], del('/api/v1/namespaces/{ns}')],
  ['delete of all', [aConfigMap('a'), aConfigMap('b')], del('~/configmaps')],
  ['delete of all services', [aService], del('~/services')],
  ['request for a certificate', [], post(signing, { metadata: { name: 'dry-{ns}' }, spec: { request: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K', signerName: 'example.com/x', usages: ['digital signature'] } }), 'quiet'],
];

/** Removes what may differ in a dry run by specification, and times. */
function comparable(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  // prettier-ignore
  const generated = [
    'name', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'time', 'clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort', 'token', 'expirationTimestamp', 'startTime', 'lastTransitionTime',
  ];
  const parts = Object.entries(value).map(([name, part]) => [name, generated.includes(name) ? '' : comparable(part)]);
  // Only stored objects have a resourceVersion.
  return Object.fromEntries(parts.filter(([name]) => name !== 'resourceVersion')) as JsonObject;
}

describe('a dry run leaves the store unchanged, and is answered as the real request', () => {
  let server: TestServer;
  let world: World;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { reconciles: false });
    world = makeWorld(server);
  });
  afterAll(() => server.stop());
  const revision = () => server.keelson.components.store.revision();

  it.each(rows.map((row) => [row[0], row] as const))('%s', async (_name, [, given, when, quiet]) => {
    const scene = await Scene.open(world);
    await scene.prepare(given);
    const before = await revision();
    const dry = await scene.send({ ...when, path: `${when.path}${when.path.includes('?') ? '&' : '?'}dryRun=All` });
    expect(await revision()).toBe(before);
    const real = await scene.send(when);
    expect([dry.code, comparable(dry.body as JsonValue)]).toEqual([real.code, comparable(real.body as JsonValue)]);
    if (quiet) expect(await revision()).toBe(before);
    else {
      expect(real.text).not.toContain('"status":"Failure"');
      expect(await revision()).toBeGreaterThan(before);
    }
  });
});
