import fc from 'fast-check';
import { fuzzInBatches } from './fuzz-run.js';
import type { mutated } from './objects.js';
import type { FuzzRequest } from './requests.js';
import { ServerUnderFuzz } from './server-under-fuzz.js';
import { chosenSeed } from '../harness/seed.js';

/** FUZZ_OBJECTS=10000 defines more kinds; FUZZ_SEED=n repeats a run. */
const seed = chosenSeed();
const kindsMax = Number(process.env['FUZZ_OBJECTS'] ?? 400);
const timeMs = process.env['FUZZ_OBJECTS'] === undefined ? 8_000 : 3_600_000;
const lanes = 4;
const group = 'fuzz.example.com';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

type Json = Parameters<typeof mutated>[0];
type Fields = { [field: string]: Json };

const fieldNames = ['a', 'b', 'c', 'name', 'kind', 'metadata', 'x-y', 'constructor', 'toString'];
const oddFieldNames = ['__proto__', '', 'a.b', 'x'.repeat(300), '$ref'];
/** Mostly the first; sometimes the second, which is invalid in schemas. */
const mostly = <T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 60, arbitrary: right }, { weight: 1, arbitrary: wrong });
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const fieldName = mostly(fc.constantFrom(...fieldNames), fc.constantFrom(...oddFieldNames));
const patterns = ['^a+$', '(a+)+$', '.*'.repeat(50), '\\p{L}', '(a|a)*b', '^(?:a?){25}a{25}$', '^.{0,1000}$'];
const wrongPatterns = ['[', '(?=a)', '\\d{1000000}', '(?<a>'];
const formats = ['date-time', 'int32', 'int64', 'byte', 'email', 'ipv4', 'uuid', 'duration', 'quantity', 'date', 'x'];
const anyValue = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
/** A record without undefined fields. */
const fields = (model: Record<string, fc.Arbitrary<Json | undefined>>): fc.Arbitrary<Fields> =>
  fc.record(model).map((record) => {
    const kept = Object.entries(record).filter((entry): entry is [string, Json] => entry[1] !== undefined);
    return Object.fromEntries(kept);
  });
const requirement = fields({ required: fc.array(fieldName, { minLength: 1, maxLength: 2 }) });

/** Schemas: most are structural, some are wrong in one place. */
const { schema } = fc.letrec<{ schema: Fields }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fields({
      type: mostly<Json>(fc.constant('string'), fc.constantFrom<Json>('strange', '', 1)),
      pattern: sometimes<Json>(mostly(fc.constantFrom(...patterns), fc.constantFrom(...wrongPatterns))),
      format: sometimes<Json>(fc.constantFrom(...formats)),
      enum: sometimes<Json>(
        fc.array(mostly<Json>(fc.constantFrom('a', 'b'), anyValue), { minLength: 1, maxLength: 3 }),
      ),
      maxLength: sometimes<Json>(mostly(fc.constantFrom(0, 3), fc.constantFrom(-1, 1e300))),
      default: sometimes<Json>(mostly<Json>(fc.constant('a'), anyValue)),
      nullable: sometimes<Json>(fc.boolean()),
    }),
    fields({
      type: fc.constantFrom<Json>('integer', 'number'),
      minimum: sometimes<Json>(fc.constantFrom(0, -1, 5)),
      multipleOf: sometimes<Json>(mostly(fc.constantFrom(1, 0.1, 1e-300), fc.constant(0))),
      default: sometimes<Json>(mostly<Json>(fc.constant(5), anyValue)),
    }),
    fc.constantFrom<Fields>({ 'x-kubernetes-int-or-string': true }, { type: 'boolean' }),
    fields({
      type: fc.constant<Json>('array'),
      items: tie('schema'),
      maxItems: sometimes<Json>(fc.constantFrom(0, 2, 1e9)),
      uniqueItems: mostly<Json | undefined>(fc.constant(undefined), fc.boolean()),
      default: sometimes<Json>(mostly<Json>(fc.constant([]), fc.array(anyValue, { maxLength: 2 }))),
    }),
    tie('schema').map((value): Fields => ({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, value } },
    })),
    fields({
      type: fc.constant<Json>('object'),
      properties: fc.dictionary(fieldName, tie('schema'), { maxKeys: 4 }),
      required: sometimes<Json>(fc.array(fieldName, { minLength: 1, maxLength: 2 })),
      'x-kubernetes-preserve-unknown-fields': sometimes<Json>(fc.constant(true)),
      'x-kubernetes-embedded-resource': sometimes<Json>(fc.constant(true)),
      'x-kubernetes-map-type': sometimes<Json>(fc.constantFrom('granular', 'atomic')),
      default: sometimes<Json>(mostly<Json>(fc.constant({}), anyValue)),
      anyOf: sometimes<Json>(fc.array(requirement, { minLength: 1, maxLength: 2 })),
      not: sometimes<Json>(requirement),
    }),
    fields({ type: fc.constant<Json>('object'), additionalProperties: tie('schema') }),
  ),
}));

