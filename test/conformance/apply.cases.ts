import {
  aConfigMap,
  aPod,
  configMap,
  del,
  get,
  invalid,
  keep,
  created,
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
/** The third one finds that it is known to change nothing. */
const three = (step: Step): Step[] => [step, step, step];
const thrice = (name: string, data: object): Step[] => three(applied(name, data));
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
    ['creates', [], applied('a', { x: '1' }), created({ data: { x: '1' }, ...owners({ manager: 'one', operation: 'Apply', fieldsV1: { 'f:data': { 'f:x': {} } } }) })],
    ['applying the same configuration again changes nothing', [keep('a', applied('a', { x: '1' }))], applied('a', { x: '1' }), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['a repeated configuration that another manager has changed conflicts (409)', [...thrice('a', { x: '1' }), patch('~/configmaps/a?fieldManager=edit', { data: { x: '9' } })], applied('a', { x: '1' }), conflicts('Apply failed with 1 conflict: conflict with "edit" using v1: .data.x', '.data.x')],
    ['a repeated configuration puts back what was removed', [...thrice('a', { x: '1' }), patch('~/configmaps/a?fieldManager=edit', { data: { x: null } })], applied('a', { x: '1' }), ok({ data: { x: '1' } })],
    ['a repeated configuration is applied to a new object of the same name', [...thrice('a', { x: '1' }), del('~/configmaps/a'), post('~/configmaps', configMap('a', { data: { y: '2' } }))], applied('a', { x: '1' }), ok({ data: { x: '1', y: '2' } })],
    ['a repeated configuration with another resourceVersion conflicts (409)', thrice('a', { x: '1' }), apply('~/configmaps/a', configMap('a', { data: { x: '1' }, metadata: { resourceVersion: '1' } })), refused(409, 'Conflict')],
    ['a dry run of a repeated configuration answers with the object', thrice('a', { x: '1' }), applied('a', { x: '1' }, 'fieldManager=one&dryRun=All'), ok({ data: { x: '1' }, ...owners({ manager: 'one', operation: 'Apply' }) })],
    ['omitted fields are removed', [applied('a', { x: '1', y: '2' })], applied('a', { y: '2' }), ok({ data: { y: '2' } }, { absent: ['data.x'] })],
    ['omitted fields of other owners are kept', [applied('a', { x: '1' }), applied('a', { y: '2' }, 'fieldManager=two')], applied('a', { x: '3' }), ok({ data: { x: '3', y: '2' } })],
    ['a field of another manager conflicts (409)', [applied('a', { x: '1' })], applied('a', { x: '2' }, 'fieldManager=two'), conflicts('Apply failed with 1 conflict: conflict with "one": .data.x', '.data.x')],
    ['an equal value of another manager is shared', [applied('a', { x: '1' })], applied('a', { x: '1' }, 'fieldManager=two'), ok({ ...owners({ manager: 'one' }, { manager: 'two' }) })],
    ['force=true takes the field over', [applied('a', { x: '1' })], applied('a', { x: '2' }, 'fieldManager=two&force=true'), ok({ data: { x: '2' }, ...owners({ manager: 'two' }) })],
    ['a field changed by an update conflicts (409)', [applied('a', { x: '1' }), patch('~/configmaps/a?fieldManager=edit', { data: { x: '9' } })], applied('a', { x: '1' }), conflicts('Apply failed with 1 conflict: conflict with "edit" using v1: .data.x', '.data.x')],
    ['apply without fieldManager is rejected (422)', [], patch('~/configmaps/a', configMap('a'), 'application/apply-patch+yaml'), refused(422, 'Invalid')],
    ['apply with another name than the URL is rejected (400)', [], apply('~/configmaps/a', configMap('b')), refused(400, 'BadRequest')],
    ['apply with an unknown field is rejected (422)', [], apply('~/configmaps/a', configMap('a', { dat: {} })), refused(422, 'Invalid', /\.dat/)],
    ['a dry run stores nothing', [], applied('a', { x: '1' }, 'fieldManager=one&dryRun=All'), created({ data: { x: '1' } }, { then: [[get('~/configmaps'), names()]] })],
    ['apply to the status subresource owns status fields', [post(deployments, deployment(container('c', 'i')))], apply(`${deployments}/d/status`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, status: { replicas: 2 } }), ok({ status: { replicas: 2 }, ...owners({ operation: 'Update' }, { manager: 'one', subresource: 'status', fieldsV1: { 'f:status': { 'f:replicas': {} } } }) })],
    ['apply to the scale subresource changes spec.replicas', [post(deployments, deployment(container('c', 'i')))], apply(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 4 } }, 'fieldManager=one&force=true'), ok({ kind: 'Scale', spec: { replicas: 4 } }, { then: [[get(`${deployments}/d`), ok({ spec: { replicas: 4 } })]] })],
    ['repeated configurations of the scale and status subresources change nothing', [post(deployments, deployment(container('c', 'i'))), ...three(apply(`${deployments}/d/scale`, scale(4), 'fieldManager=one&force=true')), ...three(apply(`${deployments}/d/status`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, status: { replicas: 2 } }))], apply(`${deployments}/d/scale`, scale(4), 'fieldManager=one&force=true'), ok({ kind: 'Scale', spec: { replicas: 4 }, status: { replicas: 2 } }, { then: [[get(`${deployments}/d`), ok({ spec: { replicas: 4, template: template({ containers: [container('c', 'i')] }).spec.template }, status: { replicas: 2 } })]] })],
    ['list items are merged by key', [apply(`${deployments}/d`, deployment(container('c', 'i')))], apply(`${deployments}/d`, { ...deployment(), spec: template({ containers: [container('e', 'j')] }).spec }, 'fieldManager=two'), ok({ spec: { template: { spec: { containers: [{ name: 'c' }, { name: 'e' }] } } } })],
    ['a create is recorded in managedFields', [], post('~/configmaps?fieldManager=m', configMap('a', { data: { x: '1' } })), created({ ...owners({ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { '.': {}, 'f:x': {} } } }) })],
    ['apply with the uid of an absent object is a conflict (409)', [], apply('~/configmaps/a', configMap('a', { metadata: { uid: 'x' } })), { ...refused(409, 'Conflict', 'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid x, and no existing object was found'), then: [[get('~/configmaps'), names()]] }],
    ['apply with the resourceVersion of an absent object creates it', [], apply('~/configmaps/a', configMap('a', { metadata: { resourceVersion: '1' } })), created()],
    ['apply to scale conflicts with another scaler (409)', [post(deployments, deployment(container('c', 'i'))), scaled('hpa', 2)], apply(`${deployments}/d/scale`, scale(3)), conflicts('Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using autoscaling/v1: .spec.replicas', '.spec.replicas')],
    ['apply of replicas conflicts with another scaler (409)', [post(deployments, deployment(container('c', 'i'))), scaled('hpa', 2)], apply(`${deployments}/d`, deployment(container('c', 'i'))), conflicts('Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas', '.spec.replicas')],
    ['apply of the same replicas through scale shares them', [post(deployments, deployment(container('c', 'i'))), scaled('hpa', 2)], apply(`${deployments}/d/scale`, scale(2)), ok({}, { then: [[get(`${deployments}/d`), ok({ spec: { replicas: 2 }, ...owners({ manager: 'hpa', subresource: 'scale' }, { manager: 'one', operation: 'Apply', apiVersion: 'apps/v1', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }) })]] })],
    ['apply of a Deployment to its scale is rejected (400)', [post(deployments, deployment(container('c', 'i')))], apply(`${deployments}/d/scale`, deployment(container('c', 'i'))), refused(400, 'BadRequest')],
    ['a change of labels through pods/resize is rejected (422)', [aPod('p')], patch('~/pods/p/resize?fieldManager=sizer', { metadata: { labels: { l: '1' } }, spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } }, 'strategic-merge'), refused(422, 'Invalid')],
    ['pods/ephemeralcontainers owns ephemeral containers only', [aPod('p')], patch('~/pods/p/ephemeralcontainers?fieldManager=debugger', { metadata: { labels: { l: '1' } }, spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } }, 'strategic-merge'), ok({ ...owners({ manager: 'debugger', subresource: 'ephemeralcontainers', fieldsV1: { 'f:spec': { 'f:ephemeralContainers': expect.anything() } } }) }, { absent: ['metadata.labels'] })],
    ['managedFields can be reset by a JSON patch', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }], 'json'), ok({}, { absent: ['metadata.managedFields'] })],
  ],
};

