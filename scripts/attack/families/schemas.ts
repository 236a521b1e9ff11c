import type { Family, Requests } from '../attack.js';
import { filling, get, many, patch, post, put, remove } from '../requests.js';
import { namespace } from '../templates.js';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = 'attack.example.com';

interface DefinitionOptions {
  /** JSON text of the properties of spec. */
  readonly properties: string;
  /** More fields of the version, each after a comma. */
  readonly version?: string;
  /** More fields of the names, each after a comma. */
  readonly names?: string;
}

const definition = (plural: string, { properties, version = '', names = '' }: DefinitionOptions) =>
  `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"${plural}.${group}"},"spec":{` +
  `"group":"${group}","scope":"Namespaced","names":{"plural":"${plural}","kind":"${plural}"${names}},"versions":[{"name":"v1",` +
  `"served":true,"storage":true${version},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",` +
  `"properties":{${properties}}}}}}}]}}`;
const nested = (open: string, inside: string, close: string, depth: number) =>
  open.repeat(depth) + inside + close.repeat(depth);
const bytes = 2_900_000;

/** Schemas that are costly to validate, compile and publish. */
const schemas: readonly (readonly [about: string, options: () => DefinitionOptions])[] = [
  ['wide properties', () => ({ properties: filling((n) => `"p${n}":{"type":"string"}`, { bytes }) })],
  [
    'wide objects',
    () => ({
      properties: filling(
        (n) => `"p${n}":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`,
        { bytes },
      ),
    }),
  ],
  [
    'deep properties',
    () => ({ properties: `"a":${nested('{"type":"object","properties":{"a":', '{"type":"string"}', '}}', 240)}` }),
  ],
  ['deep items', () => ({ properties: `"a":${nested('{"type":"array","items":', '{"type":"string"}', '}', 480)}` })],
  [
    'alternatives',
    () => ({ properties: `"a":{"type":"string","anyOf":[${filling((n) => `{"pattern":"^a${n}$"}`, { bytes })}]}` }),
  ],
  [
    'nested alternatives',
    () => ({
      properties: `"a":{"type":"object","properties":{"b":{"type":"string"}},"anyOf":[${nested('{"allOf":[{"not":', '{"required":["b"]}', '},{"required":["b"]}]}', 150)}]}`,
    }),
  ],
  ['an enumeration', () => ({ properties: `"a":{"type":"string","enum":[${filling((n) => `"v${n}"`, { bytes })}]}` })],
  [
    'equal values in an enumeration',
    () => ({ properties: `"a":{"type":"string","enum":[${filling(() => '"v"', { bytes })}]}` }),
  ],
  [
    'objects in an enumeration',
    () => ({
      properties: `"a":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"enum":[${filling((n) => `{"v":${n}}`, { bytes })}]}`,
    }),
  ],
  [
    'patterns',
    () => ({ properties: filling((n) => `"p${n}":{"type":"string","pattern":"^(a|b|c${n})+$"}`, { bytes }) }),
  ],
  ['a long pattern', () => ({ properties: `"a":{"type":"string","pattern":"${'(a|b)*'.repeat(400_000)}"}` })],
  [
    'a pattern of repetitions',
    () => ({ properties: `"a":{"type":"string","pattern":"((((a{1,30}){1,30}){1,30}){1,30})"}` }),
  ],
  ['defaults', () => ({ properties: filling((n) => `"p${n}":{"type":"string","default":"d${n}"}`, { bytes }) })],
  [
    'a large default',
    () => ({
      properties: `"a":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{${filling((n) => `"k${n}":1`, { bytes })}}}`,
    }),
  ],
  [
    'required fields',
    () => ({ properties: `"a":{"type":"object","required":[${filling((n) => `"r${n}"`, { bytes })}]}` }),
  ],
  [
    'keys of a list',
    () => ({
      properties: `"a":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[${filling((n) => `"k${n}"`, { bytes })}],"items":{"type":"object","properties":{"k1":{"type":"string"}}}}`,
    }),
  ],
  [
    'rules',
    () => ({
      properties: `"a":{"type":"string","x-kubernetes-validations":[${filling((n) => `{"rule":"self != 'a${n}'"}`, { bytes })}]}`,
    }),
  ],
  [
    'one long rule',
    () => ({
      properties: `"a":{"type":"string","x-kubernetes-validations":[{"rule":"${'('.repeat(100_000)}self${')'.repeat(100_000)}"}]}`,
    }),
  ],
  [
    'columns',
    () => ({
      properties: '"a":{"type":"string"}',
      version: `,"additionalPrinterColumns":[${filling((n) => `{"name":"c${n}","type":"string","jsonPath":".spec.a"}`, { bytes })}]`,
    }),
  ],
  [
    'a long path of a column',
    () => ({
      properties: '"a":{"type":"string"}',
      version: `,"additionalPrinterColumns":[{"name":"c","type":"string","jsonPath":"${'.a'.repeat(1_200_000)}"}]`,
    }),
  ],
  [
    'selectable fields',
    () => ({
      properties: '"a":{"type":"string"}',
      version: `,"selectableFields":[${filling(() => '{"jsonPath":".spec.a"}', { bytes })}]`,
    }),
  ],
  [
    'categories',
    () => ({ properties: '"a":{"type":"string"}', names: `,"categories":[${filling((n) => `"c${n}"`, { bytes })}]` }),
  ],
  ['descriptions', () => ({ properties: `"a":{"type":"string","description":"${'d'.repeat(bytes)}"}` })],
];

