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
  refused,
  type Row,
  type Step,
  type Table,
  type Want,
} from './case.js';

const numbered = (n: number) =>
  aConfigMap(`c${n}`, { metadata: { labels: { lw: 'x', n: String(n), odd: String(n % 2) } } });
const five: readonly Step[] = [0, 1, 2, 3, 4].map(numbered);
const given: readonly Step[] = [...five, keep('all', get('~/configmaps'))];
const list = (query: string) => get(`~/configmaps?labelSelector=lw${query}`);

const latest = names('c0', 'c1', 'c2', 'c3', 'c4');
const asOfC2 = names('c0', 'c1', 'c2');
/** The first page, with a continue token. */
const firstTwo: Want = { ...names('c0', 'c1'), body: { metadata: { continue: expect.stringMatching(/./) } } };
const unmatchable = (text: string): Want =>
  refused(422, 'Invalid', `ListOptions.{group:meta} "" is invalid: resourceVersionMatch: ${text}`);
const noMatchWithoutVersion = unmatchable(
  'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
);
const noExactZero = unmatchable('Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
const future = refused(504, 'Timeout', /^Timeout: Too large resource version: 999999999999, current: \d+$/);
const all = '{all.metadata.resourceVersion}';
const c2 = '{c2.metadata.resourceVersion}';

/** The table of the API documentation: resourceVersionMatch × paging × resourceVersion. */
// prettier-ignore
export const listing: Table = {
  name: 'list by resourceVersion, resourceVersionMatch and limit',
  everywhere: true,
  rows: [
    ['unset', given, list(''), latest],
    ['no resourceVersion, limit: the first page', given, list('&limit=2'), firstTwo],
    ['empty', given, list('&resourceVersion='), latest],
    ['empty resourceVersion, limit: the first page', given, list('&resourceVersion=&limit=2'), firstTwo],
    ['0', given, list('&resourceVersion=0'), latest],
    ['resourceVersion=0, limit: all objects', given, list('&resourceVersion=0&limit=2'), latest],
    ['resourceVersion=00 is resourceVersion=0', given, list('&resourceVersion=00&limit=2'), latest],
    ['a resourceVersion: the latest state', given, list(`&resourceVersion=${all}`), latest],
    ['an older resourceVersion: the latest state', given, list(`&resourceVersion=${c2}`), latest],
    ['a resourceVersion, limit: a page of that version', given, list(`&resourceVersion=${all}&limit=2`), firstTwo],
    ['an older resourceVersion, limit: a page of that version', given, list(`&resourceVersion=${c2}&limit=3`), { ...asOfC2, body: { metadata: { resourceVersion: c2 } } }],
    ['a future resourceVersion: too large (504)', given, list('&resourceVersion=999999999999'), future],
    ['Exact without resourceVersion is rejected (422)', given, list('&resourceVersionMatch=Exact'), noMatchWithoutVersion],
    ['Exact without resourceVersion, limit, is rejected (422)', given, list('&resourceVersionMatch=Exact&limit=2'), noMatchWithoutVersion],
    ['Exact with an empty resourceVersion is rejected (422)', given, list('&resourceVersionMatch=Exact&resourceVersion='), noMatchWithoutVersion],
    ['Exact with resourceVersion=0 is rejected (422)', given, list('&resourceVersionMatch=Exact&resourceVersion=0'), noExactZero],
    ['Exact with resourceVersion=0, limit, is rejected (422)', given, list('&resourceVersionMatch=Exact&resourceVersion=0&limit=2'), noExactZero],
    ['Exact: that version', given, list(`&resourceVersionMatch=Exact&resourceVersion=${all}`), { ...latest, body: { metadata: { resourceVersion: all } } }],
    ['Exact, an older version: that version', given, list(`&resourceVersionMatch=Exact&resourceVersion=${c2}`), { ...asOfC2, body: { metadata: { resourceVersion: c2 } } }],
    ['Exact, an older version, limit: a page of that version', given, list(`&resourceVersionMatch=Exact&resourceVersion=${c2}&limit=2`), { ...firstTwo, body: { metadata: { resourceVersion: c2, continue: expect.stringMatching(/./) } } }],
    ['Exact, a future version: too large (504)', given, list('&resourceVersionMatch=Exact&resourceVersion=999999999999'), future],
    ['NotOlderThan without resourceVersion is rejected (422)', given, list('&resourceVersionMatch=NotOlderThan'), noMatchWithoutVersion],
    ['NotOlderThan without resourceVersion, limit, is rejected (422)', given, list('&resourceVersionMatch=NotOlderThan&limit=2'), noMatchWithoutVersion],
    ['NotOlderThan, resourceVersion=0: all objects', given, list('&resourceVersionMatch=NotOlderThan&resourceVersion=0'), latest],
    ['NotOlderThan, resourceVersion=0, limit: all objects', given, list('&resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=2'), latest],
    ['NotOlderThan, a resourceVersion: the latest state', given, list(`&resourceVersionMatch=NotOlderThan&resourceVersion=${all}`), latest],
    ['NotOlderThan, an older resourceVersion: the latest state', given, list(`&resourceVersionMatch=NotOlderThan&resourceVersion=${c2}`), latest],
    ['NotOlderThan, a resourceVersion, limit: the first page', given, list(`&resourceVersionMatch=NotOlderThan&resourceVersion=${all}&limit=2`), firstTwo],
    ['NotOlderThan, an older resourceVersion, limit: the first page', given, list(`&resourceVersionMatch=NotOlderThan&resourceVersion=${c2}&limit=2`), firstTwo],
    ['NotOlderThan, a future resourceVersion: too large (504)', given, list('&resourceVersionMatch=NotOlderThan&resourceVersion=999999999999'), future],
    ['an empty resourceVersionMatch is absent', given, list('&resourceVersionMatch='), latest],
    ['an empty resourceVersionMatch with a resourceVersion: the latest state', given, list(`&resourceVersionMatch=&resourceVersion=${c2}`), latest],
    ['limit=0 is no limit', given, list(`&limit=0&resourceVersion=${c2}`), latest],
    ['Exact, limit=0: that version', given, list(`&resourceVersionMatch=Exact&limit=0&resourceVersion=${c2}`), asOfC2],
    ['a continue token keeps the older version', [...given, keep('p', list(`&resourceVersion=${c2}&limit=2`))], list('&limit=2&continue={p.metadata.continue}'), { ...names('c2'), body: { metadata: { resourceVersion: c2 } }, absent: ['metadata.continue'] }],
    ['Exact, an older version, has objects deleted since', [...given, del('~/configmaps/c1')], list(`&resourceVersionMatch=Exact&resourceVersion=${c2}`), asOfC2],
    ['Exact, an older version, matches labels of that version', [...given, patch('~/configmaps/c1', { metadata: { labels: { n: '9' } } })], get(`~/configmaps?labelSelector=n%3D1&resourceVersionMatch=Exact&resourceVersion=${c2}`), names('c1')],
    ['the first of two resourceVersions counts', given, list(`&resourceVersion=${c2}&resourceVersion=x&limit=3`), asOfC2],
    ['a future resourceVersion has Retry-After (504)', [], list('&resourceVersion=999999999999'), { ...future, headers: { 'retry-after': '1' } }],
    ['an unknown resourceVersionMatch is rejected (422)', given, list('&resourceVersionMatch=Bogus&resourceVersion=0'), unmatchable('Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""')],
    ['an invalid resourceVersion is rejected (400)', given, list('&resourceVersion=x'), refused(400, 'BadRequest', /^invalid resource version/)],
    ['a negative resourceVersion is rejected (400)', given, list('&resourceVersion=-1'), refused(400, 'BadRequest', /^invalid resource version/)],
    ['sendInitialEvents', given, list('&sendInitialEvents=true'), refused(422, 'Invalid', 'ListOptions.{group:meta} "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list')],
    ['shardSelector is ignored with its feature gate off', given, list('&shardSelector=x'), { ...latest, absent: ['metadata.shardInfo'] }],
  ],
};

// prettier-ignore
export const getting: Table = {
  name: 'get by resourceVersion',
  everywhere: true,
  rows: [
    ['unset', [numbered(1)], get('~/configmaps/c1'), ok({ metadata: { name: 'c1' } })],
    ['0', [numbered(1), get('~/configmaps/c1')], get('~/configmaps/c1?resourceVersion=0'), ok({ metadata: { name: 'c1' } })],
    ['an older resourceVersion: the latest state', [numbered(1)], get('~/configmaps/c1?resourceVersion={c1.metadata.resourceVersion}'), ok({ metadata: { name: 'c1' } })],
    ['a future resourceVersion: too large (504)', [numbered(1)], get('~/configmaps/c1?resourceVersion=999999999999'), future],
    ['an invalid resourceVersion is rejected (400)', [numbered(1)], get('~/configmaps/c1?resourceVersion=x'), refused(400, 'BadRequest')],
    ['an absent object is not found (404)', [], get('~/configmaps/none'), notFound('configmaps "none" not found')],
    ['list options are ignored', [numbered(1)], get('~/configmaps/c1?limit=1&labelSelector=none'), ok({ kind: 'ConfigMap' })],
  ],
};

const asTable = { accept: 'application/json;as=Table;g={group:meta};v=v1' };
const asMetadataList = { accept: 'application/json;as=PartialObjectMetadataList;g={group:meta};v=v1' };

const secret = (name: string) => post('~/secrets', { metadata: { name } });
const secrets: readonly Step[] = ['s0', 's1', 's2', 's3', 's4'].map(secret);
const page = (query: string) => get(`~/secrets?${query}`);
const g1 = keep('g1', page('limit=2'));
const g2 = keep('g2', page('limit=2&continue={g1.metadata.continue}'));
const more = (remainingItemCount: number, rv = '{g1.metadata.resourceVersion}') => ({
  body: { metadata: { continue: expect.stringMatching(/./), remainingItemCount, resourceVersion: rv } },
});
const last = {
  body: { metadata: { resourceVersion: '{g1.metadata.resourceVersion}' } },
  absent: ['metadata.remainingItemCount'],
};

// prettier-ignore
export const paging: Table = {
  name: 'pages',
  everywhere: true,
  rows: [
    ['the first page has a continue token and remainingItemCount', secrets, page('limit=2'), { ...names('s0', 's1'), ...more(3, expect.any(String) as never) }],
    ['the second page', [...secrets, g1], page('limit=2&continue={g1.metadata.continue}'), { ...names('s2', 's3'), ...more(1) }],
    ['the last page has no continue token', [...secrets, g1, g2], page('limit=2&continue={g2.metadata.continue}'), { ...names('s4'), ...last }],
    ['a continue token can be used again', [...secrets, g1, g2], page('limit=2&continue={g1.metadata.continue}'), names('s2', 's3')],
    ['a larger limit gets all remaining objects', [...secrets, g1], page('limit=10&continue={g1.metadata.continue}'), { ...names('s2', 's3', 's4'), ...last }],
    ['no limit gets all remaining objects', [...secrets, g1], page('continue={g1.metadata.continue}'), names('s2', 's3', 's4')],
    ['resourceVersion=0 gets all remaining objects', [...secrets, g1], page('limit=2&resourceVersion=0&continue={g1.metadata.continue}'), names('s2', 's3', 's4')],
    ['pages show one version in spite of later writes', [...secrets, g1, secret('s9'), del('~/secrets/s3')], page('limit=10&continue={g1.metadata.continue}'), names('s2', 's3', 's4')],
    ['a limit above the number of objects: one page', secrets, page('limit=100'), { ...names('s0', 's1', 's2', 's3', 's4'), absent: ['metadata.continue', 'metadata.remainingItemCount'] }],
    ['a limit equal to the number of objects: one page', secrets, page('limit=5'), { ...names('s0', 's1', 's2', 's3', 's4'), absent: ['metadata.continue'] }],
    ['a labelSelector: no remainingItemCount', secrets, page('limit=1&labelSelector=!none'), { ...names('s0'), absent: ['metadata.remainingItemCount'], body: { metadata: { continue: expect.any(String) } } }],
    ['a fieldSelector: no remainingItemCount', secrets, page('limit=1&fieldSelector=metadata.name!=zz'), { ...names('s0'), absent: ['metadata.remainingItemCount'] }],
    ['no matching objects: one empty page', secrets, page('limit=1&labelSelector=none'), { ...names(), absent: ['metadata.continue'] }],
    ['fieldSelector by name over all namespaces', secrets, get('/api/v1/secrets?fieldSelector=metadata.name=s1,metadata.namespace={ns}'), names('s1')],
    ['pages over all namespaces', [...secrets, keep('p', get('/api/v1/secrets?limit=1&fieldSelector=metadata.namespace={ns}'))], get('/api/v1/secrets?limit=2&fieldSelector=metadata.namespace={ns}&continue={p.metadata.continue}'), names('s1', 's2')],
    ['resourceVersion with a continue token is rejected (400)', [...secrets, g1], page('limit=2&resourceVersion=5&continue={g1.metadata.continue}'), refused(400, 'BadRequest', 'specifying resource version is not allowed when using continue')],
    ['Exact with a continue token is rejected (422)', [...secrets, g1], page('limit=2&resourceVersionMatch=Exact&resourceVersion=5&continue={g1.metadata.continue}'), refused(422, 'Invalid', /resourceVersionMatch is forbidden when continue is provided/)],
    ['pages of Tables', [...secrets, keep('t', get('~/secrets?limit=2', asTable))], get('~/secrets?limit=2&continue={t.metadata.continue}', asTable), { code: 200, body: { kind: 'Table', rows: [{ cells: ['s2', 'Opaque', 0, expect.any(String)] }, {}], metadata: { remainingItemCount: 1, resourceVersion: '{t.metadata.resourceVersion}' } } }],
    ['pages of PartialObjectMetadata', secrets, get('~/secrets?limit=1', asMetadataList), { code: 200, body: { kind: 'PartialObjectMetadataList', items: [{ kind: 'PartialObjectMetadata', metadata: { name: 's0' } }], metadata: { remainingItemCount: 4 } } }],
    ['another selector with a continue token applies to the next page', [...secrets, g1], page('limit=9&labelSelector=none&continue={g1.metadata.continue}'), { ...names(), absent: ['metadata.continue'] }],
    ['NotOlderThan with a continue token is rejected (422)', [...secrets, g1], page('limit=2&resourceVersionMatch=NotOlderThan&resourceVersion=5&continue={g1.metadata.continue}'), refused(422, 'Invalid', /resourceVersionMatch is forbidden when continue is provided/)],
    ['a negative limit is no limit', secrets, page('limit=-1'), names('s0', 's1', 's2', 's3', 's4')],
    ['a limit that is not a number is rejected (400)', [], page('limit=x'), refused(400, 'BadRequest', 'strconv.ParseInt: parsing "x": invalid syntax')],
    ['a fractional limit is rejected (400)', [], page('limit=1.5'), refused(400, 'BadRequest', 'strconv.ParseInt: parsing "1.5": invalid syntax')],
    ['a limit beyond int64 is rejected (400)', [], page('limit=99999999999999999999'), refused(400, 'BadRequest', 'strconv.ParseInt: parsing "99999999999999999999": value out of range')],
    ['an invalid continue token is rejected (400)', [], page('continue=x'), refused(400, 'BadRequest', /^invalid continue token: continue key is not valid: illegal base64 data at input byte 0/)],
    ['an empty continue token is rejected (400)', [], page('continue=eyJ9'), refused(400, 'BadRequest', /^invalid continue token/)],
    ['a continue token with a path outside of the list is rejected (400)', [], page('limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIuLi94In0'), refused(400, 'BadRequest', 'invalid continue token: continue key is not valid: ../x')],
    ['a truncated continue token is rejected (400)', [...secrets, g1], page('limit=1&continue={g1.metadata.continue}A'), refused(400, 'BadRequest', /^invalid continue token/)],
    ['a continue token of another list gets an empty page', [...secrets, g1], get('~/configmaps?labelSelector=none&continue={g1.metadata.continue}'), names()],
    ['a continue token with resourceVersion 0 is rejected (400)', [], page('continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiIifQ'), refused(400, 'BadRequest', /incorrect encoded start resourceVersion/)],
  ],
};

const by = (name: string, query: string, ...items: string[]): Row => [
  name,
  five,
  get(`~/configmaps?${query}`),
  names(...items),
];
const bad = (selector: string, message: string | RegExp): Row => [
  selector,
  [],
  get(`~/configmaps?${selector}`),
  refused(400, 'BadRequest', message),
];

// prettier-ignore
export const selecting: Table = {
  name: 'selectors',
  everywhere: true,
  rows: [
    by('=', 'labelSelector=odd%3D1', 'c1', 'c3'),
    by('==', 'labelSelector=odd%3D%3D1', 'c1', 'c3'),
    by('!=', 'labelSelector=lw,odd!%3D1', 'c0', 'c2', 'c4'),
    by('in', 'labelSelector=n%20in%20(1%2C2)', 'c1', 'c2'),
    by('notin', 'labelSelector=odd%20notin%20(1),lw', 'c0', 'c2', 'c4'),
    by('exists', 'labelSelector=odd', 'c0', 'c1', 'c2', 'c3', 'c4'),
    by('is absent', 'labelSelector=lw,!odd'),
    by('>', 'labelSelector=n%3E2', 'c3', 'c4'),
    by('<', 'labelSelector=n%3C2', 'c0', 'c1'),
    by('an empty value', 'labelSelector=odd%3D'),
    by('with blanks', 'labelSelector=%20lw%20%3D%20x%20%2C%20odd%20%3D%200%20', 'c0', 'c2', 'c4'),
    by('an empty value among others', 'labelSelector=odd%20in%20(%2C1)', 'c1', 'c3'),
    by('metadata.name', 'labelSelector=lw&fieldSelector=metadata.name%3Dc1', 'c1'),
    by('another name', 'labelSelector=lw&fieldSelector=metadata.name!%3Dc1', 'c0', 'c2', 'c3', 'c4'),
    by('two names', 'fieldSelector=metadata.name=c1,metadata.name=c2'),
    by('its namespace', 'labelSelector=lw&fieldSelector=metadata.namespace%3D{ns}', 'c0', 'c1', 'c2', 'c3', 'c4'),
    by('another namespace', 'labelSelector=lw&fieldSelector=metadata.namespace%3Dother'),
    ['metadata.namespace over all namespaces', five, get('/api/v1/configmaps?labelSelector=lw&fieldSelector=metadata.namespace={ns}'), latest],
    ['spec.nodeName of Pods', [aPod('p'), aPod('q', { spec: { nodeName: 'n1' } })], get('~/pods?fieldSelector=spec.nodeName=n1'), names('q')],
    ['spec.nodeName= of Pods', [aPod('p'), aPod('q', { spec: { nodeName: 'n1' } })], get('~/pods?fieldSelector=spec.nodeName='), names('p')],
    ['status.phase of Pods', [aPod('p'), aPod('q'), patch('~/pods/q/status', { status: { phase: 'Running' } })], get('~/pods?fieldSelector=status.phase=Running'), names('q')],
    bad('labelSelector=a=b=c', "found '=', expected: ',' or 'end of string'"),
    bad('labelSelector=a%20b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
    bad('labelSelector=a%20in%20b', "unable to parse requirement: found 'b' expected: '('"),
    bad('labelSelector=%21', "unable to parse requirement: found '', expected: identifier"),
    bad('labelSelector=a%3Db%2C%2Cc', "found ',', expected: identifier after ','"),
    bad('labelSelector=a%20%3E%20x', /the value must be an integer$/),
    bad('labelSelector=A_%2F%2Fb%3Dc', /^unable to parse requirement: <nil>: Invalid value: "A_\/\/b"/),
    bad(`labelSelector=a=${'b'.repeat(64)}`, /must be no more than 63 bytes$/),
    bad('fieldSelector=spec.nothing=x', '"spec.nothing" is not a known field selector: only "metadata.name", "metadata.namespace"'),
    bad('fieldSelector=metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
    bad('fieldSelector=metadata.name=%5C', 'invalid field selector: invalid escape sequence: \\'),
    ['an unknown field is rejected (400)', [], get('~/pods?fieldSelector=spec.bad=x'), refused(400, 'BadRequest', 'field label not supported: spec.bad')],
  ],
};

// prettier-ignore
export const collections: Table = {
  name: 'collections',
  everywhere: true,
  rows: [
    ['lists have kind, apiVersion and resourceVersion', [numbered(1)], list(''), ok({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: expect.stringMatching(/^\d+$/) } })],
    ['items have no kind and apiVersion', [numbered(1)], list(''), ok({ items: [{ metadata: { name: 'c1' } }] }, { absent: ['items.0.kind', 'items.0.apiVersion'] })],
    ['items are sorted by name', [numbered(3), numbered(1), numbered(2)], list(''), names('c1', 'c2', 'c3')],
    ['a list after an update has the update', [numbered(1), patch('~/configmaps/c1', { data: { x: '2' } })], list(''), ok({ items: [{ data: { x: '2' } }] })],
    ['a list after a deletion lacks the object', [numbered(1), numbered(2), del('~/configmaps/c1')], list(''), names('c2')],
    ['over all namespaces', [numbered(1)], get('/api/v1/configmaps?labelSelector=lw&fieldSelector=metadata.namespace={ns}'), names('c1')],
    ['a resource does not list others with the same prefix', [numbered(1), post('/api/v1/namespaces', { metadata: { name: '{ns}-x' } }), post('/api/v1/namespaces/{ns}-x/configmaps', configMap('c9', { metadata: { labels: { lw: 'x' } } }))], list(''), names('c1')],
    ['an empty list has items: []', [], list(''), ok({ items: [] })],
    ['an unknown list option is ignored', [numbered(1)], list('&unknown=1'), names('c1')],
  ],
};
