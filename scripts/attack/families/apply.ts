import type { Family, Requests } from '../attack.js';
import { filling, patch, post, put, remove } from '../requests.js';
import { namespace } from '../templates.js';

const pods = `/api/v1/namespaces/${namespace}/pods`;
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
const head = (apiVersion: string, kind: string, name: string) =>
  `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${name}"`;

/** Applied configurations by name: the text before, between and after as many entries as fit. */
const wide: readonly (readonly [
  about: string,
  collection: string,
  head: string,
  entry: (n: number) => string,
  tail: string,
])[] = [
  ['data of a map', configMaps, `${head('v1', 'ConfigMap', 'applied')}},"data":{`, (n) => `"k${n}":"v"`, '}}'],
  ['finalizers, a set', configMaps, `${head('v1', 'ConfigMap', 'applied')},"finalizers":[`, (n) => `"a.b/${n}"`, ']}}'],
  ['equal finalizers', configMaps, `${head('v1', 'ConfigMap', 'applied')},"finalizers":[`, () => '"a.b/c"', ']}}'],
  [
    'owners by uid',
    configMaps,
    `${head('v1', 'ConfigMap', 'applied')},"ownerReferences":[`,
    (n) => `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u${n}"}`,
    ']}}',
  ],
  ['labels', configMaps, `${head('v1', 'ConfigMap', 'applied')},"labels":{`, (n) => `"k${n}":"v"`, '}}}'],
  ['unknown fields', configMaps, `${head('v1', 'ConfigMap', 'applied')}}`, (n) => `"u${n}":1`, '}'],
  [
    'managed fields',
    configMaps,
    `${head('v1', 'ConfigMap', 'applied')},"managedFields":[`,
    (n) => `{"manager":"m${n}","operation":"Update"}`,
    ']}}',
  ],
  [
    'containers by name',
    pods,
    `${head('v1', 'Pod', 'applied')}},"spec":{"containers":[`,
    (n) => `{"name":"c${n}","image":"i"}`,
    ']}}',
  ],
  [
    'equal containers',
    pods,
    `${head('v1', 'Pod', 'applied')}},"spec":{"containers":[`,
    () => '{"name":"c","image":"i"}',
    ']}}',
  ],
  [
    'ports by number and protocol',
    pods,
    `${head('v1', 'Pod', 'applied')}},"spec":{"containers":[{"name":"c","image":"i","ports":[`,
    (n) => `{"containerPort":${(n % 65_535) + 1},"protocol":"${n & 1 ? 'TCP' : 'UDP'}"}`,
    ']}]}}',
  ],
  [
    'environment by name',
    deployments,
    `${head('apps/v1', 'Deployment', 'applied')}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","env":[`,
    (n) => `{"name":"E${n}"}`,
    ']}]}}}}',
  ],
  [
    'spread constraints',
    pods,
    `${head('v1', 'Pod', 'applied')}},"spec":{"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[`,
    (n) => `{"topologyKey":"k${n}","whenUnsatisfiable":"DoNotSchedule","maxSkew":1}`,
    ']}}',
  ],
];

/** Server-side apply: wide maps, sets and list maps; forged managedFields; many managers. */
export const applyFamily: Family = {
  name: 'apply',
  *requests({ isShort }): Requests {
    for (const [index, [about, collection, start, entry, end]] of wide.entries()) {
      if (isShort && ![0, 1, 7].includes(index)) continue;
      const separator = about === 'unknown fields' ? ',' : ',';
      const text = (prefix: string) => filling((n) => prefix + entry(n), { head: start, tail: end, separator });
      const body = about === 'unknown fields' ? filling(entry, { head: `${start},`, tail: end }) : text('');
      const path = `${collection}/applied`;
      const applied = yield patch(`${about}`, `${path}?fieldManager=one`, body, 'applyPatch');
      if (applied.code >= 300) continue;
      yield patch(`${about}, the same again`, `${path}?fieldManager=one`, body, 'applyPatch');
      yield patch(`${about}, by another manager`, `${path}?fieldManager=two`, body, 'applyPatch');
      yield patch(
        `${about}, in conflict`,
        `${path}?fieldManager=three`,
        body.replaceAll(':"v"', ':"w"').replaceAll('"i"', '"j"'),
        'applyPatch',
      );
      yield patch(
        `${about}, by force`,
        `${path}?fieldManager=three&force=true`,
        body.replaceAll(':"v"', ':"w"').replaceAll('"i"', '"j"'),
        'applyPatch',
      );
      yield patch(
        `${about}, all given up`,
        `${path}?fieldManager=one`,
        `${start.slice(0, start.indexOf('"applied"') + 9)}}}`,
        'applyPatch',
      );
      yield remove(about, `${path}?gracePeriodSeconds=0`);
      yield patch(about, path, '{"metadata":{"finalizers":null}}', 'mergePatch');
    }
    yield* hostileOwners(isShort);
    yield* manyManagers(isShort ? 12 : 200);
  },
};

