import { customSchema } from './custom-schemas.js';
import type { Schema } from './type-schemas.js';

const fields = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { $ref: '#/meta' } };
const string = { type: 'string' };
const integer = { type: 'integer' };
const open = { 'x-kubernetes-preserve-unknown-fields': true };
const embedded = { 'x-kubernetes-embedded-resource': true };
const intOrString = { 'x-kubernetes-int-or-string': true };
const either = [integer, string];

const fieldOf = (dialect: 'v2' | 'v3', field: Schema, beside: Schema = {}) =>
  customSchema({ type: 'object', ...beside, properties: { field } }, dialect, fields);

it.each<[name: string, author: Schema, v2: Schema, v3?: Schema]>([
  ['a text', { ...string, description: 'D', pattern: '^a' }, { ...string, description: 'D', pattern: '^a' }],
  ['a default', { ...string, default: 'x' }, string],
  ['alternatives', { ...string, anyOf: [{ minLength: 1 }], oneOf: [{}], allOf: [{}], not: { enum: ['x'] } }, string],
  ['null', { ...string, nullable: true }, {}],
  ['null for an object', { type: 'object', nullable: true, properties: { a: string } }, {}],
  ['rules', { ...string, 'x-kubernetes-validations': [] }, { ...string, 'x-kubernetes-validations': [] }],
  [
    'a list of what the older dialect cannot say',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...string, nullable: true } },
    { type: 'array', 'x-kubernetes-list-type': 'set', items: {} },
  ],
  ['a list of anything', { type: 'array', items: open }, { type: 'array', items: open }],
  ['a list that may be null', { type: 'array', nullable: true, items: string }, {}],
  [
    'a map',
    { type: 'object', additionalProperties: { ...integer, default: 1 } },
    { type: 'object', additionalProperties: integer },
  ],
  ['a map of anything', { type: 'object', additionalProperties: true }, { type: 'object', additionalProperties: true }],
  ['unknown fields', { type: 'object', ...open, properties: { a: string } }, open],
  ['a list of unknown type', { type: 'array', ...open, items: string }, open],
  [
    'what has to be there, unless it may be null',
    { type: 'object', required: ['a', 'b'], properties: { a: { ...string, nullable: true }, b: string } },
    { type: 'object', required: ['b'], properties: { a: {}, b: string } },
  ],
  [
    'nothing that has to be there',
    { type: 'object', required: ['a'], additionalProperties: { ...string, nullable: true } },
    { type: 'object', additionalProperties: {} },
  ],
  [
    'a field named like a word',
    { type: 'object', properties: { default: { ...string, default: 'x' } } },
    {
      type: 'object',
      properties: { default: string },
    },
  ],
  ['a number or a text', intOrString, intOrString, { ...intOrString, anyOf: either }],
  ['a number or a text, said twice', { ...intOrString, anyOf: either }, intOrString],
  [
    'a number or a text, with more',
    { ...intOrString, anyOf: [{ minLength: 1 }], allOf: [{ maxLength: 2 }] },
    intOrString,
    { ...intOrString, anyOf: [{ minLength: 1 }], allOf: [{ anyOf: either }, { maxLength: 2 }] },
  ],
  ['a number or a text, said first', { ...intOrString, anyOf: [{}], allOf: [{ anyOf: either }] }, intOrString],
  [
    'an object within',
    { type: 'object', ...embedded, properties: { spec: string } },
    { type: 'object', ...embedded, properties: { ...fields, spec: string }, required: ['kind', 'apiVersion'] },
    { type: 'object', ...embedded, properties: { ...fields, spec: string }, required: ['kind', 'apiVersion'] },
  ],
  [
    'an object within, of any kind',
    { type: 'object', ...embedded, ...open, required: ['kind'] },
    { ...embedded, ...open, required: ['kind'] },
    { type: 'object', ...embedded, ...open, properties: fields, required: ['kind', 'apiVersion'] },
  ],
])('converts the schema of %s', (_, author, v2, v3 = author) => {
  const whole = (field: Schema) => ({ type: 'object', properties: { ...fields, field } });
  expect(fieldOf('v2', author)).toEqual(whole(v2));
  expect(fieldOf('v3', author)).toEqual(whole(v3));
});

it('apiVersion, kind and metadata replace those of the CRD author', () => {
  const author = { type: 'object', properties: { metadata: { type: 'object' }, spec: string } };
  const want = { type: 'object', properties: { ...fields, spec: string } };
  expect(customSchema(author, 'v2', fields)).toEqual(want);
  expect(customSchema(author, 'v3', fields)).toEqual(want);
});

it('v2 omits all fields of a schema that preserves unknown fields', () => {
  const author = { type: 'object', description: 'D', ...open, properties: { spec: string } };
  expect(customSchema(author, 'v2', fields)).toEqual({ type: 'object' });
  expect(customSchema(author, 'v3', fields)).toEqual({ ...author, properties: { ...fields, spec: string } });
});
