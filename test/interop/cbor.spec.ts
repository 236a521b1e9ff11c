import { Decoder, Encoder } from 'cbor-x';
import fc from 'fast-check';
import { Catalog } from '../../src/catalog/catalog.js';
import { cborEncoding } from '../../src/codec/cbor.js';
import { decodeCbor } from '../../src/codec/cbor-decoder.js';
import { namingProfile } from '../../src/config/naming-profile.js';

/** Compares our CBOR with cbor-x, which writes text strings and decodes ours as bytes. */
const catalog = new Catalog(namingProfile('kubernetes'));
const encoding = cborEncoding(() => catalog);
const writer = new Encoder({ useRecords: false, variableMapSize: true });
const reader = new Decoder({ useRecords: false, mapsAsObjects: false, tagUint8Array: false });

const key = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((word) => word !== '__proto__');
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.string({ unit: 'grapheme' }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 30, noNullPrototype: true }),
  ),
}));

it('decodes any JSON that cbor-x has encoded', () => {
  fc.assert(fc.property(json, (value) => expect(decodeCbor(writer.encode(value))).toEqual(value)));
});

it('cbor-x decodes any JSON that we have encoded', () => {
  fc.assert(
    fc.property(json, (value) => {
      const [, , , ...bytes] = encoding.encode(value);
      expect(plain(reader.decode(Buffer.from(bytes)))).toEqual(value);
    }),
  );
});

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, part]) => [plain(name), plain(part)]));
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'bigint' ? Number(value) : value;
}
