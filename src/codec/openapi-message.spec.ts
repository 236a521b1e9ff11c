import { openApiV2Message } from './openapi-v2-proto.js';
import { openApiV3Message } from './openapi-v3-proto.js';

/** Prints a message: `1{…}` is length-delimited with fields, `1"…"` is text, `1=…` a number. */
function textOf(bytes: Buffer): string {
  const parts: string[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = tag >>> 3;
    if ((tag & 7) === 0) parts.push(`${number}=${varint()}`);
    else if ((tag & 7) === 1) {
      parts.push(`${number}=${bytes.readDoubleLE(at)}`);
      at += 8;
    } else {
      const length = varint();
      const content = bytes.subarray(at, at + length);
      at += length;
      parts.push(number + (isText(content) ? `"${content.toString()}"` : `{${textOf(content)}}`));
    }
  }
  return parts.join(' ');
}

/** True for text; the tags of such small messages are all below the space character. */
function isText(content: Buffer): boolean {
  return content.length > 0 && content.every((byte) => byte >= 0x20 || byte === 0x0a) && content[0] !== 0x0a;
}

function atOnce(steps: Generator<void, Buffer>): Buffer {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
const v2Of = (given: object) => textOf(atOnce(openApiV2Message({ paths: {}, definitions: {}, ...given })));
const v3Of = (given: object) => textOf(atOnce(openApiV3Message({ paths: {}, components: {}, ...given })));

/** Return the only definition, path, operation, parameter, response or schema of a document from its message. */
const v2 = (definition: object) => v2Of({ definitions: { A: definition } });
const v3 = (schema: object) => v3Of({ components: { schemas: { A: schema } } });

it.each<[string, object, string, string]>([
  ['nothing', {}, '', '1{}'],
  ['a type', { type: 'string', format: 'byte' }, '22{1"string"} 2"byte"', '1{25"string" 35"byte"}'],
  ['a description', { description: 'Words.' }, '4"Words."', '1{34"Words."}'],
  ['items', { items: { type: 'string' } }, '23{1{22{1"string"}}}', '1{30{1{1{25"string"}}}}'],
  [
    'properties in their order',
    { required: ['b', 'a'], properties: { b: {}, a: {} } },
    '19"b" 19"a" 25{1{1"b" 2{}} 1{1"a" 2{}}}',
    '1{23"b" 23"a" 31{1{1"b" 2{1{}}} 1{1"a" 2{1{}}}}}',
  ],
  [
    'additionalProperties',
    { additionalProperties: { type: 'string' } },
    '21{1{22{1"string"}}}',
    '1{32{1{1{25"string"}}}}',
  ],
  ['additionalProperties: true', { additionalProperties: true }, '21{2=1}', '1{32{2=1}}'],
  ['additionalProperties: false', { enum: ['X', 'Y'] }, '20{2""X""} 20{2""Y""}', '1{24{2""X""} 24{2""Y""}}'],
  [
    'bounds',
    {
      ...{ multipleOf: 2, maximum: 8, exclusiveMaximum: true, minimum: 0.5, exclusiveMinimum: true },
      ...{ maxLength: 5, minLength: 0, pattern: '^a', maxItems: 6, minItems: 1, uniqueItems: true },
      ...{ maxProperties: 7, minProperties: 300 },
    },
    '6=2 7=8 8=1 9=0.5 10=1 11=5 12=0 13"^a" 14=6 15=1 16=1 17=7 18=300',
    '1{10=2 11=8 12=1 13=0.5 14=1 15=5 16=0 17"^a" 18=6 19=1 20=1 21=7 22=300}',
  ],
  [
    'externalDocs',
    { externalDocs: { description: 'More.', url: 'https://example.com' }, example: [1], title: 'T' },
    '29{1"More." 2"https://example.com"} 30{2"[1]"} 3"T"',
    '1{6{1"More." 2"https://example.com"} 7{2"[1]"} 9"T"}',
  ],
  [
    'an extension',
    { 'x-kubernetes-list-type': 'set' },
    '31{1"x-kubernetes-list-type" 2{2""set""}}',
    '1{36{1"x-kubernetes-list-type" 2{2""set""}}}',
  ],
])('encodes a schema with %s', (_, schema, inV2, inV3) => {
  expect(v2(schema)).toBe(`8{} 9{1{1"A" 2{${inV2}}}}`);
  expect(v3(schema)).toBe(`4{} 5{1{1{1"A" 2{${inV3}}}}}`);
});

it('encodes references', () => {
  expect(v2({ $ref: '#/definitions/B' })).toBe('8{} 9{1{1"A" 2{1"#/definitions/B"}}}');
  expect(v3({ $ref: '#/components/schemas/B' })).toBe('4{} 5{1{1{1"A" 2{2{1"#/components/schemas/B"}}}}}');
  expect(v3({ allOf: [{ $ref: '#/x' }] })).toBe('4{} 5{1{1{1"A" 2{1{26{2{1"#/x"}}}}}}}');
});

it.each<[unknown, string]>([
  ['TCP', '3"TCP"'],
  [5, '1=5'],
  [false, '2=0'],
  [{}, ''],
])('encodes the default %j in v3', (value, want) => {
  expect(v3({ default: value })).toBe(`4{} 5{1{1{1"A" 2{1{33{${want}}}}}}}`);
});

const operation = { operationId: 'read', tags: ['t'], responses: {} };

it('encodes the v2 document without its paths', () => {
  const document = {
    swagger: '2.0',
    info: { title: 'T', version: '1' },
    securityDefinitions: { B: { type: 'apiKey', name: 'n', in: 'header' } },
    security: [{ B: [] }],
  };
  expect(v2Of(document)).toBe('1"2.0" 2{1"T" 2"1"} 13{1{1"B" 2{2{1"apiKey" 2"n" 3"header"}}}} 12{1{1"B" 2{}}} 8{} 9{}');
});

it('encodes v2 operations', () => {
  const item = {
    get: {
      ...operation,
      consumes: ['*/*'],
      produces: ['a/b'],
      schemes: ['https'],
      responses: { 200: { description: 'OK', schema: { $ref: '#/x' } } },
      parameters: [
        { name: 'body', in: 'body', required: true, schema: {} },
        { name: 'q', in: 'query', type: 'string', uniqueItems: true },
        { name: 'p', in: 'path', type: 'string', required: true },
        { $ref: '#/parameters/x' },
      ],
    },
  };
  expect(v2Of({ paths: { '/a': item } })).toBe(
    '8{2{1"/a" 2{2{5"read" 1"t" 9{1{1"200" 2{1{1"OK" 2{1{1"#/x"}}}}}} 7"*/*" 6"a/b" 10"https" ' +
      '8{1{1{2"body" 3"body" 4=1 5{}}}} 8{1{2{3{4"q" 2"query" 6"string" 20=1}}}} ' +
      '8{1{2{4{4"p" 2"path" 5"string" 1=1}}}} 8{2{1"#/parameters/x"}}}}}} 9{}',
  );
});

it('encodes v3 operations', () => {
  const item = {
    post: {
      ...operation,
      parameters: [{ name: 'p', in: 'path', required: true, schema: { type: 'string' } }],
      requestBody: { content: { '*/*': { schema: {} } }, required: true },
      responses: { 200: { description: 'OK', content: { 'a/b': { schema: { $ref: '#/x' } } } } },
    },
  };
  expect(v3Of({ openapi: '3.0.0', info: { title: 'T', version: '1' }, paths: { '/a': item } })).toBe(
    '1"3.0.0" 2{1"T" 6"1"} 4{1{1"/a" 2{6{5"read" 1"t" 8{2{1"200" 2{1{1"OK" 3{1{1"a/b" 2{1{2{1"#/x"}}}}}}}}} ' +
      '6{1{1"p" 2"path" 4=1 10{1{25"string"}}}} 7{1{2{1{1"*/*" 2{1{1{}}}}} 3=1}}}}}} 5{1{}}',
  );
});

it('encodes many pairs in steps', () => {
  const definitions = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`D${i}`, { format: 'x' }]));
  const pairs = Object.keys(definitions).map((name) => `1{1"${name}" 2{2"x"}}`);
  expect(v2Of({ definitions })).toBe(`8{} 9{${pairs.join(' ')}}`);
  const steps = openApiV2Message({ paths: {}, definitions });
  expect([steps.next().done, steps.next().done, steps.next().done, steps.next().done]).toEqual([
    false,
    false,
    false,
    true,
  ]);
});
