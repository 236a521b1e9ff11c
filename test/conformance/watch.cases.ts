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

/** What a watch brings: `ADDED name`, `BOOKMARK`, `BOOKMARK end` (of the initial events), or parts of the event. */
type WantedEvent = string | object;

/** Done before, the watch (which a timeout ends), done while it is open, all that it brings. */
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

/** The life of one object, all of it before the watch: it comes from history. */
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
  row('unset begins with what is there', two, '', ['ADDED c1', 'ADDED c2']),
  row('unset goes on with changes', two, '', ['ADDED c1', 'ADDED c2', 'MODIFIED c1', 'ADDED c3', 'DELETED c2'], { during: [relabel('c1', '9'), labelled('c3', '3'), del('~/configmaps/c2')] }),
  row('empty begins with what is there', two, '&resourceVersion=', ['ADDED c1', 'ADDED c2']),
  row('0 begins with what is there', two, '&resourceVersion=0', ['ADDED c1', 'ADDED c2']),
  row('a version begins after it', two, now, []),
  row('a version goes on with changes', two, now, ['MODIFIED c1', 'DELETED c1'], { during: [relabel('c1', '9'), del('~/configmaps/c1')] }),
  row('an older version catches up', two, '&resourceVersion={c1.metadata.resourceVersion}', ['ADDED c2']),
  row('a version of the future brings nothing', two, '&resourceVersion=999999999999', []),
  row('the whole life of an object', life, fromBefore, ['ADDED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev2', 'DELETED ev2']),
  row('resumed from an event', life, '&resourceVersion={ev.metadata.resourceVersion}', ['MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev2', 'DELETED ev2']),
  row('objects that enter and leave a selector', life, `,n=1${fromBefore}`, ['ADDED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev', 'MODIFIED ev', 'MODIFIED ev', 'DELETED ev', 'ADDED ev2', 'DELETED ev2']),
  row('objects that are in a selector for a while', life, `,n=2${fromBefore}`, ['ADDED ev', 'DELETED ev']),
  row('objects that enter and leave it while it is watched', two, ',n=1', ['ADDED c1', 'DELETED c1', 'ADDED c2', 'DELETED c2'], { during: [relabel('c1', '2'), relabel('c2', '1'), del('~/configmaps/c2')] }),
  row('one name', life, `${fromBefore}&fieldSelector=metadata.name=ev2`, ['ADDED ev2', 'DELETED ev2']),
  row('no name', life, `${fromBefore}&fieldSelector=metadata.name=none`, []),
  row('a limit is ignored', two, '&limit=1', ['ADDED c1', 'ADDED c2']),
  row('initial events end with a bookmark', two, initial + bookmarks, ['ADDED c1', 'ADDED c2', 'BOOKMARK end']),
  row('initial events, version 0', two, `${initial}${bookmarks}&resourceVersion=0`, ['ADDED c1', 'ADDED c2', 'BOOKMARK end']),
  row('initial events, a version', two, `${initial}${bookmarks}${now}`, ['ADDED c1', 'ADDED c2', 'BOOKMARK end']),
  row('initial events of nothing', [], initial + bookmarks, ['BOOKMARK end']),
  row('initial events without bookmarks', two, initial, ['ADDED c1', 'ADDED c2']),
  row('initial events, then changes', two, initial + bookmarks, ['ADDED c1', 'ADDED c2', 'BOOKMARK end', 'MODIFIED c1', 'BOOKMARK'], { during: [relabel('c1', '9')] }),
  row('no initial events', two, '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', []),
  row('no initial events, but changes', two, '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', ['DELETED c1'], { during: [del('~/configmaps/c1')] }),
  row('a short watch without changes has no bookmark', two, now + bookmarks, []),
  row('a bookmark holds nothing but a version', [labelled('c1', '1')], initial + bookmarks, ['ADDED c1', { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: expect.stringMatching(/^\d+$/), annotations: { '{api:initial-events-end}': 'true' } } } }]),
  row('a deletion carries the last state and its own version', [aConfigMap('c1', { data: { x: '1' }, metadata: { labels: { lw: 'x' } } }), keep('all', get('~/configmaps'))], now, [{ type: 'DELETED', object: { data: { x: '1' }, metadata: { name: 'c1', resourceVersion: expect.not.stringMatching(/^{c1.metadata.resourceVersion}$/) } } }], { during: [del('~/configmaps/c1')] }),
  row('what leaves a selector is shown as it was', two, `,n=1${now}`, [{ type: 'DELETED', object: { metadata: { name: 'c1', labels: { n: '1' } } } }], { during: [relabel('c1', '2')] }),
  row('metadata alone', two, '', [{ type: 'ADDED', object: { kind: 'PartialObjectMetadata', apiVersion: '{group:meta}/v1', metadata: { name: 'c1' } } }, 'ADDED c2'], { headers: asMetadata }),
  row('a table', two, '', [{ type: 'ADDED', object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }], rows: [{ cells: ['c1', 0, expect.any(String)] }] } }, { type: 'ADDED', object: { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['c2', 0, expect.any(String)] }] } }], { headers: asTable }),
  row('any truth turns it on', two, '', ['ADDED c1', 'ADDED c2'], { watch: '~/configmaps?watch=yes&labelSelector=lw' }),
  row('all namespaces', two, '', ['ADDED c1', 'ADDED c2', 'DELETED c1'], { watch: '/api/v1/configmaps?watch=1&labelSelector=lw&fieldSelector=metadata.namespace={ns}', during: [del('~/configmaps/c1')] }),
  row('other namespaces are not seen', two, now, ['ADDED c9'], { during: [post('/api/v1/namespaces', { metadata: { name: '{ns}-x' } }), post('/api/v1/namespaces/{ns}-x/configmaps', configMap('c8', { metadata: { labels: { lw: 'x' } } })), labelled('c9', '9')] }),
  row('the older path', two, '', ['ADDED c1', 'ADDED c2'], { watch: '/api/v1/watch/namespaces/{ns}/configmaps?labelSelector=lw' }),
  row('the older path of one object', two, '', ['ADDED c1', 'MODIFIED c1'], { watch: '/api/v1/watch/namespaces/{ns}/configmaps/c1?labelSelector=lw', during: [relabel('c1', '9'), relabel('c2', '9')] }),
  row('a dry run is no change', two, now, [], { during: [put('~/configmaps/c1?dryRun=All', configMap('c1'))] }),
  row('a write that changes nothing is no change', two, now, [], { during: [relabel('c1', '1')] }),
  row('one name begins with what is there', two, '&fieldSelector=metadata.name=c2', ['ADDED c2']),
  row('all but one name', two, '&fieldSelector=metadata.name!=c2', ['ADDED c1', 'ADDED c3'], { during: [relabel('c2', '9'), labelled('c3', '3')] }),
  row('one name that comes and goes', two, '&fieldSelector=metadata.name=c9', ['ADDED c9', 'DELETED c9'], { during: [labelled('c9', '1'), relabel('c1', '9'), del('~/configmaps/c9')] }),
  row('initial events of one name', two, `${initial}${bookmarks}&fieldSelector=metadata.name=c2`, ['ADDED c2', 'BOOKMARK end']),
  row('two selectors at once', two, '&fieldSelector=metadata.name!=c2', ['ADDED c1', 'DELETED c1'], { watch: '~/configmaps?watch=1&labelSelector=n%20in%20(1,2)&fieldSelector=metadata.name!=c2', during: [relabel('c2', '1'), relabel('c1', '3')] }),
  row('selectors that are empty', two, '', ['ADDED c1', 'ADDED c2'], { watch: '~/configmaps?watch=1&labelSelector=&fieldSelector=metadata.name!=kube-root-ca.crt' }),
  row('a field of the status that objects enter and leave', [aPod('p'), aPod('q')], '', ['ADDED p', 'MODIFIED p', 'ADDED q', 'DELETED p', 'MODIFIED q', 'DELETED q'], { watch: '~/pods?watch=1&fieldSelector=status.phase=Running', during: [phase('p', 'Running'), patch('~/pods/p', { metadata: { labels: { a: 'b' } } }), phase('q', 'Running'), phase('p', 'Succeeded'), del('~/pods/q?gracePeriodSeconds=0')] }),
  row('a field of the spec that is indexed', [aPod('p', { spec: { nodeName: 'n1' } }), aPod('q', { spec: { nodeName: 'n2' } })], '', ['ADDED q', 'MODIFIED q'], { watch: '~/pods?watch=1&fieldSelector=spec.nodeName=n2', during: [phase('p', 'Running'), phase('q', 'Running')] }),
  row('a deletion as metadata', two, now, [{ type: 'DELETED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'c1' } } }], { headers: asMetadata, during: [del('~/configmaps/c1')] }),
  row('a table whose rows carry nothing', two, '&includeObject=None', [{ object: { rows: [{ cells: ['c1', 0, expect.any(String)], object: null }] } }, { object: { columnDefinitions: null, rows: [{ object: null }] } }], { headers: asTable }),
  row('a bookmark as a table', [], initial + bookmarks, [{ type: 'BOOKMARK', object: { kind: 'Table', metadata: { resourceVersion: expect.stringMatching(/^\d+$/) }, rows: [{ object: { kind: 'PartialObjectMetadata' } }] } }], { headers: asTable }),
  row('a shard selector, with its gate off', two, '&shardSelector=x', ['ADDED c1', 'ADDED c2']),
];

const unwatchable = (query: string, want: Row[3]): Row => [
  query,
  [],
  get(`~/configmaps?watch=1&timeoutSeconds=1${query}`),
  want,
];

// prettier-ignore
export const watchRefusals: Table = {
  name: 'watches that are refused',
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
    ['a timeout that is no number', [], get('~/configmaps?watch=1&timeoutSeconds=x'), refused(400, 'BadRequest', 'strconv.ParseInt: parsing "x": invalid syntax')],
    ['an encoding that cannot stream', [], get('~/configmaps?watch=1&timeoutSeconds=1', { accept: 'application/yaml' }), { code: 406, text: /^reason: NotAcceptable$/m }],
    ['a kind that is made for each read', [], get('/api/v1/componentstatuses?watch=1'), refused(405, 'MethodNotAllowed')],
    ['a kind that is only an operation', [], get('/apis/{group:authorization}/v1/subjectaccessreviews?watch=1'), refused(405, 'MethodNotAllowed')],
    ['one object by its own path is only read', [aConfigMap('a')], get('~/configmaps/a?watch=1'), { code: 200, body: { kind: 'ConfigMap' } }],
  ],
};