/** Clients can write metadata.managedFields. */
function* hostileOwners(isShort: boolean): Requests {
  const entry = (manager: string, fields: string) =>
    `{"manager":"${manager}","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":${fields}}`;
  const started = `${head('v1', 'ConfigMap', 'owned')},"managedFields":[`;
  const rows: [string, string][] = [
    [
      'fields of one owner',
      filling((n) => `"f:k${n}":{}`, {
        head: `${started}${entry('a', '{"f:data":{').slice(0, -1)}`,
        tail: '}}}]},"data":{"k1":"v"}}',
      }),
    ],
    [
      'owners of one field',
      filling((n) => entry(`m${n}`, '{"f:data":{"f:k1":{}}}'), { head: started, tail: ']},"data":{"k1":"v"}}' }),
    ],
    [
      'owners of one name',
      filling(() => entry('m', '{"f:data":{"f:k1":{}}}'), { head: started, tail: ']},"data":{"k1":"v"}}' }),
    ],
    ['deep fields of an owner', `${started}${entry('a', `${'{"f:a":'.repeat(900)}{}${'}'.repeat(900)}`)}]}}`],
    [
      'keys of items',
      filling((n) => `"k:{\\"name\\":\\"c${n}\\"}":{}`, {
        head: `${started}${entry('a', '{"f:data":{').slice(0, -1)}`,
        tail: '}}}]},"data":{"k1":"v"}}',
      }),
    ],
    [
      'values of items',
      filling((n) => `"v:${n}":{}`, {
        head: `${started}${entry('a', '{"f:metadata":{"f:finalizers":{').slice(0, -1)}`,
        tail: '}}}}]},"data":{"k1":"v"}}',
      }),
    ],
    [
      'indexes of items',
      filling((n) => `"i:${n}":{}`, {
        head: `${started}${entry('a', '{"f:data":{').slice(0, -1)}`,
        tail: '}}}]},"data":{"k1":"v"}}',
      }),
    ],
  ];
  for (const [about, body] of isShort ? rows.slice(0, 2) : rows) {
    yield post(`owned: ${about}`, configMaps, body);
    yield patch(
      `owned: ${about}, then applied`,
      `${configMaps}/owned?fieldManager=b&force=true`,
      `${head('v1', 'ConfigMap', 'owned')}},"data":{"k1":"w"}}`,
      'applyPatch',
    );
    yield patch(
      `owned: ${about}, then patched`,
      `${configMaps}/owned?fieldManager=c`,
      '{"data":{"k2":"w"}}',
      'mergePatch',
    );
    yield put(
      `owned: ${about}, then put`,
      `${configMaps}/owned?fieldManager=d`,
      `${head('v1', 'ConfigMap', 'owned')}},"data":{"k3":"w"}}`,
    );
    yield remove('owned', `${configMaps}/owned`);
  }
}

/** Each manager adds an entry that stays. */
function* manyManagers(managers: number): Requests {
  const data = filling((n) => `"k${n}":"v"`, { bytes: 20_000 });
  for (let n = 0; n < managers; n++) {
    const manager = `${'m'.repeat(120)}${n}`;
    yield patch(
      `the ${n + 1}. manager of the same fields`,
      `${configMaps}/managed?fieldManager=${manager}&force=true`,
      `${head('v1', 'ConfigMap', 'managed')}},"data":{${data}}}`,
      'applyPatch',
    );
  }
  yield remove('managed', `${configMaps}/managed`);
}