/** Valid definitions for hostile custom resources. */
const modest: DefinitionOptions = {
  properties: [
    '"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}',
    '"sets":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"integer"}}}}',
    '"map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],"items":{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"string","default":"x"}}}}',
    `"any":{"type":"array","items":{"type":"string","anyOf":[${many(200, (n) => `{"pattern":"^a${n}$"}`).join()}]}}`,
    `"one":{"type":"array","items":{"type":"string","oneOf":[${many(200, (n) => `{"enum":["a${n}"]}`).join()}]}}`,
    `"rich":{"type":"array","items":{"type":"object","properties":{"d":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{"t":"${'x'.repeat(2_000)}"}}}}}`,
    '"text":{"type":"array","items":{"type":"string","pattern":"^(a+)+$","maxLength":2}}',
    '"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}',
    '"open":{"type":"object","additionalProperties":{"type":"integer","minimum":5,"multipleOf":5}}',
    '"unique":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}',
    '"embedded":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}',
  ].join(),
  version: `,"subresources":{"status":{}},"additionalPrinterColumns":[${many(50, (n) => `{"name":"c${n}","type":"string","jsonPath":".spec.map[*].a"}`).join()}],"selectableFields":[]`,
};

const values: readonly (readonly [about: string, field: string, open: '{' | '[', entry: (n: number) => string])[] = [
  ['a set of different texts', 'set', '[', (n) => `"v${n}"`],
  ['a set of equal texts', 'set', '[', () => '"v"'],
  ['a set of objects', 'sets', '[', (n) => `{"a":${n}}`],
  ['a set of equal objects', 'sets', '[', () => '{"a":1}'],
  ['a list by keys', 'map', '[', (n) => `{"a":"k${n}","b":${n}}`],
  ['a list of equal keys', 'map', '[', () => '{"a":"k","b":1}'],
  ['a list without keys', 'map', '[', () => '{}'],
  ['values with alternatives', 'any', '[', (n) => `"b${n}"`],
  ['values with one alternative', 'one', '[', (n) => `"a${n % 200}"`],
  ['values that have defaults', 'rich', '[', () => '{}'],
  ['values for a pattern', 'text', '[', () => '"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"'],
  ['free fields', 'free', '{', (n) => `"k${n}":1`],
  ['numbers that are too small', 'open', '{', (n) => `"k${n}":${n % 5}`],
  ['fields to prune', 'none', '{', (n) => `"k${n}":1`],
  ['objects to prune', 'map', '[', (n) => `{"a":"k${n}","b":${n},"u":1}`],
  ['embedded objects', 'embedded', '[', (n) => `{"apiVersion":"v1","kind":"X","metadata":{"name":"n${n}"}}`],
  ['embedded objects without a kind', 'embedded', '[', () => '{"metadata":{"u":1}}'],
];

const shortSchemas = new Set(['wide properties', 'an enumeration', 'patterns', 'defaults', 'columns', 'alternatives']);
const shortValues = new Set([
  'a set of different texts',
  'a set of objects',
  'a list by keys',
  'a list of equal keys',
  'values with alternatives',
  'values that have defaults',
  'fields to prune',
]);

