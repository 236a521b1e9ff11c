import fc from 'fast-check';
import { namingProfile } from '../config/naming-profile.js';
import { Catalog } from '../catalog/catalog.js';
import { ApiError } from '../machinery/api-error.js';
import { decodeCbor } from './cbor-decoder.js';
import { encodeCborValue } from './cbor-encoder.js';
import { CborWriter } from './cbor-writer.js';
import { json, yaml } from './encodings.js';
import type { Decoder } from './encoding.js';
import { cborEncoding } from './cbor.js';
import { protobufEncoding } from './protobuf.js';
import { ValueBudget } from './value-budget.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const protobuf = protobufEncoding('application/vnd.kubernetes.protobuf', () => catalog);
const cbor = cborEncoding(() => catalog);

function outcome(act: () => unknown): string {
  try {
    act();
    return 'read';
  } catch (error) {
    return error instanceof ApiError ? `${error.code} ${error.message}` : String(error);
  }
}

const countOf = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 1
    : Object.values(value).reduce<number>((sum, part) => sum + countOf(part), 1);

it('ValueBudget.takeJson counts the values of a JSON text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, undefined, indent));
      const count = countOf(value);
      // Part of the budget is spent, so that the length of the text alone does not decide.
      const budget = (max: number) => {
        const made = new ValueBudget(max + 1);
        made.take();
        return made;
      };
      expect(outcome(() => budget(count).takeJson(bytes))).toBe('read');
      expect(outcome(() => budget(count - 1).takeJson(bytes))).toMatch(/^413 Request entity too large: limit is/);
    }),
  );
});

const tooMany = '413 Request entity too large: limit is 1000 values';
const configMap = (count: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  data: Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v'])),
});
const pod = (count: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  spec: { securityContext: { supplementalGroups: Array.from({ length: count }, () => 1) } },
});
const yamlOf = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: v\n`).join('');

describe('a body with more values than the limit is refused (413)', () => {
  it.each<[string, Decoder, (count: number) => Buffer]>([
    ['JSON', json, (count) => json.encode(configMap(count))],
    ['YAML', yaml, (count) => Buffer.from(yamlOf(count))],
    ['JSON sent as YAML', yaml, (count) => json.encode(configMap(count))],
    ['YAML in flow style', yaml, (count) => Buffer.from(`{${yamlOf(count).replaceAll('\n', ',')}}`)],
    ['CBOR', cbor, (count) => cbor.encode(configMap(count))],
    ['protobuf', protobuf, (count) => protobuf.encode(configMap(count))],
    ['protobuf with a packed list', protobuf, (count) => packedGroups(count)],
  ])('%s body with too many values', (_, decoder, bodyOf) => {
    expect(outcome(() => decoder.decode(bodyOf(600), { valuesMax: 1000 }))).toBe('read');
    expect(outcome(() => decoder.decode(bodyOf(3000), { valuesMax: 1000 }))).toBe(tooMany);
    expect(outcome(() => decoder.decode(bodyOf(3000)))).toBe('read');
  });
});

/** A ConfigMap with managedFields of `count` fields: three values of the entry, and those of its fieldsV1. */
const owned = (count: number, outer: 'metadata' | 'data' = 'metadata') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  [outer]: {
    managedFields: [{ fieldsV1: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f:k${index}`, {}])) }],
  },
});

