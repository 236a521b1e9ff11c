import {
  aConfigMap,
  aPod,
  configMap,
  del,
  get,
  keep,
  patch,
  post,
  put,
  refused,
  type Row,
  type Step,
  type Table,
} from './case.js';

/** An expected event: `ADDED name`, `BOOKMARK`, `BOOKMARK end` (of the initial events), or parts of the event. */
type WantedEvent = string | object;

/** Steps before, the watch (ended by a timeout), steps while it is open, and all expected events. */
export interface WatchRow {
  readonly name: string;
  readonly given: readonly Step[];
  readonly watch: string;
  readonly headers?: Record<string, string>;
  readonly during?: readonly Step[];
  readonly want: readonly WantedEvent[];
}

const labelled = (name: string, n: string): Step => aConfigMap(name, { metadata: { labels: { lw: 'x', n } } });
const two = [labelled('c1', '1'), labelled('c2', '2'), keep('all', get('~/configmaps'))];
const phase = (name: string, to: string) => patch(`~/pods/${name}/status`, { status: { phase: to } });
const relabel = (name: string, n: string) => patch(`~/configmaps/${name}`, { metadata: { labels: { n } } });

/** The life of one object before the watch: events come from history. */
const life: readonly Step[] = [
  keep('before', get('~/configmaps')),
  labelled('ev', '1'),
  patch('~/configmaps/ev', { data: { a: '1' } }),
  relabel('ev', '2'),
  relabel('ev', '1'),
  patch('~/configmaps/ev', { data: { a: '1' } }),
  patch('~/configmaps/ev', { metadata: { finalizers: ['example.com/x'] } }),
  del('~/configmaps/ev'),
  patch('~/configmaps/ev', { metadata: { finalizers: null } }),
  labelled('ev2', '1'),
  keep('gone', del('~/configmaps/ev2')),
];
const fromBefore = '&resourceVersion={before.metadata.resourceVersion}';
const now = '&resourceVersion={all.metadata.resourceVersion}';
const initial = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
const bookmarks = '&allowWatchBookmarks=true';
const asMetadata = { accept: 'application/json;as=PartialObjectMetadata;g={group:meta};v=v1' };
const asTable = { accept: 'application/json;as=Table;g={group:meta};v=v1' };

const row = (
  name: string,
  given: readonly Step[],
  query: string,
  want: readonly WantedEvent[],
  more: Partial<WatchRow> = {},
): WatchRow => ({ name, given, watch: `~/configmaps?watch=1&labelSelector=lw${query}`, want, ...more });