const rootSchema = fc.tuple(schema, schema, fc.boolean()).map(([spec, status, keepsUnknown]): Fields => ({
  type: 'object',
  properties: { spec, status },
  ...(keepsUnknown && { 'x-kubernetes-preserve-unknown-fields': true }),
}));
const jsonPath = mostly<Json>(
  fc.constantFrom('.spec', '.spec.a', '.spec.b[0]', '.metadata.name', ".spec['a']", '.spec[*].name'),
  fc.constantFrom('}', ''),
);
/** Selectable fields must have a simple type. */
const selectable = mostly<Json>(fc.constant([]), fc.array(fields({ jsonPath }), { maxLength: 1 }));
const version = fc.record<Fields>(
  {
    name: fc.constant('v1'),
    served: fc.constant(true),
    storage: fc.constant(true),
    schema: rootSchema.map((openAPIV3Schema): Json => ({ openAPIV3Schema })),
    subresources: fc.constantFrom<Json>({}, { status: {} }, { scale: { specReplicasPath: '.spec.a' } }),
    additionalPrinterColumns: fc.array(
      fc.record<Fields>({
        name: fc.constantFrom('A', 'B'),
        type: fc.constantFrom('string', 'date', 'integer'),
        jsonPath,
      }),
      { maxLength: 2 },
    ),
    selectableFields: selectable,
  },
  { requiredKeys: ['name', 'served', 'storage', 'schema'] },
);

/** A value with the field names of schemas, so that rules are reached. */
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<Json>('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaab', 1, -1, 1.5, true, null, '2026-01-01T00:00:00Z', '1Gi'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fieldName, tie('value'), { maxKeys: 4 }) as fc.Arbitrary<Json>,
  ),
}));

interface Case {
  readonly first: Fields;
  readonly second: Fields;
  readonly values: readonly { readonly spec: Json; readonly status: Json }[];
}
const anyCase: fc.Arbitrary<Case> = fc.record({
  first: version,
  second: version,
  values: fc.array(fc.record({ spec: value, status: value }), { minLength: 1, maxLength: 3 }),
});

describe('random schemas of custom kinds, and random objects of them', () => {
  const server = new ServerUnderFuzz();
  let defined = 0;
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  const request = (method: string, target: string, body?: Json, type = 'application/json'): FuzzRequest => ({
    method,
    target,
    headers: body === undefined ? [] : [['content-type', type]],
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)), framing: 'length' as const }),
  });

  /** Defines a kind, writes and reads objects of it, changes its schema, and repeats; returns the first problem. */
  async function problemWith({ first, second, values }: Case, lane: number): Promise<string | undefined> {
    const plural = `things${++defined}`;
    const kind = `Thing${defined}`;
    const definition = (served: Fields): Json => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural, kind }, versions: [served] },
    });
    const collection = `/apis/${group}/v1/namespaces/fuzz/${plural}`;
    const object = (at: number, name: string): Fields => ({
      apiVersion: `${group}/v1`,
      kind,
      metadata: { name },
      ...values[at % values.length]!,
    });
    const apply = (name: string) => `${collection}/${name}?fieldManager=fuzz&force=true`;
    const steps: FuzzRequest[] = [];
    for (const served of [first, second]) {
      if (served === first) steps.push(request('POST', definitions, definition(served)));
      else {
        const spec = (definition(served) as { spec: Json }).spec;
        const target = `${definitions}/${plural}.${group}`;
        steps.push(request('PATCH', target, { spec }, 'application/merge-patch+json'));
      }
      values.forEach((_, at) => {
        steps.push(
          request('POST', `${collection}?fieldValidation=Warn`, object(at, `o${at}`)),
          request('PATCH', apply(`o${at}`), object(at + 1, `o${at}`), 'application/apply-patch+yaml'),
          request('PATCH', `${collection}/o${at}`, { ...values[at]! }, 'application/merge-patch+json'),
          request('PUT', `${collection}/o${at}/status`, object(at, `o${at}`)),
          request('GET', `${collection}/o${at}/scale`),
        );
      });
      const table = { method: 'GET', target: collection, headers: [['accept', tableType]] } satisfies FuzzRequest;
      steps.push(request('GET', collection), table);
    }
    steps.push(request('GET', `/openapi/v3/apis/${group}/v1`), request('DELETE', `${definitions}/${plural}.${group}`));
    for (const step of steps) {
      const problem = await server.send(step, server.client(lane));
      if (problem !== undefined) return `${problem}\n${JSON.stringify(first).slice(0, 3_000)}`;
    }
    return undefined;
  }
  const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1';

  it(
    `every request is answered without a 5xx, seed ${seed}`,
    async () => {
      const tried = await fuzzInBatches(anyCase, {
        seed,
        timeMs,
        itemsMax: kindsMax,
        lanes,
        check: problemWith,
        afterBatch: () => server.probe(),
      });
      expect(tried).toBeGreaterThan(lanes);
      process.stderr.write(`fuzz: ${tried} schemas, answers ${JSON.stringify([...server.answersByCode])}\n`);
      // Created definitions and objects, besides those of the start: enough were accepted.
      expect(server.answersByCode.get(201)).toBeGreaterThan(tried / 8);
    },
    timeMs + 60_000,
  );
});
