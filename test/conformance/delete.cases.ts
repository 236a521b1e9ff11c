import {
  aConfigMap,
  aPod,
  configMap,
  del,
  get,
  keep,
  names,
  notFound,
  ok,
  patch,
  post,
  put,
  refused,
  type Table,
} from './case.js';

const held = aConfigMap('a', { metadata: { finalizers: ['example.com/f'] } });
const gone = [get('~/configmaps/a'), notFound()] as const;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
const noCollection = refused(405, 'MethodNotAllowed');

const aJob = post('/apis/batch/v1/namespaces/{ns}/jobs', {
  metadata: { name: 'j' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
});

// prettier-ignore
export const deleting: Table = {
  name: 'delete',
  everywhere: true,
  rows: [
    ['answers with a Status', [aConfigMap('a')], del('~/configmaps/a'), ok({ kind: 'Status', status: 'Success', details: { name: 'a', kind: 'configmaps', uid: '{a.metadata.uid}' } }, { then: [gone] })],
    ['of another group says its group', [post('/apis/{group:coordination}/v1/namespaces/{ns}/leases', { metadata: { name: 'l' } })], del('/apis/{group:coordination}/v1/namespaces/{ns}/leases/l'), ok({ details: { group: '{group:coordination}', kind: 'leases' } })],
    ['of what is not there', [], del('~/configmaps/none'), notFound('configmaps "none" not found')],
    ['twice', [aConfigMap('a'), del('~/configmaps/a')], del('~/configmaps/a'), notFound()],
    ['with finalizers marks the object', [held], del('~/configmaps/a'), ok({ kind: 'ConfigMap', metadata: { deletionTimestamp: time, deletionGracePeriodSeconds: 0, finalizers: ['example.com/f'] } }, { then: [[get('~/configmaps/a'), ok({ metadata: { deletionTimestamp: time } })]] })],
    ['with finalizers twice keeps the first mark', [held, keep('b', del('~/configmaps/a'))], del('~/configmaps/a'), ok({ metadata: { deletionTimestamp: '{b.metadata.deletionTimestamp}', resourceVersion: '{b.metadata.resourceVersion}' } })],
    ['ends with the last finalizer', [held, del('~/configmaps/a')], patch('~/configmaps/a', { metadata: { finalizers: null } }), ok({ metadata: { name: 'a' } }, { then: [gone] })],
    ['ends with the last finalizer, by PUT', [held, del('~/configmaps/a')], put('~/configmaps/a', configMap('a')), ok({ metadata: { name: 'a' } }, { then: [gone] })],
    ['waits for every finalizer', [aConfigMap('a', { metadata: { finalizers: ['example.com/f', 'example.com/g'] } }), del('~/configmaps/a')], patch('~/configmaps/a', { metadata: { finalizers: ['example.com/g'] } }), ok({}, { then: [[get('~/configmaps/a'), ok({ metadata: { finalizers: ['example.com/g'] } })]] })],
    ['takes no new finalizers', [held, del('~/configmaps/a')], patch('~/configmaps/a', { metadata: { finalizers: ['example.com/f', 'example.com/g'] } }), refused(422, 'Invalid', /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers/)],
    ['cannot be undone', [held, keep('b', del('~/configmaps/a'))], patch('~/configmaps/a', { metadata: { deletionTimestamp: null, labels: { l: '1' } } }), ok({ metadata: { deletionTimestamp: '{b.metadata.deletionTimestamp}' } })],
    ['removing the finalizers alone deletes nothing', [held], patch('~/configmaps/a', { metadata: { finalizers: null } }), ok({}, { then: [[get('~/configmaps/a'), ok()]] })],
    ['with the right uid', [aConfigMap('a')], del('~/configmaps/a', { preconditions: { uid: '{a.metadata.uid}' } }), ok({}, { then: [gone] })],
    ['with another uid', [aConfigMap('a')], del('~/configmaps/a', { preconditions: { uid: 'x' } }), refused(409, 'Conflict', 'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record ({a.metadata.uid}). The object might have been deleted and then recreated')],
    ['with the right resourceVersion', [aConfigMap('a')], del('~/configmaps/a', { preconditions: { resourceVersion: '{a.metadata.resourceVersion}' } }), ok({}, { then: [gone] })],
    ['with a stale resourceVersion', [aConfigMap('a'), patch('~/configmaps/a', { data: { x: '1' } })], del('~/configmaps/a', { preconditions: { resourceVersion: '{a.metadata.resourceVersion}' } }), refused(409, 'Conflict', /^Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition/)],
    ['orphaning holds the object', [aConfigMap('a')], del('~/configmaps/a?propagationPolicy=Orphan'), ok({ metadata: { finalizers: ['orphan'], deletionTimestamp: time } })],
    ['in the foreground holds the object', [aConfigMap('a')], del('~/configmaps/a', { propagationPolicy: 'Foreground' }), ok({ metadata: { finalizers: ['foregroundDeletion'] } })],
    ['in the background', [aConfigMap('a')], del('~/configmaps/a', { propagationPolicy: 'Background' }), ok({ status: 'Success' }, { then: [gone] })],
    ['in the background, by the old option, of what is held', [held], del('~/configmaps/a', { orphanDependents: false }), { code: 202, body: { metadata: { finalizers: ['example.com/f'] } } }],
    ['another policy replaces the one before', [aConfigMap('a'), del('~/configmaps/a?propagationPolicy=Orphan')], del('~/configmaps/a?propagationPolicy=Foreground'), ok({ metadata: { finalizers: ['foregroundDeletion'] } }, { then: [[get('~/configmaps/a'), ok({ metadata: { finalizers: ['foregroundDeletion'] } })]] })],
    ['without a policy keeps the one before', [aConfigMap('a'), del('~/configmaps/a?propagationPolicy=Foreground')], del('~/configmaps/a'), ok({ metadata: { finalizers: ['foregroundDeletion'] } })],
    ['of a job leaves its pods', [aJob], del('/apis/batch/v1/namespaces/{ns}/jobs/j'), ok({ metadata: { finalizers: ['orphan'] } }, { warnings: [expect.stringMatching(/^child pods are preserved by default/)] })],
    ['of a job, with a policy', [aJob], del('/apis/batch/v1/namespaces/{ns}/jobs/j?propagationPolicy=Background'), ok({ status: 'Success' }, { warnings: [] })],
    ['of an event orphans nobody', [post('~/events', { metadata: { name: 'e' }, involvedObject: { namespace: '{ns}' } })], del('~/events/e?propagationPolicy=Orphan'), ok({ status: 'Success' })],
    ['by an unknown policy', [aConfigMap('a')], del('~/configmaps/a?propagationPolicy=X'), refused(422, 'Invalid', 'DeleteOptions.{group:meta} "" is invalid: propagationPolicy: Unsupported value: "X": supported values: "Foreground", "Background", "Orphan", "nil"')],
    ['by two policies', [aConfigMap('a')], del('~/configmaps/a', { orphanDependents: true, propagationPolicy: 'Background' }), refused(422, 'Invalid', /orphanDependents and deletionPropagation cannot be both set/)],
    ['a body goes before the query', [aConfigMap('a')], del('~/configmaps/a?dryRun=All', { kind: 'DeleteOptions', apiVersion: 'v1' }), ok({}, { then: [gone] })],
    ['by a grace period that is no number', [aConfigMap('a')], del('~/configmaps/a?gracePeriodSeconds=x'), refused(400, 'BadRequest', 'strconv.ParseInt: parsing "x": invalid syntax')],
    ['by a body of another kind', [aConfigMap('a')], del('~/configmaps/a', configMap('a')), refused(400, 'BadRequest', /^no kind "ConfigMap" is registered/)],
    ['by a body that is cut short', [aConfigMap('a')], del('~/configmaps/a', '{', { 'content-type': 'application/json' }), refused(400, 'BadRequest', /unexpected end of JSON input/)],
    ['by options in YAML', [aConfigMap('a')], del('~/configmaps/a', 'dryRun: [All]\n', { 'content-type': 'application/yaml' }), ok({}, { then: [[get('~/configmaps/a'), ok()]] })],
    ['if it is of the version in a header', [aConfigMap('a')], del('~/configmaps/a', undefined, { 'if-match': '{a.metadata.resourceVersion}' }), ok({}, { then: [gone] })],
    ['if it is of a version that it has not', [aConfigMap('a')], del('~/configmaps/a', undefined, { 'if-match': '5' }), { ...refused(409, 'Conflict', /the ResourceVersion in the precondition \(5\) does not match/), then: [[get('~/configmaps/a'), ok()]] }],
    ['of what can be read takes no notice of an option that is off', [aConfigMap('a')], del('~/configmaps/a?ignoreStoreReadErrorWithClusterBreakingPotential=true'), ok({}, { then: [gone] })],
    ['of a pod that runs nowhere', [aPod('p')], del('~/pods/p'), ok({ kind: 'Pod', metadata: { name: 'p' } }, { then: [[get('~/pods/p'), notFound()]] })],
    ['of a pod that runs waits for its node', [aPod('p', { spec: { nodeName: 'n1' } })], del('~/pods/p'), ok({ metadata: { deletionGracePeriodSeconds: 30, deletionTimestamp: time, generation: 2 } }, { then: [[get('~/pods/p'), ok()]] })],
    ['of a pod that runs, for less', [aPod('p', { spec: { nodeName: 'n1' } }), del('~/pods/p')], del('~/pods/p?gracePeriodSeconds=5'), ok({ metadata: { deletionGracePeriodSeconds: 5 } })],
    ['of a pod that runs, at once', [aPod('p', { spec: { nodeName: 'n1' } }), del('~/pods/p')], del('~/pods/p?gracePeriodSeconds=0'), ok({}, { then: [[get('~/pods/p'), notFound()]] })],
  ],
};

const three = [
  aConfigMap('a', { metadata: { labels: { l: '1' } } }),
  aConfigMap('b', { metadata: { labels: { l: '2' } } }),
  aConfigMap('c'),
];

// prettier-ignore
export const deletingCollections: Table = {
  name: 'deletecollection',
  everywhere: true,
  rows: [
    ['answers with what it deleted', three, del('~/configmaps?labelSelector=l'), { ...names('a', 'b'), body: { kind: 'ConfigMapList', apiVersion: 'v1' }, then: [[get('~/configmaps?fieldSelector=metadata.name!={system:root-ca.crt}'), names('c')]] }],
    ['by field', three, del('~/configmaps?fieldSelector=metadata.name=b'), { ...names('b'), then: [[get('~/configmaps?labelSelector=l'), names('a')]] }],
    ['of nothing', three, del('~/configmaps?labelSelector=none'), names()],
    ['marks what is held', [aConfigMap('a', { metadata: { finalizers: ['example.com/f'], labels: { l: '1' } } })], del('~/configmaps?labelSelector=l'), { ...names('a'), then: [[get('~/configmaps/a'), ok({ metadata: { deletionTimestamp: time } })]] }],
    ['with a bad selector', three, del('~/configmaps?labelSelector=a=b=c'), refused(400, 'BadRequest', "found '=', expected: ',' or 'end of string'")],
    ['with a limit', three, del('~/configmaps?labelSelector=l&limit=1'), { ...names('a'), body: { metadata: { continue: expect.any(String) } }, then: [[get('~/configmaps?labelSelector=l'), names('b')]] }],
    ['leaves other namespaces alone', [...three, post('/api/v1/namespaces', { metadata: { name: '{ns}-x' } }), post('/api/v1/namespaces/{ns}-x/configmaps', configMap('a', { metadata: { labels: { l: '1' } } }))], del('~/configmaps?labelSelector=l'), { ...names('a', 'b'), then: [[get('/api/v1/namespaces/{ns}-x/configmaps/a'), ok()]] }],
    ['of all namespaces', three, del('/api/v1/configmaps'), noCollection],
    ['of namespaces', [], del('/api/v1/namespaces'), noCollection],
  ],
};

// prettier-ignore
export const namespacing: Table = {
  name: 'namespace',
  everywhere: true,
  rows: [
    ['is labelled with its name', [], get('/api/v1/namespaces/{ns}'), ok({ metadata: { labels: { '{label:metadata.name}': '{ns}' } }, spec: { finalizers: [expect.any(String)] }, status: { phase: 'Active' } })],
    ['the first ones are there', [], get('/api/v1/namespaces/{system:system}'), ok({ status: { phase: 'Active' } })],
    ['some cannot be deleted', [], del('/api/v1/namespaces/default'), refused(403, 'Forbidden', 'namespaces "default" is forbidden: this namespace may not be deleted')],
    ['nor the system one', [], del('/api/v1/namespaces/{system:system}'), refused(403, 'Forbidden', 'namespaces "{system:system}" is forbidden: this namespace may not be deleted')],
    ['a bad name', [], post('/api/v1/namespaces', { metadata: { name: 'a.b' } }), refused(422, 'Invalid')],
    ['is terminated, not removed', [aConfigMap('a', { metadata: { finalizers: ['example.com/f'] } })], del('/api/v1/namespaces/{ns}'), ok({ metadata: { deletionTimestamp: time }, status: { phase: 'Terminating' } })],
    ['that terminates takes nothing new', [aConfigMap('a', { metadata: { finalizers: ['example.com/f'] } }), del('/api/v1/namespaces/{ns}')], post('~/configmaps', configMap('b')), { ...refused(403, 'Forbidden', /^configmaps "b" is forbidden: unable to create new content in namespace .* because it is being terminated$/), body: { details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] } } }],
    ['that terminates still takes changes', [aConfigMap('a', { metadata: { finalizers: ['example.com/f'] } }), del('/api/v1/namespaces/{ns}')], patch('~/configmaps/a', { data: { x: '1' } }), ok({ data: { x: '1' } })],
    ['the name of another is free', [post('/api/v1/namespaces', { metadata: { name: '{ns}-x' } }), aConfigMap('a')], post('/api/v1/namespaces/{ns}-x/configmaps', configMap('a')), { code: 201 }],
    ['reading in one that is not there', [], get('/api/v1/namespaces/none/configmaps'), names()],
    ['reading an object in one that is not there', [], get('/api/v1/namespaces/none/configmaps/a'), notFound('configmaps "a" not found')],
  ],
};
