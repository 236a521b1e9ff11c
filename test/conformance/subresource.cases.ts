import { aConfigMap, aPod, del, get, created, notFound, ok, patch, post, put, refused, type Table } from './case.js';

const deployments = '/apis/apps/v1/namespaces/{ns}/deployments';
const deployment = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

// prettier-ignore
export const status: Table = {
  name: 'status',
  everywhere: true,
  rows: [
    ['GET answers the whole object', [aPod('p')], get('~/pods/p/status'), ok({ kind: 'Pod', spec: { containers: [{ name: 'main' }] }, status: { phase: 'Pending' } })],
    ['a patch of status changes it', [aPod('p')], patch('~/pods/p/status', { status: { phase: 'Running' } }), ok({ status: { phase: 'Running' }, metadata: { generation: 1 } })],
    ['a patch of spec is ignored', [aPod('p')], patch('~/pods/p/status', { spec: { nodeName: 'n' }, status: { phase: 'Running' } }), ok({ status: { phase: 'Running' } }, { absent: ['spec.nodeName'] })],
    ['a PUT of spec is ignored', [aPod('p')], put('~/pods/p/status', { metadata: { name: 'p' }, spec: { containers: [] }, status: { phase: 'Running' } }), ok({ spec: { containers: [{ name: 'main' }] }, status: { phase: 'Running' } })],
    ['a patch of labels of a Pod is accepted', [aPod('p')], patch('~/pods/p/status', { metadata: { labels: { l: '1' } } }), ok({ metadata: { labels: { l: '1' } } })],
    ['a patch of labels of a Deployment is ignored', [post(deployments, deployment)], patch(`${deployments}/d/status`, { metadata: { labels: { l: '1' } }, status: { replicas: 1 } }), ok({ status: { replicas: 1 } }, { absent: ['metadata.labels'] })],
    ['a stale resourceVersion is a conflict (409)', [aPod('p'), patch('~/pods/p/status', { status: { message: 'x' } })], put('~/pods/p/status', { metadata: { name: 'p', resourceVersion: '{p.metadata.resourceVersion}' }, status: {} }), refused(409, 'Conflict')],
    ['of an absent object is not found (404)', [], patch('~/pods/none/status', {}), notFound('pods "none" not found')],
    ['of a kind without status is not found (404)', [aConfigMap('a')], get('~/configmaps/a/status'), notFound('the server could not find the requested resource')],
    ['POST is not allowed (405)', [aPod('p')], post('~/pods/p/status', {}), refused(405, 'MethodNotAllowed')],
    ['DELETE is not allowed (405)', [aPod('p')], del('~/pods/p/status'), refused(405, 'MethodNotAllowed')],
    ['an unknown subresource is not found (404)', [aPod('p')], get('~/pods/p/nothing'), notFound('the server could not find the requested resource')],
  ],
};

// prettier-ignore
export const binding: Table = {
  name: 'binding',
  everywhere: true,
  rows: [
    ['sets spec.nodeName', [aPod('p')], post('~/pods/p/binding', { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } }), created({ kind: 'Status', status: 'Success' }, { then: [[get('~/pods/p'), ok({ metadata: { generation: 1 }, spec: { nodeName: 'n1' } })]] })],
    ['POST to bindings sets spec.nodeName', [aPod('p')], post('~/bindings', { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } }), created({}, { then: [[get('~/pods/p'), ok({ spec: { nodeName: 'n1' } })]] })],
    ['once', [aPod('p'), post('~/pods/p/binding', { metadata: { name: 'p' }, target: { name: 'n1' } })], post('~/pods/p/binding', { metadata: { name: 'p' }, target: { name: 'n2' } }), refused(409, 'Conflict')],
    ['as a dry run stores nothing', [aPod('p')], post('~/pods/p/binding?dryRun=All', { metadata: { name: 'p' }, target: { name: 'n1' } }), created({}, { then: [[get('~/pods/p'), ok({}, { absent: ['spec.nodeName'] })]] })],
    ['a name other than in the URL is rejected (400)', [aPod('p')], post('~/pods/p/binding', { metadata: { name: 'q' }, target: { name: 'n1' } }), refused(400, 'BadRequest', 'name in URL does not match name in Binding object')],
    ['of an absent Pod is not found (404)', [], post('~/pods/p/binding', { metadata: { name: 'p' }, target: { name: 'n1' } }), notFound()],
    ['GET is not allowed (405)', [aPod('p')], get('~/pods/p/binding'), refused(405, 'MethodNotAllowed')],
    ['PUT is not allowed (405)', [aPod('p')], put('~/pods/p/binding', {}), refused(405, 'MethodNotAllowed')],
    ['a list of bindings is not allowed (405)', [], get('~/bindings'), refused(405, 'MethodNotAllowed')],
    ['bindings without a namespace are not found (404)', [], get('/api/v1/bindings'), refused(404, 'NotFound')],
  ],
};
