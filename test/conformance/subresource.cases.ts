import { aConfigMap, aPod, del, get, made, notFound, ok, patch, post, put, refused, type Table } from './case.js';

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
    ['is read as the whole object', [aPod('p')], get('~/pods/p/status'), ok({ kind: 'Pod', spec: { containers: [{ name: 'main' }] }, status: { phase: 'Pending' } })],
    ['takes the status', [aPod('p')], patch('~/pods/p/status', { status: { phase: 'Running' } }), ok({ status: { phase: 'Running' }, metadata: { generation: 1 } })],
    ['takes nothing of the spec', [aPod('p')], patch('~/pods/p/status', { spec: { nodeName: 'n' }, status: { phase: 'Running' } }), ok({ status: { phase: 'Running' } }, { absent: ['spec.nodeName'] })],
    ['by PUT takes nothing of the spec', [aPod('p')], put('~/pods/p/status', { metadata: { name: 'p' }, spec: { containers: [] }, status: { phase: 'Running' } }), ok({ spec: { containers: [{ name: 'main' }] }, status: { phase: 'Running' } })],
    ['takes labels', [aPod('p')], patch('~/pods/p/status', { metadata: { labels: { l: '1' } } }), ok({ metadata: { labels: { l: '1' } } })],
    ['takes no labels of deployments', [post(deployments, deployment)], patch(`${deployments}/d/status`, { metadata: { labels: { l: '1' } }, status: { replicas: 1 } }), ok({ status: { replicas: 1 } }, { absent: ['metadata.labels'] })],
    ['with a stale resourceVersion', [aPod('p'), patch('~/pods/p/status', { status: { message: 'x' } })], put('~/pods/p/status', { metadata: { name: 'p', resourceVersion: '{p.metadata.resourceVersion}' }, status: {} }), refused(409, 'Conflict')],
    ['of what is not there', [], patch('~/pods/none/status', {}), notFound('pods "none" not found')],
    ['of a kind without', [aConfigMap('a')], get('~/configmaps/a/status'), notFound('the server could not find the requested resource')],
    ['cannot be created', [aPod('p')], post('~/pods/p/status', {}), refused(405, 'MethodNotAllowed')],
    ['cannot be deleted', [aPod('p')], del('~/pods/p/status'), refused(405, 'MethodNotAllowed')],
    ['that is none', [aPod('p')], get('~/pods/p/nothing'), notFound('the server could not find the requested resource')],
  ],
};

// prettier-ignore
export const binding: Table = {
  name: 'binding',
  everywhere: true,
  rows: [
    ['puts a pod on a node', [aPod('p')], post('~/pods/p/binding', { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } }), made({ kind: 'Status', status: 'Success' }, { then: [[get('~/pods/p'), ok({ spec: { nodeName: 'n1' } })]] })],
    ['by its older path', [aPod('p')], post('~/bindings', { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } }), made({}, { then: [[get('~/pods/p'), ok({ spec: { nodeName: 'n1' } })]] })],
    ['once', [aPod('p'), post('~/pods/p/binding', { metadata: { name: 'p' }, target: { name: 'n1' } })], post('~/pods/p/binding', { metadata: { name: 'p' }, target: { name: 'n2' } }), refused(409, 'Conflict')],
    ['as a dry run', [aPod('p')], post('~/pods/p/binding?dryRun=All', { metadata: { name: 'p' }, target: { name: 'n1' } }), made({}, { then: [[get('~/pods/p'), ok({}, { absent: ['spec.nodeName'] })]] })],
    ['of another pod than the URL', [aPod('p')], post('~/pods/p/binding', { metadata: { name: 'q' }, target: { name: 'n1' } }), refused(400, 'BadRequest', 'name in URL does not match name in Binding object')],
    ['of a pod that is not there', [], post('~/pods/p/binding', { metadata: { name: 'p' }, target: { name: 'n1' } }), notFound()],
    ['cannot be read', [aPod('p')], get('~/pods/p/binding'), refused(405, 'MethodNotAllowed')],
    ['cannot be put', [aPod('p')], put('~/pods/p/binding', {}), refused(405, 'MethodNotAllowed')],
    ['bindings cannot be listed', [], get('~/bindings'), refused(405, 'MethodNotAllowed')],
    ['bindings have a namespace', [], get('/api/v1/bindings'), refused(404, 'NotFound')],
  ],
};
