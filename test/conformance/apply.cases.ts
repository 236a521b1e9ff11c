import {
  aConfigMap,
  aPod,
  configMap,
  get,
  invalid,
  keep,
  made,
  names,
  ok,
  patch,
  pod,
  post,
  put,
  refused,
  type Step,
  type Table,
  type Want,
} from './case.js';

const apply = (path: string, body: object, query = 'fieldManager=one'): Step =>
  patch(`${path}?${query}`, body, 'application/apply-patch+yaml');
const applied = (name: string, data: object, query?: string): Step =>
  apply(`~/configmaps/${name}`, configMap(name, { data }), query);
const strategic = (path: string, body: object): Step => patch(path, body, 'strategic-merge');

const deployments = '/apis/apps/v1/namespaces/{ns}/deployments';
const container = (name: string, image: string) => ({ name, image });
const deployment = (...containers: object[]) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, spec: { containers } },
  },
});
const scale = (replicas: number) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'd' },
  spec: { replicas },
});
const scaled = (manager: string, replicas: number) =>
  patch(`${deployments}/d/scale?fieldManager=${manager}`, { spec: { replicas } });
const template = (spec: object) => ({ spec: { template: { spec } } });
const owners = (...managers: object[]): object => ({
  metadata: {
    managedFields: expect.arrayContaining(managers.map((manager): unknown => expect.objectContaining(manager))),
  },
});
const conflicts = (message: string, field: string): Want => ({
  code: 409,
  reason: 'Conflict',
  message,
  body: { details: { causes: [{ reason: 'FieldManagerConflict', field }] } },
});