// prettier-ignore
export const watchRows: readonly WatchRow[] = [
  row('no resourceVersion starts with existing objects', two, '', ['ADDED c1', 'ADDED c2']),
  row('no resourceVersion continues with changes', two, '', ['ADDED c1', 'ADDED c2', 'MODIFIED c1', 'ADDED c3', 'DELETED c2'], { during: [relabel('c1', '9'), labelled('c3', '3'), del('~/configmaps/c2')] }),
  row('empty resourceVersion starts with existing objects', two, '&resourceVersion=', ['ADDED c1', 'ADDED c2']),
  row('resourceVersion=0 starts with existing objects', two, '&resourceVersion=0', ['ADDED c1', 'ADDED c2']),
  row('a resourceVersion starts with later changes', two, now, []),
  row('a resourceVersion continues with changes', two, now, ['MODIFIED c1', 'DELETED c1'], { during: [relabel('c1', '9'), del('~/configmaps/c1')] }),
  row('an older resourceVersion sends the changes since', two, '&resourceVersion={c1.metadata.resourceVersion}', ['ADDED c2']),
  row('a future resourceVersion sends nothing', two, '&resourceVersion=999999999999', []),
  row('all changes of an object from history', life, fromBefore, ['ADDED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev2', 'DELETED ev2']),
  row('resumes after the resourceVersion of an event', life, '&resourceVersion={ev.metadata.resourceVersion}', ['MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev2', 'DELETED ev2']),
  row('objects that enter and leave a labelSelector, from history', life, `,n=1${fromBefore}`, ['ADDED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev', 'MODIFIED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev2', 'DELETED ev2']),
  row('objects that match a labelSelector for a time, from history', life, `,n=2${fromBefore}`, ['ADDED ev', 'DELETED ev']),
  row('objects that enter and leave a labelSelector', two, ',n=1', ['ADDED c1', 'DELETED c1', 'ADDED c2', 'DELETED c2'], { during: [relabel('c1', '2'), relabel('c2', '1'), del('~/configmaps/c2')] }),
  row('fieldSelector by name, from history', life, `${fromBefore}&fieldSelector=metadata.name=ev2`, ['ADDED ev2', 'DELETED ev2']),
  row('fieldSelector by an absent name', life, `${fromBefore}&fieldSelector=metadata.name=none`, []),
  row('limit is ignored', two, '&limit=1', ['ADDED c1', 'ADDED c2']),
  row('sendInitialEvents ends initial events with a bookmark', two, initial + bookmarks, ['ADDED c1', 'ADDED c2', 'BOOKMARK end']),
  row('sendInitialEvents with resourceVersion=0', two, `${initial}${bookmarks}&resourceVersion=0`, ['ADDED c1', 'ADDED c2', 'BOOKMARK end']),
  row('sendInitialEvents with a resourceVersion', two, `${initial}${bookmarks}${now}`, ['ADDED c1', 'ADDED c2', 'BOOKMARK end']),
  row('sendInitialEvents without objects', [], initial + bookmarks, ['BOOKMARK end']),
  row('sendInitialEvents without allowWatchBookmarks', two, initial, ['ADDED c1', 'ADDED c2']),
  row('sendInitialEvents continues with changes', two, initial + bookmarks, ['ADDED c1', 'ADDED c2', 'BOOKMARK end', 'MODIFIED c1', 'BOOKMARK'], { during: [relabel('c1', '9')] }),
  row('sendInitialEvents=false sends no objects', two, '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', []),
  row('sendInitialEvents=false sends changes', two, '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', ['DELETED c1'], { during: [del('~/configmaps/c1')] }),
  row('a short watch without changes has no bookmark', two, now + bookmarks, []),
  row('a bookmark contains only a resourceVersion', [labelled('c1', '1')], initial + bookmarks, ['ADDED c1', { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: expect.stringMatching(/^\d+$/), annotations: { '{api:initial-events-end}': 'true' } } } }]),
  row('DELETED has the last state and the revision of the deletion', [aConfigMap('c1', { data: { x: '1' }, metadata: { labels: { lw: 'x' } } }), keep('all', get('~/configmaps'))], now, [{ type: 'DELETED', object: { data: { x: '1' }, metadata: { name: 'c1', resourceVersion: expect.not.stringMatching(/^{c1.metadata.resourceVersion}$/) } } }], { during: [del('~/configmaps/c1')] }),
  row('DELETED of an object that leaves a selector has its last matching state', two, `,n=1${now}`, [{ type: 'DELETED', object: { metadata: { name: 'c1', labels: { n: '1' } } } }], { during: [relabel('c1', '2')] }),
  row('as PartialObjectMetadata', two, '', [{ type: 'ADDED', object: { kind: 'PartialObjectMetadata', apiVersion: '{group:meta}/v1', metadata: { name: 'c1' } } }, 'ADDED c2'], { headers: asMetadata }),
  row('as Tables', two, '', [{ type: 'ADDED', object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }], rows: [{ cells: ['c1', 0, expect.any(String)] }] } }, { type: 'ADDED', object: { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['c2', 0, expect.any(String)] }] } }], { headers: asTable }),
  row('watch=yes is a watch', two, '', ['ADDED c1', 'ADDED c2'], { watch: '~/configmaps?watch=yes&labelSelector=lw' }),
  row('over all namespaces', two, '', ['ADDED c1', 'ADDED c2', 'DELETED c1'], { watch: '/api/v1/configmaps?watch=1&labelSelector=lw&fieldSelector=metadata.namespace={ns}', during: [del('~/configmaps/c1')] }),
  row('changes in other namespaces are not sent', two, now, ['ADDED c9'], { during: [post('/api/v1/namespaces', { metadata: { name: '{ns}-x' } }), post('/api/v1/namespaces/{ns}-x/configmaps', configMap('c8', { metadata: { labels: { lw: 'x' } } })), labelled('c9', '9')] }),
  row('the deprecated watch path', two, '', ['ADDED c1', 'ADDED c2'], { watch: '/api/v1/watch/namespaces/{ns}/configmaps?labelSelector=lw' }),
  row('the deprecated watch path of one object', two, '', ['ADDED c1', 'MODIFIED c1'], { watch: '/api/v1/watch/namespaces/{ns}/configmaps/c1?labelSelector=lw', during: [relabel('c1', '9'), relabel('c2', '9')] }),
  row('a dry run sends nothing', two, now, [], { during: [put('~/configmaps/c1?dryRun=All', configMap('c1'))] }),
  row('a write without a change sends nothing', two, now, [], { during: [relabel('c1', '1')] }),
  row('fieldSelector by name starts with the object', two, '&fieldSelector=metadata.name=c2', ['ADDED c2']),
  row('fieldSelector that excludes a name', two, '&fieldSelector=metadata.name!=c2', ['ADDED c1', 'ADDED c3'], { during: [relabel('c2', '9'), labelled('c3', '3')] }),
  row('fieldSelector by name of an object that is created and deleted', two, '&fieldSelector=metadata.name=c9', ['ADDED c9', 'DELETED c9'], { during: [labelled('c9', '1'), relabel('c1', '9'), del('~/configmaps/c9')] }),
  row('sendInitialEvents with a fieldSelector by name', two, `${initial}${bookmarks}&fieldSelector=metadata.name=c2`, ['ADDED c2', 'BOOKMARK end']),
  row('labelSelector and fieldSelector together', two, '&fieldSelector=metadata.name!=c2', ['ADDED c1', 'DELETED c1'], { watch: '~/configmaps?watch=1&labelSelector=n%20in%20(1,2)&fieldSelector=metadata.name!=c2', during: [relabel('c2', '1'), relabel('c1', '3')] }),
  row('an empty labelSelector matches all', two, '', ['ADDED c1', 'ADDED c2'], { watch: '~/configmaps?watch=1&labelSelector=&fieldSelector=metadata.name!=kube-root-ca.crt' }),
  row('fieldSelector by status.phase', [aPod('p'), aPod('q')], '', ['ADDED p', 'MODIFIED p', 'ADDED q', 'DELETED p', 'MODIFIED q', 'DELETED q'], { watch: '~/pods?watch=1&fieldSelector=status.phase=Running', during: [phase('p', 'Running'), patch('~/pods/p', { metadata: { labels: { a: 'b' } } }), phase('q', 'Running'), phase('p', 'Succeeded'), del('~/pods/q?gracePeriodSeconds=0')] }),
  row('fieldSelector by spec.nodeName', [aPod('p', { spec: { nodeName: 'n1' } }), aPod('q', { spec: { nodeName: 'n2' } })], '', ['ADDED q', 'MODIFIED q'], { watch: '~/pods?watch=1&fieldSelector=spec.nodeName=n2', during: [phase('p', 'Running'), phase('q', 'Running')] }),
  row('DELETED as PartialObjectMetadata', two, now, [{ type: 'DELETED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'c1' } } }], { headers: asMetadata, during: [del('~/configmaps/c1')] }),
  row('as Tables with includeObject=None', two, '&includeObject=None', [{ object: { rows: [{ cells: ['c1', 0, expect.any(String)], object: null }] } }, { object: { columnDefinitions: null, rows: [{ object: null }] } }], { headers: asTable }),
  row('a bookmark as a Table', [], initial + bookmarks, [{ type: 'BOOKMARK', object: { kind: 'Table', metadata: { resourceVersion: expect.stringMatching(/^\d+$/) }, rows: [{ object: { kind: 'PartialObjectMetadata' } }] } }], { headers: asTable }),
  row('shardSelector is ignored with its feature gate off', two, '&shardSelector=x', ['ADDED c1', 'ADDED c2']),
];

const unwatchable = (query: string, want: Row[3]): Row => [
  query,
  [],
  get(`~/configmaps?watch=1&timeoutSeconds=1${query}`),
  want,
];

// prettier-ignore
export const watchRefusals: Table = {
  name: 'refused watches',
  everywhere: true,
  rows: [
    unwatchable('&sendInitialEvents=true', refused(422, 'Invalid', 'ListOptions.{group:meta} "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')),
    unwatchable('&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=5', refused(422, 'Invalid')),
    unwatchable('&resourceVersionMatch=NotOlderThan&resourceVersion=0', refused(422, 'Invalid', /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/)),
    unwatchable('&continue=x', refused(422, 'Invalid', /resourceVersionMatch is forbidden when continue is provided/)),
    unwatchable('&sendInitialEvents=false', refused(422, 'Invalid', /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/)),
    unwatchable('&sendInitialEvents=true&resourceVersionMatch=Bogus', refused(422, 'Invalid', /Unsupported value: "Bogus": supported values: "NotOlderThan"/)),
    unwatchable('&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=x', refused(400, 'BadRequest')),
    unwatchable('&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=999999999999', { ...refused(504, 'Timeout', /Too large resource version: 999999999999/), headers: { 'retry-after': '1' } }),
    unwatchable('&resourceVersion=-1', refused(400, 'BadRequest')),
    unwatchable('&resourceVersion=x', refused(400, 'BadRequest')),
    unwatchable('&labelSelector=a=b=c', refused(400, 'BadRequest')),
    unwatchable('&fieldSelector=spec.x=y', refused(400, 'BadRequest')),
    ['a timeoutSeconds that is not a number is rejected (400)', [], get('~/configmaps?watch=1&timeoutSeconds=x'), refused(400, 'BadRequest', 'strconv.ParseInt: parsing "x": invalid syntax')],
    ['an encoding that cannot stream is not acceptable (406)', [], get('~/configmaps?watch=1&timeoutSeconds=1', { accept: 'application/yaml' }), { code: 406, text: /^reason: NotAcceptable$/m }],
    ['a virtual resource cannot be watched (405)', [], get('/api/v1/componentstatuses?watch=1'), refused(405, 'MethodNotAllowed')],
    ['a create-only resource cannot be watched (405)', [], get('/apis/{group:authorization}/v1/subjectaccessreviews?watch=1'), refused(405, 'MethodNotAllowed')],
    ['watch=1 on the path of an object is ignored', [aConfigMap('a')], get('~/configmaps/a?watch=1'), { code: 200, body: { kind: 'ConfigMap' } }],
  ],
};
