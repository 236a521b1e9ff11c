import type { Family, HostileRequest, Requests } from '../attack.js';
import { filling, get, many, post, remove, withBody } from '../requests.js';

const own = '/api/v1/namespaces/selected';
const configMaps = `${own}/configmaps`;
/** Below the limit on headers, which includes the path. */
const queryBytes = 60_000;

const query = (name: string, value: string) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`;
/** As many items as fit, measured as they are encoded in a query. */
const listed = (make: (n: number) => string, head = '', tail = '', bytes = queryBytes * 0.6) =>
  filling(make, { head, tail, bytes });
const token = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const queries: readonly (readonly [about: string, query: string])[] = [
  [
    'requirements by equality',
    query(
      'labelSelector',
      listed((n) => `k${n}=v`),
    ),
  ],
  [
    'requirements of one key',
    query(
      'labelSelector',
      listed((n) => `k!=v${n}`),
    ),
  ],
  [
    'requirements that all match',
    query(
      'labelSelector',
      listed((n) => `!x${n}`),
    ),
  ],
  [
    'a selection from many values',
    query(
      'labelSelector',
      listed((n) => `v${n}`, 'color in (', ')'),
    ),
  ],
  [
    'a selection without many values',
    query(
      'labelSelector',
      listed((n) => `v${n}`, 'color notin (', ')'),
    ),
  ],
  [
    'selections of equal values',
    query(
      'labelSelector',
      listed(() => 'color in (a,a,a)'),
    ),
  ],
  ['commas', query('labelSelector', ','.repeat(queryBytes))],
  ['parentheses', query('labelSelector', `a in ${'('.repeat(18_000)}`)],
  ['exclamation marks', query('labelSelector', '!'.repeat(queryBytes))],
  ['spaces', query('labelSelector', `a${' '.repeat(18_000)}=b`)],
  ['one long value', query('labelSelector', `a=${'b'.repeat(queryBytes - 100)}`)],
  ['one long key', query('labelSelector', `${'a/'.repeat(18_000)}=b`)],
  [
    'comparisons',
    query(
      'labelSelector',
      listed((n) => `k>${n}`, '', '', 15_000),
    ),
  ],
  [
    'fields by equality',
    query(
      'fieldSelector',
      listed(() => 'metadata.name=c1'),
    ),
  ],
  [
    'fields by inequality',
    query(
      'fieldSelector',
      listed((n) => `metadata.name!=d${n}`),
    ),
  ],
  ['escapes in fields', query('fieldSelector', `metadata.name=${'\\,'.repeat(15_000)}`)],
  [
    'unknown fields',
    query(
      'fieldSelector',
      listed((n) => `f${n}=v`),
    ),
  ],
  ['a continue token of nonsense', query('continue', 'A'.repeat(queryBytes))],
  [
    'a continue token with a long start',
    query('continue', token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a'.repeat(30_000) })),
  ],
  [
    'a continue token that is deep',
    query('continue', Buffer.from(`${'['.repeat(20_000)}${']'.repeat(20_000)}`).toString('base64url')),
  ],
  ['a resourceVersion of many digits', query('resourceVersion', '9'.repeat(queryBytes))],
  ['a limit of many digits', query('limit', '9'.repeat(queryBytes))],
  ['one parameter again and again', 'limit=1&'.repeat(7_000)],
  ['many parameters', filling((n) => `p${n}=1`, { separator: '&', bytes: queryBytes })],
  ['percent signs', `labelSelector=${'%'.repeat(queryBytes)}`],
  ['escapes', `labelSelector=${'%41'.repeat(queryBytes / 3)}`],
  ['plus signs', `labelSelector=a${'+'.repeat(queryBytes)}`],
  ['a long timeout', query('timeout', '1h'.repeat(queryBytes / 2))],
  ['a shard of nonsense', query('shardSelector', '('.repeat(18_000))],
];

const shortRows = new Set([
  'requirements by equality',
  'a selection from many values',
  'fields by inequality',
  'a continue token with a long start',
  'escapes',
]);

/** Lists, watches and deletions by selectors that are costly to parse or to match, with many objects. */
export const selectorsFamily: Family = {
  name: 'selectors',
  *requests({ isShort }): Requests {
    const objects = isShort ? 1_500 : 10_000;
    yield post('selected', '/api/v1/namespaces', { metadata: { name: 'selected' } });
    yield many(objects, object);
    for (const [about, text] of queries) {
      if (isShort && !shortRows.has(about)) continue;
      yield get(`list by ${about}`, `${configMaps}?${text}`);
      yield get(
        `watch by ${about}`,
        `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&${text}`,
        { cutAfterMs: 400 },
      );
      yield withBody(`delete by ${about}`, 'DELETE', `${configMaps}?dryRun=All&${text}`, {});
    }
    yield get('a path of many segments', `/api/v1/namespaces/selected${'/a'.repeat(28_000)}`);
    yield get('a path of empty segments', `/${'/'.repeat(queryBytes)}`);
    yield get('a path of dots', `/api${'/..'.repeat(20_000)}`);
    yield get('a long name', `${configMaps}/${'%61'.repeat(18_000)}`);
    yield get('list in pages of one', `${configMaps}?limit=1`);
    yield* watchedWrites(isShort ? 10 : 60);
    yield* deletions(isShort);
  },
};

const object = (n: number): HostileRequest =>
  post(`the ${n}. of many objects`, configMaps, {
    metadata: { name: `c${n}`, labels: { color: `v${n}`, app: 'a' } },
    data: { a: 'b'.repeat(100) },
  });

/** Each write is matched against every watcher's selector. */
function* watchedWrites(watchers: number): Requests {
  const path = `${configMaps}?watch=true&${query(
    'labelSelector',
    listed((n) => `!x${n}`),
  )}`;
  const watches = many(watchers, () => get('watchers by many requirements, and writes', path, { cutAfterMs: 1_500 }));
  const writes = many(20, (n) => object(100_000 + n));
  yield [...watches, ...writes];
}

/** Deletes a collection with large bodies, as dry runs and then for real. */
function* deletions(isShort: boolean): Requests {
  const dry = `${configMaps}?dryRun=All`;
  yield withBody(
    'delete with many dryRun words',
    'DELETE',
    configMaps,
    filling(() => '"All"', { head: '{"kind":"DeleteOptions","apiVersion":"v1","dryRun":[', tail: ']}' }),
  );
  if (!isShort)
    yield withBody(
      'delete with unknown options',
      'DELETE',
      dry,
      filling((n) => `"u${n}":1`, { head: '{"kind":"DeleteOptions","apiVersion":"v1",', tail: '}' }),
    );
  if (!isShort)
    yield withBody(
      'delete with long preconditions',
      'DELETE',
      dry,
      `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"${'u'.repeat(3_000_000)}"}}`,
    );
  yield withBody('delete all of a large collection', 'DELETE', configMaps, {});
  yield remove('selected', own);
}