/**
 * CustomResourceDefinitions that are costly to accept and to serve, and costly custom resources of ordinary
 * definitions.
 */
export const schemasFamily: Family = {
  name: 'schemas',
  *requests({ isShort, round }): Requests {
    for (const [index, [about, options]] of schemas.entries()) {
      if (isShort && !shortSchemas.has(about)) continue;
      const plural = `hostile${index}r${round}`;
      const named = `${definitions}/${plural}.${group}`;
      const created = yield post(`schema: ${about}`, definitions, definition(plural, options()));
      if (created.code !== 201) continue;
      yield* waitFor(named);
      const objects = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
      yield post(`schema: ${about}, an object`, objects, {
        apiVersion: `${group}/v1`,
        kind: plural,
        metadata: { name: 'o' },
        spec: { a: 'a1' },
      });
      yield get(`schema: ${about}, a table`, objects, {
        headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
      });
      yield get(`schema: ${about}, OpenAPI v3`, `/openapi/v3/apis/${group}/v1`);
      if (!isShort || index === 0) yield get(`schema: ${about}, OpenAPI v2`, '/openapi/v2');
      yield patch(`schema: ${about}, labelled`, named, '{"metadata":{"labels":{"a":"b"}}}', 'mergePatch');
      yield remove(`schema: ${about}, deleted`, named);
    }
    yield* valuesOf(isShort, round);
    if (!isShort) yield* manyDefinitions(round);
  },
};

/** Waits for the conditions: until then the kind is not served. */
function* waitFor(named: string): Requests {
  for (let tries = 0; tries < 100; tries++) {
    const { code, bytes: text } = yield get('is it established?', named);
    if (code !== 200) return;
    if (
      /"type":"Established","status":"True"|"status":"True","type":"Established"/.test(
        text.toString('latin1').slice(-20_000),
      )
    )
      return;
    if (
      /"status":"True"[^}]*"type":"Established"|"type":"Established"[^}]*"status":"True"/.test(text.toString('latin1'))
    )
      return;
  }
}

function* valuesOf(isShort: boolean, round: number): Requests {
  const plural = `modest${round}`;
  const named = `${definitions}/${plural}.${group}`;
  yield post('a modest schema', definitions, definition(plural, modest));
  yield* waitFor(named);
  const objects = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
  const head = `{"apiVersion":"${group}/v1","kind":"${plural}","metadata":{"name":"v"},"spec":{`;
  for (const [about, field, open, entry] of values) {
    if (isShort && !shortValues.has(about)) continue;
    const body = filling(entry, { head: `${head}"${field}":${open}`, tail: `${open === '[' ? ']' : '}'}}}` });
    const created = yield post(`value: ${about}`, objects, body);
    if (created.code === 201) {
      const other = body.replaceAll('"v', '"w').replaceAll('"k', '"l').replaceAll('{"name":"w"}', '{"name":"v"}');
      yield put(`value: ${about}, all changed`, `${objects}/v`, other);
      yield get(`value: ${about}, a table`, `${objects}/v`, {
        headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
      });
      yield remove(`value: ${about}`, `${objects}/v`);
    }
    const path = `${objects}/v?fieldManager=m&force=true`;
    const applied = yield patch(`value: ${about}, applied`, path, body, 'applyPatch');
    if (applied.code >= 300) continue;
    yield patch(`value: ${about}, applied again`, path, body, 'applyPatch');
    yield patch(`value: ${about}, given up`, path, `${head.slice(0, -1)}}}`.replace(',"spec":}', '}'), 'applyPatch');
    yield remove(`value: ${about}`, `${objects}/v`);
  }
  yield remove('a modest schema', named);
}

/** Many definitions at once: discovery and OpenAPI are recomputed for each. */
function* manyDefinitions(round: number): Requests {
  const plurals = many(150, (n) => `many${round}x${n}`);
  yield plurals.map((plural) =>
    post('one of many definitions', definitions, definition(plural, { properties: '"a":{"type":"string"}' })),
  );
  yield get('discovery of many kinds', '/apis', {
    headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
  });
  yield get('OpenAPI v2 of many kinds', '/openapi/v2');
  yield get('OpenAPI v3 of many kinds', `/openapi/v3/apis/${group}/v1`);
  yield plurals.map((plural) => remove('one of many definitions', `${definitions}/${plural}.${group}`));
}
