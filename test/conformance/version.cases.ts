import {
  del,
  get,
  keep,
  created,
  invalid,
  names,
  ok,
  patch,
  post,
  put,
  refused,
  type Step,
  type Table,
} from './case.js';

const hpa = (version: 'v1' | 'v2') => `/apis/autoscaling/${version}/namespaces/{ns}/horizontalpodautoscalers`;
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
};
const scaler = (name: string, metrics: readonly object[] = [cpu(50), memory]) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: { scaleTargetRef: target, maxReplicas: 3, metrics },
});
const aScaler = (name: string): Step => keep(name, post(hpa('v2'), scaler(name)));
const oldScaler = (name: string, more: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: { scaleTargetRef: target, maxReplicas: 4, targetCPUUtilizationPercentage: 70, ...more },
});

const coreEvents = '~/events';
const events = '/apis/{group:events}/v1/namespaces/{ns}/events';
const happened = {
  apiVersion: '{group:events}/v1',
  kind: 'Event',
  metadata: { name: 'e' },
  eventTime: '2026-01-02T03:04:05.000001Z',
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'Look',
  reason: 'Seen',
  type: 'Normal',
  note: 'it was seen',
  regarding: { kind: 'Pod', namespace: '{ns}', name: 'p' },
};

const apply = (path: string, body: object): Step =>
  patch(`${path}?fieldManager=one&force=true`, body, 'application/apply-patch+yaml');

/** One object in each of its versions. */
// prettier-ignore
export const versions: Table = {
  name: 'versions',
  everywhere: true,
  rows: [
    ['created in the storage version, read in another', [aScaler('s')], get(`${hpa('v1')}/s`), ok({ apiVersion: 'autoscaling/v1', metadata: { resourceVersion: '{s.metadata.resourceVersion}' }, spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50 } }, { absent: ['spec.metrics'] })],
    ['created in another version, read in the storage version', [post(hpa('v1'), oldScaler('s'))], get(`${hpa('v2')}/s`), ok({ apiVersion: 'autoscaling/v2', spec: { maxReplicas: 4, metrics: [cpu(70)] } })],
    ['created in another version, answered in it', [], post(hpa('v1'), oldScaler('s')), created({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 70 } })],
    ['created in another version as a dry run', [], post(`${hpa('v1')}?dryRun=All`, oldScaler('s')), created({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 70 } })],
    ['a name in use in another version is rejected (409)', [aScaler('s')], post(hpa('v1'), oldScaler('s')), refused(409, 'AlreadyExists', 'horizontalpodautoscalers.autoscaling "s" already exists')],
    ['listed in another version', [aScaler('s'), aScaler('t')], get(hpa('v1')), names('s', 't')],
    ['a list has the requested apiVersion', [aScaler('s')], get(hpa('v1')), ok({ kind: 'HorizontalPodAutoscalerList', apiVersion: 'autoscaling/v1', items: [{ spec: { targetCPUUtilizationPercentage: 50 } }] }, { absent: ['items.0.kind', 'items.0.spec.metrics'] })],
    ['a Table in another version', [aScaler('s')], get(hpa('v1'), { accept: 'application/json;as=Table;g={group:meta};v=v1' }), ok({ kind: 'Table', rows: [{ cells: expect.arrayContaining(['s', 'Deployment/d']) }] })],
    ['updated in another version', [aScaler('s')], put(`${hpa('v1')}/s`, oldScaler('s')), ok({ apiVersion: 'autoscaling/v1' }, { then: [[get(`${hpa('v2')}/s`), ok({ spec: { maxReplicas: 4, metrics: [cpu(70)] } })]] })],
    ['patched in another version', [aScaler('s')], patch(`${hpa('v1')}/s`, { spec: { targetCPUUtilizationPercentage: 90 } }), ok({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 90 } }, { then: [[get(`${hpa('v2')}/s`), ok({ spec: { metrics: [memory, cpu(90)] } })]] })],
    ['a patch in another version without a change writes nothing', [keep('s', post(hpa('v2'), scaler('s', [memory, cpu(50)])))], patch(`${hpa('v1')}/s`, { spec: { maxReplicas: 3 } }), ok({ metadata: { resourceVersion: '{s.metadata.resourceVersion}' } })],
    ['status updated in another version', [aScaler('s')], patch(`${hpa('v1')}/s/status`, { status: { currentReplicas: 2, desiredReplicas: 2 } }), ok({ apiVersion: 'autoscaling/v1', status: { currentReplicas: 2 } }, { then: [[get(`${hpa('v2')}/s`), ok({ status: { currentReplicas: 2 } })]] })],
    ['a stale resourceVersion in another version is a conflict (409)', [aScaler('s'), patch(`${hpa('v2')}/s`, { spec: { maxReplicas: 9 } })], put(`${hpa('v1')}/s`, { ...oldScaler('s'), metadata: { name: 's', resourceVersion: '{s.metadata.resourceVersion}' } }), refused(409, 'Conflict')],
    ['deleted in another version', [aScaler('s')], del(`${hpa('v1')}/s`), ok({}, { then: [[get(`${hpa('v2')}/s`), refused(404, 'NotFound')]] })],
    ['a body of another version than the URL is rejected (400)', [], post(hpa('v1'), scaler('s')), refused(400, 'BadRequest', 'the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)')],
    ['managedFields keep the version of the writer', [aScaler('s'), patch(`${hpa('v1')}/s?fieldManager=old`, { spec: { targetCPUUtilizationPercentage: 90 } })], get(`${hpa('v2')}/s`), ok({ metadata: { managedFields: expect.arrayContaining([expect.objectContaining({ manager: 'old', apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:targetCPUUtilizationPercentage': {} } } })]) } })],
    ['an events.k8s.io Event as a core Event', [post(events, happened)], get(`${coreEvents}/e`), ok({ apiVersion: 'v1', involvedObject: { kind: 'Pod', name: 'p' }, message: 'it was seen', reportingComponent: 'example.com/c' })],
    ['a core Event as an events.k8s.io Event', [post(coreEvents, { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace: '{ns}', name: 'p' }, message: 'm', count: 2, source: { component: 'k' } })], get(`${events}/e`), ok({ apiVersion: '{group:events}/v1', regarding: { name: 'p' }, note: 'm', deprecatedCount: 2, deprecatedSource: { component: 'k' } })],
    ['apply to another version is validated in it (422)', [], apply(`${events}/e`, { ...happened, eventTime: undefined }), invalid('eventTime')],
    ['apply to another version that its validation accepts creates', [], apply(`${events}/e`, happened), created({ apiVersion: '{group:events}/v1', note: 'it was seen' })],
    ['apply cannot change what is immutable in the version (422)', [post(events, happened)], apply(`${events}/e`, { ...happened, reason: 'Other', note: 'other', type: 'Warning' }), invalid('reason')],
    ['apply cannot change the note, which is immutable in the version (422)', [post(events, happened)], apply(`${events}/e`, { ...happened, note: 'other' }), invalid('message')],
    ['apply to the storage version is validated in it', [post(events, happened)], apply(`${coreEvents}/e`, { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, reason: 'Other' }), ok({ reason: 'Other' })],
    ['field selectors have the labels of the version', [post(events, happened)], get(`${events}?fieldSelector=regarding.name=p`), names('e')],
    ['an unknown field selector of the version is rejected (400)', [], get(`${events}?fieldSelector=regarding.nothing=p`), refused(400, 'BadRequest')],
  ],
};