describe('metadata.managedFields has a bound of its own, twice the limit', () => {
  it.each<[string, Decoder, (value: unknown) => Buffer]>([
    ['JSON', json, (value) => json.encode(value)],
    ['indented JSON', json, (value) => json.encode(value, { pretty: true })],
    ['YAML', yaml, (value) => yaml.encode(value)],
    ['CBOR', cbor, (value) => cbor.encode(value)],
    ['protobuf', protobuf, (value) => protobuf.encode(value)],
  ])('%s body with many managedFields', (_, decoder, encode) => {
    const read = (value: unknown) => outcome(() => decoder.decode(encode(value), { valuesMax: 1000 }));
    const both = { ...configMap(900), ...owned(1900) };
    expect(read(both)).toBe('read');
    expect(read({ ...configMap(1900), ...owned(100) })).toBe(tooMany);
    expect(read(owned(2100))).toBe(`${tooMany.replace('1000', '2000')} in metadata.managedFields`);
  });

  it.each<[string, Decoder, (value: unknown) => Buffer]>([
    ['JSON', json, (value) => json.encode(value)],
    ['YAML', yaml, (value) => yaml.encode(value)],
    ['CBOR', cbor, (value) => cbor.encode(value)],
  ])('%s: fields called managedFields elsewhere use the usual budget', (_, decoder, encode) => {
    const read = (value: unknown) => outcome(() => decoder.decode(encode(value), { valuesMax: 1000 }));
    expect(read(owned(1500, 'data'))).toBe(tooMany);
    expect(read({ metadata: { name: 'managedFields', labels: configMap(1500).data } })).toBe(tooMany);
    expect(read({ metadata: { managedFields: [], labels: configMap(1500).data } })).toBe(tooMany);
    expect(read({ metadata: { managedFields: [] }, data: configMap(1500).data })).toBe(tooMany);
  });
});

it.each([
  ['aliases', `a: &a [${'x,'.repeat(100)}x]\nb: [${'*a,'.repeat(20)}]`],
  ['merge keys', `a: &a {${Array.from({ length: 600 }, (_, n) => `k${n}: x`).join()}}\nb: {<<: *a}`],
  ['list items', '- x\n'.repeat(1001)],
])('YAML %s count as values', (_, text) => {
  expect(outcome(() => yaml.decode(Buffer.from(text), { valuesMax: 1000 }))).toBe(tooMany);
});

it('JSON lists that are never closed count as values', () => {
  expect(outcome(() => json.decode(Buffer.from('['.repeat(3000)), { valuesMax: 1000 }))).toBe(tooMany);
});

it('CBOR chunks of a string count as values', () => {
  const bytes = Buffer.from(`\x7f${'\x61x'.repeat(1500)}\xff`, 'latin1');
  expect(outcome(() => decodeCbor(bytes, 1000))).toBe(tooMany);
  expect(decodeCbor(bytes)).toHaveLength(1500);
});

it('a CBOR apply body is counted too', () => {
  const writer = new CborWriter();
  encodeCborValue(writer, configMap(3000), undefined);
  const bytes = writer.take();
  expect(outcome(() => decodeCbor(bytes, 1000))).toBe(tooMany);
});

it('long texts with many commas and lines are one value', () => {
  const text = 'a, b: c\n'.repeat(20_000);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: text } };
  const literal = `data:\n  a: |\n${text.replace(/^/gm, '    ')}`;
  expect(outcome(() => json.decode(json.encode(object), { valuesMax: 1000 }))).toBe('read');
  expect(outcome(() => yaml.decode(json.encode(object), { valuesMax: 1000 }))).toBe('read');
  expect(outcome(() => yaml.decode(Buffer.from(literal), { valuesMax: 1000 }))).toBe('read');
});

/** The Pod's supplementalGroups as one packed field: a byte each. */
function packedGroups(count: number): Buffer {
  const one = protobuf.encode(pod(1));
  const varint = (value: number) => Buffer.from([(value & 0x7f) | 0x80, value >> 7]);
  const field = (number: number, content: Buffer) =>
    Buffer.concat([Buffer.from([number * 8 + 2]), varint(content.length), content]);
  const groups = field(4, Buffer.alloc(count, 1));
  const spec = field(14, groups);
  const typeMeta = Buffer.concat([
    Buffer.from([0x0a, 2]),
    Buffer.from('v1'),
    Buffer.from([0x12, 3]),
    Buffer.from('Pod'),
  ]);
  const raw = field(2, spec);
  return Buffer.concat([one.subarray(0, 4), Buffer.from([0x0a, typeMeta.length]), typeMeta, field(2, raw)]);
}