// prettier-ignore
export const applying: Table = {
  name: 'apply',
  everywhere: true,
  rows: [
    ['creates', [], applied('a', { x: '1' }), made({ data: { x: '1' }, ...owners({ manager: 'one', operation: 'Apply', fieldsV1: { 'f:data': { 'f:x': {} } } }) })],
    ['again changes nothing', [keep('a', applied('a', { x: '1' }))], applied('a', { x: '1' }), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['removes what is left out', [applied('a', { x: '1', y: '2' })], applied('a', { y: '2' }), ok({ data: { y: '2' } }, { absent: ['data.x'] })],
    ['leaves what others own', [applied('a', { x: '1' }), applied('a', { y: '2' }, 'fieldManager=two')], applied('a', { x: '3' }), ok({ data: { x: '3', y: '2' } })],
    ['of a field of another conflicts', [applied('a', { x: '1' })], applied('a', { x: '2' }, 'fieldManager=two'), conflicts('Apply failed with 1 conflict: conflict with "one": .data.x', '.data.x')],
    ['of the same value shares the field', [applied('a', { x: '1' })], applied('a', { x: '1' }, 'fieldManager=two'), ok({ ...owners({ manager: 'one' }, { manager: 'two' }) })],
    ['by force takes the field', [applied('a', { x: '1' })], applied('a', { x: '2' }, 'fieldManager=two&force=true'), ok({ data: { x: '2' }, ...owners({ manager: 'two' }) })],
    ['after an update conflicts with it', [applied('a', { x: '1' }), patch('~/configmaps/a?fieldManager=edit', { data: { x: '9' } })], applied('a', { x: '1' }), conflicts('Apply failed with 1 conflict: conflict with "edit" using v1: .data.x', '.data.x')],
    ['needs a manager', [], patch('~/configmaps/a', configMap('a'), 'application/apply-patch+yaml'), refused(422, 'Invalid')],
    ['of another name', [], apply('~/configmaps/a', configMap('b')), refused(400, 'BadRequest')],
    ['of an unknown field', [], apply('~/configmaps/a', configMap('a', { dat: {} })), refused(422, 'Invalid', /\.dat/)],
    ['as a dry run', [], applied('a', { x: '1' }, 'fieldManager=one&dryRun=All'), made({ data: { x: '1' } }, { then: [[get('~/configmaps'), names()]] })],
    ['of status', [post(deployments, deployment(container('c', 'i')))], apply(`${deployments}/d/status`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, status: { replicas: 2 } }), ok({ status: { replicas: 2 }, ...owners({ operation: 'Update' }, { manager: 'one', subresource: 'status', fieldsV1: { 'f:status': { 'f:replicas': {} } } }) })],
    ['of scale', [post(deployments, deployment(container('c', 'i')))], apply(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 4 } }, 'fieldManager=one&force=true'), ok({ kind: 'Scale', spec: { replicas: 4 } }, { then: [[get(`${deployments}/d`), ok({ spec: { replicas: 4 } })]] })],
    ['of items by their keys', [apply(`${deployments}/d`, deployment(container('c', 'i')))], apply(`${deployments}/d`, { ...deployment(), spec: template({ containers: [container('e', 'j')] }).spec }, 'fieldManager=two'), ok({ spec: { template: { spec: { containers: [{ name: 'c' }, { name: 'e' }] } } } })],
    ['who wrote is noted', [], post('~/configmaps?fieldManager=m', configMap('a', { data: { x: '1' } })), made({ ...owners({ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { '.': {}, 'f:x': {} } } }) })],
    ['with a uid of what is not there', [], apply('~/configmaps/a', configMap('a', { metadata: { uid: 'x' } })), { ...refused(409, 'Conflict', 'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid x, and no existing object was found'), then: [[get('~/configmaps'), names()]] }],
    ['with a version of what is not there', [], apply('~/configmaps/a', configMap('a', { metadata: { resourceVersion: '1' } })), made()],
    ['of a scale that another scaled', [post(deployments, deployment(container('c', 'i'))), scaled('hpa', 2)], apply(`${deployments}/d/scale`, scale(3)), conflicts('Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using autoscaling/v1: .spec.replicas', '.spec.replicas')],
    ['of replicas that another scaled', [post(deployments, deployment(container('c', 'i'))), scaled('hpa', 2)], apply(`${deployments}/d`, deployment(container('c', 'i'))), conflicts('Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas', '.spec.replicas')],
    ['of a scale to what it is shares the replicas', [post(deployments, deployment(container('c', 'i'))), scaled('hpa', 2)], apply(`${deployments}/d/scale`, scale(2)), ok({}, { then: [[get(`${deployments}/d`), ok({ spec: { replicas: 2 }, ...owners({ manager: 'hpa', subresource: 'scale' }, { manager: 'one', operation: 'Apply', apiVersion: 'apps/v1', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }) })]] })],
    ['of the object as its scale', [post(deployments, deployment(container('c', 'i')))], apply(`${deployments}/d/scale`, deployment(container('c', 'i'))), refused(400, 'BadRequest')],
    ['through a part of pods owns that part', [aPod('p')], patch('~/pods/p/resize?fieldManager=sizer', { metadata: { labels: { l: '1' } }, spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } }, 'strategic-merge'), refused(422, 'Invalid')],
    ['through a part of pods owns nothing else', [aPod('p')], patch('~/pods/p/ephemeralcontainers?fieldManager=debugger', { metadata: { labels: { l: '1' } }, spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } }, 'strategic-merge'), ok({ ...owners({ manager: 'debugger', subresource: 'ephemeralcontainers', fieldsV1: { 'f:spec': { 'f:ephemeralContainers': expect.anything() } } }) }, { absent: ['metadata.labels'] })],
    ['the record can be reset', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }], 'json'), ok({}, { absent: ['metadata.managedFields'] })],
  ],
};

const cleared = { op: 'replace', path: '/metadata/managedFields', value: [{}] };
const dataOf = (name: string) => ({ fieldsV1: { 'f:data': { [`f:${name}`]: {} } } });
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {x: "1"} # as people write it\n';

