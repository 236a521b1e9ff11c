import {
  aConfigMap,
  aPod,
  created,
  ok,
  patch,
  post,
  put,
  refused,
  type Row,
  type Step,
  type Table,
  type Want,
} from './case.js';

const deployments = '/apis/apps/v1/namespaces/{ns}/deployments';
const aDeployment = post(deployments, {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { app: 'd' } },
    template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});
const json = { 'content-type': 'application/json' };
const yaml = { 'content-type': 'application/yaml' };
const accounts = [post('~/serviceaccounts', { metadata: { name: 'sa' } })];

interface Odd {
  readonly name: string;
  readonly given: readonly Step[];
  /** A body with an unknown field and a duplicate field. */
  readonly when: Step;
  readonly found: readonly string[];
  readonly done: Want;
  readonly refused?: Want;
}

/** The same request at each level of fieldValidation, and at the default one. */
function atEveryLevel({ name, given, when, found, done, refused: no }: Odd): Row[] {
  const at = (level: string): Step => ({ ...when, path: when.path + (when.path.includes('?') ? '&' : '?') + level });
  const listed = new RegExp(found.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join(', '));
  return [
    [`${name}: warned of by default`, given, when, { ...done, warnings: found }],
    [`${name}: warned of with fieldValidation=Warn`, given, at('fieldValidation=Warn'), { ...done, warnings: found }],
    [`${name}: ignored with fieldValidation=Ignore`, given, at('fieldValidation=Ignore'), { ...done, warnings: [] }],
    [
      `${name}: rejected with fieldValidation=Strict`,
      given,
      at('fieldValidation=Strict'),
      no ?? refused(400, 'BadRequest', listed),
    ],
  ];
}

const twice = (field: string) => `duplicate field "${field}"`;
const unknown = (field: string) => `unknown field "${field}"`;
const refusedPatch = refused(422, 'Invalid', /^ "" is invalid: patch: Invalid value: .*strict decoding error: /s);

// prettier-ignore
const writes: readonly Odd[] = [
  {
    name: 'POST',
    given: [],
    when: post('~/configmaps', '{"metadata":{"name":"a"},"data":{"x":"1"},"zz":1,"data":{"y":"2"}}', json),
    found: [unknown('zz'), twice('data')],
    done: created({ data: { x: '1', y: '2' } }),
  },
  {
    name: 'PUT',
    given: [aConfigMap('a')],
    when: put('~/configmaps/a', '{"metadata":{"name":"a","name":"a"},"data":{"x":"1"},"zz":1}', json),
    found: [twice('metadata.name'), unknown('zz')],
    done: ok({ data: { x: '1' } }),
  },
  {
    name: 'POST of YAML',
    given: [],
    when: post('~/configmaps', 'metadata:\n  name: a\ndata:\n  x: "1"\n  x: "2"\nzz: 1\n', yaml),
    found: ['line 5: key "x" already set in map', unknown('zz')],
    done: created({ data: { x: '2' } }),
    refused: refused(400, 'BadRequest', /strict decoding error: yaml: unmarshal errors:\n {2}line 5: key "x" already set in map, unknown field "zz"$/),
  },
  {
    name: 'merge patch',
    given: [aConfigMap('a')],
    when: patch('~/configmaps/a', '{"data":{"x":"1","x":"2"},"zz":1}'),
    found: [twice('data.x'), unknown('zz')],
    done: ok({ data: { x: '2' } }),
    refused: refusedPatch,
  },
  {
    name: 'strategic patch',
    given: [aDeployment],
    when: patch(`${deployments}/d`, '{"spec":{"replicas":1,"replicas":2,"zz":1}}', 'strategic-merge'),
    found: [twice('spec.replicas'), unknown('spec.zz')],
    done: ok({ spec: { replicas: 2 } }),
    refused: refusedPatch,
  },
  {
    name: 'JSON patch',
    given: [aConfigMap('a')],
    when: patch('~/configmaps/a', '[{"op":"add","path":"/zz","path":"/yy","value":1,"why":2}]', 'json'),
    found: [`json patch ${twice('[0].path')}`, `json patch ${unknown('[0].why')}`, unknown('yy')],
    done: ok({}),
    refused: refusedPatch,
  },
  {
    name: 'PUT of a status',
    given: [aPod('p')],
    when: put('~/pods/p/status', '{"metadata":{"name":"p"},"status":{"phase":"Failed","phase":"Running","zz":1}}', json),
    found: [twice('status.phase'), unknown('status.zz')],
    done: ok({ status: { phase: 'Running' } }),
  },
  {
    name: 'patch of a status',
    given: [aPod('p')],
    when: patch('~/pods/p/status', '{"status":{"phase":"Failed","phase":"Running","zz":1}}'),
    found: [twice('status.phase'), unknown('status.zz')],
    done: ok({ status: { phase: 'Running' } }),
    refused: refusedPatch,
  },
  {
    name: 'PUT of a scale',
    given: [aDeployment],
    when: put(`${deployments}/d/scale`, '{"metadata":{"name":"d"},"spec":{"replicas":2,"replicas":3,"zz":1}}', json),
    found: [twice('spec.replicas'), unknown('spec.zz')],
    done: ok({ spec: { replicas: 3 } }),
  },
  {
    name: 'patch of a scale',
    given: [aDeployment],
    when: patch(`${deployments}/d/scale`, '{"spec":{"replicas":2,"replicas":3,"zz":1}}'),
    found: [twice('spec.replicas'), unknown('spec.zz')],
    done: ok({ spec: { replicas: 3 } }),
    refused: refusedPatch,
  },
  {
    name: 'eviction',
    given: [aPod('p')],
    when: post('~/pods/p/eviction', '{"metadata":{"name":"x","name":"p"},"zz":1}', json),
    found: [twice('metadata.name'), unknown('zz')],
    done: created({ status: 'Success' }),
  },
  {
    name: 'binding',
    given: [aPod('p')],
    when: post('~/pods/p/binding', '{"metadata":{"name":"p"},"target":{"name":"n1","name":"n2","zz":1}}', json),
    found: [twice('target.name'), unknown('target.zz')],
    done: created({ status: 'Success' }),
  },
  {
    name: 'token',
    given: accounts,
    when: post('~/serviceaccounts/sa/token', '{"spec":{"expirationSeconds":600,"expirationSeconds":700,"zz":1}}', json),
    found: [twice('spec.expirationSeconds'), unknown('spec.zz')],
    done: created({ spec: { expirationSeconds: 700 } }),
  },
  {
    name: 'review',
    given: [],
    when: post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', '{"spec":{"nonResourceAttributes":{"path":"/a","path":"/b","verb":"get","zz":1}}}', json),
    found: [twice('spec.nonResourceAttributes.path'), unknown('spec.nonResourceAttributes.zz')],
    done: created({ spec: { nonResourceAttributes: { path: '/b' } } }),
  },
];