const cleared = { op: 'replace', path: '/metadata/managedFields', value: [{}] };
const dataOf = (name: string) => ({ fieldsV1: { 'f:data': { [`f:${name}`]: {} } } });
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {x: "1"} # as people write it\n';

// prettier-ignore
export const owning: Table = {
  name: 'managedFields',
  rows: [
    ['a reset applies before other changes of the patch, which are tracked', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a?fieldManager=m', [cleared, { op: 'add', path: '/data/y', value: '2' }], 'json'), ok({ metadata: { managedFields: [{ manager: 'm', operation: 'Update', ...dataOf('y') }] } }, { absent: ['metadata.managedFields.1', 'metadata.managedFields.0.fieldsV1.f:data.f:x'] })],
    ['managedFields are reset by a merge patch', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', { metadata: { managedFields: [{}] } }), ok({}, { absent: ['metadata.managedFields'] })],
    ['managedFields are reset by an update', [aConfigMap('a', { data: { x: '1' } })], put('~/configmaps/a', configMap('a', { data: { x: '1' }, metadata: { managedFields: [{}] } })), ok({}, { absent: ['metadata.managedFields'] })],
    ['an empty list does not reset managedFields', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', { metadata: { managedFields: [] } }), ok({ metadata: { managedFields: [{ operation: 'Update' }], resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['the status subresource does not reset managedFields', [aPod('p')], patch('~/pods/p/status', { metadata: { managedFields: [{}] } }), ok({ metadata: { managedFields: [{ operation: 'Update' }] } })],
    ['after a reset, an apply conflicts with before-first-apply (409)', [aConfigMap('a', { data: { x: '1' } }), patch('~/configmaps/a', [cleared], 'json')], applied('a', { x: '2' }), conflicts('Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x', '.data.x')],
    ['after a reset, updates are not tracked until an apply', [aConfigMap('a', { data: { x: '1' } }), patch('~/configmaps/a', [cleared], 'json')], patch('~/configmaps/a', { data: { y: '2' } }), ok({}, { absent: ['metadata.managedFields'] })],
    ['apply accepts YAML', [], apply('~/configmaps/a', yaml as never), created({ data: { x: '1' }, ...owners({ manager: 'one', operation: 'Apply', ...dataOf('x') }) })],
    ['apply with managedFields is rejected (400)', [], apply('~/configmaps/a', configMap('a', { metadata: { managedFields: [{ manager: 'x' }] } })), refused(400, 'BadRequest', 'metadata.managedFields must be nil')],
    ['apply with the current resourceVersion succeeds', [aConfigMap('a')], apply('~/configmaps/a', configMap('a', { data: { x: '1' }, metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), ok({ data: { x: '1' } })],
    ['apply with a stale resourceVersion is a conflict (409)', [aConfigMap('a'), patch('~/configmaps/a', { data: { y: '1' } })], apply('~/configmaps/a', configMap('a', { data: { x: '1' }, metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), refused(409, 'Conflict', /the object has been modified/)],
    ['apply with another uid is rejected (422)', [aConfigMap('a')], apply('~/configmaps/a', configMap('a', { metadata: { uid: 'x' } })), invalid('metadata.uid')],
    ['apply with a stale If-Match is a conflict (409)', [aConfigMap('a')], { ...applied('a', { x: '1' }), headers: { 'content-type': 'application/apply-patch+yaml', 'if-match': '5' } }, refused(409, 'Conflict')],
    ['apply of an empty body is rejected (400)', [], apply('~/configmaps/a', '' as never), refused(400, 'BadRequest', 'invalid object type: /, Kind=')],
    ['apply of a list is rejected (400)', [], apply('~/configmaps/a', []), refused(400, 'BadRequest')],
    ['apply without a kind is rejected (400)', [], apply('~/configmaps/a', { metadata: { name: 'a' } }), refused(400, 'BadRequest', 'invalid object type: /, Kind=')],
    ['apply without a name is rejected (400)', [], apply('~/configmaps/a', { apiVersion: 'v1', kind: 'ConfigMap' }), refused(400, 'BadRequest')],
    ['apply of a wrong type is rejected (422)', [], applied('a', [] as never), refused(422, 'Invalid', /\.data: expected map/)],
    ['apply of a duplicate item is rejected (422)', [], apply(`${deployments}/d`, deployment(container('c', 'i'), container('c', 'j'))), refused(422, 'Invalid', /duplicate entries for key \[name="c"\]/)],
    ['apply of an invalid object is rejected (422)', [], applied('A_', { x: '1' }), invalid('metadata.name')],
    ['apply as a dry run conflicts too (409)', [applied('a', { x: '1' })], applied('a', { x: '2' }, 'fieldManager=two&dryRun=All'), conflicts('Apply failed with 1 conflict: conflict with "one": .data.x', '.data.x')],
    ['applying a Deployment again changes nothing', [keep('d', apply(`${deployments}/d`, deployment(container('c', 'i'))))], apply(`${deployments}/d`, deployment(container('c', 'i'))), ok({ metadata: { resourceVersion: '{d.metadata.resourceVersion}', generation: 1 } })],
    ['applying a Service again changes nothing', [keep('s', apply('~/services/s', service))], apply('~/services/s', service), ok({ metadata: { resourceVersion: '{s.metadata.resourceVersion}' }, spec: { clusterIP: '{s.spec.clusterIP}' } })],
    ['applying a Pod again changes nothing', [keep('p', apply('~/pods/p', { apiVersion: 'v1', kind: 'Pod', ...pod('p') }))], apply('~/pods/p', { apiVersion: 'v1', kind: 'Pod', ...pod('p') }), ok({ metadata: { resourceVersion: '{p.metadata.resourceVersion}' } })],
    ['disjoint appliers each own their fields, sorted by time', [applied('a', { x: '1' }, 'fieldManager=one'), applied('a', { y: '2' }, 'fieldManager=two')], get('~/configmaps/a'), ok({ data: { x: '1', y: '2' }, ...owners({ manager: 'one', ...dataOf('x') }, { manager: 'two', ...dataOf('y') }) })],
    ['a shared field stays until its last owner omits it', [applied('a', { x: '1', y: '1' }), applied('a', { x: '1' }, 'fieldManager=two')], applied('a', {}), ok({ data: { x: '1' } }, { absent: ['data.y'] })],
    ['a list item is removed with its only owner', [apply(`${deployments}/d`, deployment(container('c', 'i'), container('e', 'j')))], apply(`${deployments}/d`, deployment(container('c', 'i'))), ok({ spec: { template: { spec: { containers: [{ name: 'c' }] } } } }, { absent: ['spec.template.spec.containers.1'] })],
  ],
};

// prettier-ignore
export const strategicMerging: Table = {
  name: 'strategic merge patch',
  rows: [
    ['merges items by key', [post(deployments, deployment(container('c', 'i'), container('d', 'i')))], strategic(`${deployments}/d`, template({ containers: [{ name: 'd', image: 'j' }] })), ok({ spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }, { name: 'd', image: 'j' }] } } } })],
    ['prepends new items', [post(deployments, deployment(container('c', 'i')))], strategic(`${deployments}/d`, template({ containers: [container('e', 'j')] })), ok({ spec: { template: { spec: { containers: [{ name: 'e' }, { name: 'c' }] } } } })],
    ['deletes items', [post(deployments, deployment(container('c', 'i'), container('d', 'i')))], strategic(`${deployments}/d`, template({ containers: [{ $patch: 'delete', name: 'c' }] })), ok({ spec: { template: { spec: { containers: [{ name: 'd' }] } } } })],
    ['replaces a list', [post(deployments, deployment(container('c', 'i')))], strategic(`${deployments}/d`, template({ containers: [{ $patch: 'replace' }, container('z', 'k')] })), ok({ spec: { template: { spec: { containers: [{ name: 'z' }] } } } })],
    ['removes a field', [aConfigMap('a', { data: { x: '1', y: '2' } })], strategic('~/configmaps/a', { data: { x: null } }), ok({ data: { y: '2' } }, { absent: ['data.x'] })],
    ['removes strings from a list', [aConfigMap('a', { metadata: { finalizers: ['e.com/a', 'e.com/b'] } })], strategic('~/configmaps/a', { metadata: { '$deleteFromPrimitiveList/finalizers': ['e.com/a'] } }), ok({ metadata: { finalizers: ['e.com/b'] } })],
    ['an unknown directive is rejected (422)', [aConfigMap('a')], strategic('~/configmaps/a', { $patch: 'burn' }), refused(422, 'Invalid')],
    ['a list as a patch is rejected (400)', [aConfigMap('a')], strategic('~/configmaps/a', []), refused(400, 'BadRequest')],
  ],
};