// prettier-ignore
export const owning: Table = {
  name: 'the record of owners',
  rows: [
    ['is reset before other changes, which are then owned', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a?fieldManager=m', [cleared, { op: 'add', path: '/data/y', value: '2' }], 'json'), ok({ metadata: { managedFields: [{ manager: 'm', operation: 'Update', ...dataOf('y') }] } }, { absent: ['metadata.managedFields.1', 'metadata.managedFields.0.fieldsV1.f:data.f:x'] })],
    ['is reset by a merge', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', { metadata: { managedFields: [{}] } }), ok({}, { absent: ['metadata.managedFields'] })],
    ['is reset by an update', [aConfigMap('a', { data: { x: '1' } })], put('~/configmaps/a', configMap('a', { data: { x: '1' }, metadata: { managedFields: [{}] } })), ok({}, { absent: ['metadata.managedFields'] })],
    ['is not reset by an empty list', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', { metadata: { managedFields: [] } }), ok({ metadata: { managedFields: [{ operation: 'Update' }], resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['is not reset through a status', [aPod('p')], patch('~/pods/p/status', { metadata: { managedFields: [{}] } }), ok({ metadata: { managedFields: [{ operation: 'Update' }] } })],
    ['after a reset is that of who was there before', [aConfigMap('a', { data: { x: '1' } }), patch('~/configmaps/a', [cleared], 'json')], applied('a', { x: '2' }), conflicts('Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x', '.data.x')],
    ['stays empty until somebody applies', [aConfigMap('a', { data: { x: '1' } }), patch('~/configmaps/a', [cleared], 'json')], patch('~/configmaps/a', { data: { y: '2' } }), ok({}, { absent: ['metadata.managedFields'] })],
    ['of an apply in YAML', [], apply('~/configmaps/a', yaml as never), made({ data: { x: '1' }, ...owners({ manager: 'one', operation: 'Apply', ...dataOf('x') }) })],
    ['is not for appliers to give', [], apply('~/configmaps/a', configMap('a', { metadata: { managedFields: [{ manager: 'x' }] } })), refused(400, 'BadRequest', 'metadata.managedFields must be nil')],
    ['of an apply to the right version', [aConfigMap('a')], apply('~/configmaps/a', configMap('a', { data: { x: '1' }, metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), ok({ data: { x: '1' } })],
    ['of an apply to a stale version', [aConfigMap('a'), patch('~/configmaps/a', { data: { y: '1' } })], apply('~/configmaps/a', configMap('a', { data: { x: '1' }, metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), refused(409, 'Conflict', /the object has been modified/)],
    ['of an apply to another uid', [aConfigMap('a')], apply('~/configmaps/a', configMap('a', { metadata: { uid: 'x' } })), invalid('metadata.uid')],
    ['of an apply to a version in a header that it has not', [aConfigMap('a')], { ...applied('a', { x: '1' }), headers: { 'content-type': 'application/apply-patch+yaml', 'if-match': '5' } }, refused(409, 'Conflict')],
    ['of an apply of nothing', [], apply('~/configmaps/a', '' as never), refused(400, 'BadRequest', 'invalid object type: /, Kind=')],
    ['of an apply of a list', [], apply('~/configmaps/a', []), refused(400, 'BadRequest')],
    ['of an apply without a kind', [], apply('~/configmaps/a', { metadata: { name: 'a' } }), refused(400, 'BadRequest', 'invalid object type: /, Kind=')],
    ['of an apply without a name', [], apply('~/configmaps/a', { apiVersion: 'v1', kind: 'ConfigMap' }), refused(400, 'BadRequest')],
    ['of an apply of a wrong type', [], applied('a', [] as never), refused(422, 'Invalid', /\.data: expected map/)],
    ['of an apply of an item twice', [], apply(`${deployments}/d`, deployment(container('c', 'i'), container('c', 'j'))), refused(422, 'Invalid', /duplicate entries for key \[name="c"\]/)],
    ['of an apply of an invalid object', [], applied('A_', { x: '1' }), invalid('metadata.name')],
    ['of an apply that conflicts in a dry run', [applied('a', { x: '1' })], applied('a', { x: '2' }, 'fieldManager=two&dryRun=All'), conflicts('Apply failed with 1 conflict: conflict with "one": .data.x', '.data.x')],
    ['of a deployment applied again', [keep('d', apply(`${deployments}/d`, deployment(container('c', 'i'))))], apply(`${deployments}/d`, deployment(container('c', 'i'))), ok({ metadata: { resourceVersion: '{d.metadata.resourceVersion}', generation: 1 } })],
    ['of a service applied again', [keep('s', apply('~/services/s', service))], apply('~/services/s', service), ok({ metadata: { resourceVersion: '{s.metadata.resourceVersion}' }, spec: { clusterIP: '{s.spec.clusterIP}' } })],
    ['of a pod applied again', [keep('p', apply('~/pods/p', { apiVersion: 'v1', kind: 'Pod', ...pod('p') }))], apply('~/pods/p', { apiVersion: 'v1', kind: 'Pod', ...pod('p') }), ok({ metadata: { resourceVersion: '{p.metadata.resourceVersion}' } })],
    ['of appliers who share nothing, in this order', [applied('a', { x: '1' }, 'fieldManager=one'), applied('a', { y: '2' }, 'fieldManager=two')], get('~/configmaps/a'), ok({ data: { x: '1', y: '2' }, ...owners({ manager: 'one', ...dataOf('x') }, { manager: 'two', ...dataOf('y') }) })],
    ['of what two own outlives one of them', [applied('a', { x: '1', y: '1' }), applied('a', { x: '1' }, 'fieldManager=two')], applied('a', {}), ok({ data: { x: '1' } }, { absent: ['data.y'] })],
    ['of an item goes with its only owner', [apply(`${deployments}/d`, deployment(container('c', 'i'), container('e', 'j')))], apply(`${deployments}/d`, deployment(container('c', 'i'))), ok({ spec: { template: { spec: { containers: [{ name: 'c' }] } } } }, { absent: ['spec.template.spec.containers.1'] })],
  ],
};

// prettier-ignore
export const strategicMerging: Table = {
  name: 'strategic merge patch',
  rows: [
    ['merges items by their keys', [post(deployments, deployment(container('c', 'i'), container('d', 'i')))], strategic(`${deployments}/d`, template({ containers: [{ name: 'd', image: 'j' }] })), ok({ spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }, { name: 'd', image: 'j' }] } } } })],
    ['adds items', [post(deployments, deployment(container('c', 'i')))], strategic(`${deployments}/d`, template({ containers: [container('e', 'j')] })), ok({ spec: { template: { spec: { containers: [{ name: 'e' }, { name: 'c' }] } } } })],
    ['deletes items', [post(deployments, deployment(container('c', 'i'), container('d', 'i')))], strategic(`${deployments}/d`, template({ containers: [{ $patch: 'delete', name: 'c' }] })), ok({ spec: { template: { spec: { containers: [{ name: 'd' }] } } } })],
    ['replaces lists', [post(deployments, deployment(container('c', 'i')))], strategic(`${deployments}/d`, template({ containers: [{ $patch: 'replace' }, container('z', 'k')] })), ok({ spec: { template: { spec: { containers: [{ name: 'z' }] } } } })],
    ['takes fields away', [aConfigMap('a', { data: { x: '1', y: '2' } })], strategic('~/configmaps/a', { data: { x: null } }), ok({ data: { y: '2' } }, { absent: ['data.x'] })],
    ['takes texts from lists', [aConfigMap('a', { metadata: { finalizers: ['e.com/a', 'e.com/b'] } })], strategic('~/configmaps/a', { metadata: { '$deleteFromPrimitiveList/finalizers': ['e.com/a'] } }), ok({ metadata: { finalizers: ['e.com/b'] } })],
    ['with a directive that is none', [aConfigMap('a')], strategic('~/configmaps/a', { $patch: 'burn' }), refused(422, 'Invalid')],
    ['that is a list', [aConfigMap('a')], strategic('~/configmaps/a', []), refused(400, 'BadRequest')],
  ],
};