const apply = (body: string, query = '') =>
  patch(`~/configmaps/a?fieldManager=m${query}`, body, 'application/apply-patch+yaml');
const doubled = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n  x: "2"\n';
const many = (count: number) =>
  JSON.stringify({
    metadata: { name: 'a' },
    ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`z${i}`, 1])),
  });

// prettier-ignore
export const oddFields: Table = {
  name: 'unknown and duplicate fields',
  rows: [
    ...writes.flatMap(atEveryLevel),
    ['apply: duplicate fields are warned of by default', [], apply(doubled), created({ data: { x: '2' } }, { warnings: ['line 7: key "x" already set in map'] })],
    ['apply: duplicate fields are ignored with fieldValidation=Ignore', [], apply(doubled, '&fieldValidation=Ignore'), created({ data: { x: '2' } }, { warnings: [] })],
    ['apply: duplicate fields are rejected with fieldValidation=Strict (400)', [], apply(doubled, '&fieldValidation=Strict'), refused(400, 'BadRequest', /line 7: key "x" already set in map/)],
    ['apply: unknown fields are rejected with fieldValidation=Ignore too (422)', [], apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nzz: 1\n', '&fieldValidation=Ignore'), refused(422, 'Invalid', /\.zz: field not declared in schema/)],
    ['a field that occurs three times is reported once', [], post('~/configmaps', '{"metadata":{"name":"a"},"data":{"x":"1","x":"2","x":"3"}}', json), created({ data: { x: '3' } }, { warnings: [twice('data.x')] })],
    ['duplicate fields inside an unknown field are not reported', [], post('~/configmaps', '{"metadata":{"name":"a"},"zz":{"a":1,"a":2}}', json), created({}, { warnings: [unknown('zz')] })],
    ['a wrong type is reported before unknown fields (400)', [], post('~/configmaps?fieldValidation=Strict', '{"metadata":{"name":"a"},"zz":1,"data":{"x":1}}', json), refused(400, 'BadRequest', /cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field/)],
    ['unknown fields are reported before an invalid object (400)', [], post('~/configmaps?fieldValidation=Strict', '{"metadata":{"name":"A_"},"zz":1}', json), refused(400, 'BadRequest', /unknown field "zz"/)],
    ['an unknown field with null is reported', [], post('~/configmaps', '{"metadata":{"name":"a"},"zz":null}', json), created({}, { warnings: [unknown('zz')] })],
    ['field names are case-sensitive', [], post('~/configmaps', '{"metadata":{"name":"a"},"Data":{}}', json), created({}, { warnings: [unknown('Data')] })],
    ['all 90 unknown fields are reported when rejected (400)', [], post('~/configmaps?fieldValidation=Strict', many(90), json), refused(400, 'BadRequest', new RegExp(Array.from({ length: 90 }, (_, i) => unknown(`z${i}`)).join(', ')))],
    ['long field names are truncated in warnings', [], post('~/configmaps', JSON.stringify({ metadata: { name: 'a' }, [`z${'a'.repeat(3000)}`]: 1, [`z${'b'.repeat(3000)}`]: 1 }), json), created({}, { warnings: [/^unknown field "za{240}$/, /^unknown field "zb{240}$/].map((cut) => expect.stringMatching(cut)) })],
    ['all 90 unknown fields are warned of', [], post('~/configmaps', many(90), json), created({}, { warnings: Array.from({ length: 90 }, (_, i) => unknown(`z${i}`)) })],
  ],
};
