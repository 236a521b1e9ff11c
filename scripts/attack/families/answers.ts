import type { Family, Requests } from '../attack.js';
import { filling, get, many, post, remove } from '../requests.js';

const own = '/api/v1/namespaces/answers';
const configMaps = `${own}/configmaps`;
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const table = 'as=Table;g=meta.k8s.io;v=v1';
const metadata = (kind: string) => `as=${kind};g=meta.k8s.io;v=v1`;

/** Accept headers for all encodings and transforms, by name. */
const forms: readonly (readonly [about: string, accept: string, encoding?: string])[] = [
  ['JSON', 'application/json'],
  ['JSON, compressed', 'application/json', 'gzip'],
  ['YAML', 'application/yaml'],
  ['protobuf', 'application/vnd.kubernetes.protobuf'],
  ['protobuf, compressed', 'application/vnd.kubernetes.protobuf', 'gzip'],
  ['CBOR', 'application/cbor'],
  ['a table', `application/json;${table}`],
  ['a table, compressed', `application/json;${table}`, 'gzip'],
  ['a table as CBOR', `application/cbor;${table}`],
  ['metadata', `application/json;${metadata('PartialObjectMetadataList')}`],
  ['metadata as protobuf', `application/vnd.kubernetes.protobuf;${metadata('PartialObjectMetadataList')}`],
];
const oneOf = (accept: string) => accept.replace('MetadataList', 'Metadata');

const large: readonly (readonly [about: string, collection: string, name: string, body: string])[] = [
  [
    'many keys',
    configMaps,
    'wide',
    filling((n) => `"k${n}":"v"`, { head: '{"metadata":{"name":"wide"},"data":{', tail: '}}', bytes: 1_000_000 }),
  ],
  ['one long text', configMaps, 'long', `{"metadata":{"name":"long"},"data":{"a":"${'x\\n'.repeat(900_000)}"}}`],
  [
    'many rules',
    roles,
    'answered',
    filling((n) => `{"verbs":["get"],"apiGroups":[""],"resources":["r${n}"]}`, {
      head: '{"metadata":{"name":"answered"},"rules":[',
      tail: ']}',
      bytes: 1_400_000,
    }),
  ],
];

/** Reads of large objects and of large collections in every encoding. */
export const answersFamily: Family = {
  name: 'answers',
  *requests({ isShort }): Requests {
    yield post('answers', '/api/v1/namespaces', { metadata: { name: 'answers' } });
    for (const [about, collection, name, body] of large) {
      const created = yield post(`stored: ${about}`, collection, body);
      if (created.code !== 201) continue;
      for (const [form, accept, encoding] of forms) {
        if (isShort && /compressed|metadata/.test(form)) continue;
        const headers = { accept: oneOf(accept), ...(encoding !== undefined && { 'accept-encoding': encoding }) };
        yield get(`one object of ${about} as ${form}`, `${collection}/${name}`, { headers });
        yield get(`a list with ${about} as ${form}`, collection, { headers: { ...headers, accept } });
      }
      yield get(`one object of ${about}, for people`, `${collection}/${name}?pretty=true`);
      yield remove('answers', `${collection}/${name}`);
    }
    yield* manyObjects(isShort ? 2_000 : 10_000);
    yield remove('answers', own);
    if (!isShort) yield* manyLabels();
  },
};

function* manyObjects(count: number): Requests {
  yield many(count, (n) =>
    post('one of many', configMaps, {
      metadata: { name: `c${n}`, labels: { a: `v${n}` } },
      data: { a: 'b'.repeat(300) },
    }),
  );
  for (const [form, accept, encoding] of forms) {
    const headers = { accept, ...(encoding !== undefined && { 'accept-encoding': encoding }) };
    yield get(`${count} objects as ${form}`, configMaps, { headers });
    yield get(`${count} objects as ${form}, cached`, `${configMaps}?resourceVersion=0`, { headers });
    const watch = '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    yield get(`${count} objects as ${form}, watched`, configMaps + watch, {
      headers: { ...headers, accept: oneOf(accept) },
      cutAfterMs: 1_500,
    });
  }
  yield get(`${count} objects, for people`, `${configMaps}?pretty=true`);
}

/** Clients choose the values of some labels of request metrics. */
function* manyLabels(): Requests {
  yield many(3_000, (n) =>
    get('paths of every kind', `/apis/g${n}.example.com/v${n}/r${n}?watch=${n % 2}`, {
      headers: { 'user-agent': `agent${n}` },
    }),
  );
  yield get('metrics', '/metrics');
}
