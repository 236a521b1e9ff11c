import fc from 'fast-check';
import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { DecodeError } from '../std/decode-error.js';
import { cborEncoding } from './cbor.js';
import { decodeCbor } from './cbor-decoder.js';
import { EncodeError } from './encode-error.js';
import { decodeJson, encodeJson, jsonDepthMax } from './json.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const encoding = cborEncoding(() => catalog);

const tagged = 'd9d9f7';
const hexOf = (value: unknown) => encoding.encode(value).toString('hex');
const read = (hex: string): unknown => decodeCbor(Buffer.from(hex, 'hex'));
const outcome = (bytes: Uint8Array): unknown => {
  try {
    return decodeCbor(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return error.message;
  }
};
/** Hex of a string in the profile. */
const text = (word: string) => Buffer.of(0x40 + word.length).toString('hex') + Buffer.from(word).toString('hex');

describe('scalars, lists and maps', () => {
  it.each<[string, unknown, string]>([
    ['the largest number in one byte', 23, '17'],
    ['the smallest in two', 24, '1818'],
    ['the largest in two', 255, '18ff'],
    ['the smallest in three', 256, '190100'],
    ['the smallest in five', 65_536, '1a00010000'],
    ['the smallest in nine', 2 ** 32, '1b0000000100000000'],
    ['the largest safe integer', 2 ** 53 - 1, '1b001fffffffffffff'],
    ['the largest int64', 2n ** 63n - 1n, '1b7fffffffffffffff'],
    ['the least int64', -(2n ** 63n), '3b7fffffffffffffff'],
    ['minus one', -1, '20'],
    ['minus 257', -257, '390100'],
    ['the least safe integer', -(2 ** 53 - 1), '3b001ffffffffffffe'],
    ['a fraction in two bytes', 1.5, 'f93e00'],
    ['the least fraction in two bytes', 2 ** -24, 'f90001'],
    ['a small fraction that keeps its digits', 2 ** -15 + 2 ** -24, 'f90201'],
    ['the least normal fraction in two bytes', 2 ** -14, 'f90400'],
    ['a fraction too exact for two bytes', 1 + 2 ** -11, 'fa3f801000'],
    ['a fraction too small for two bytes', 2 ** -25, 'fa33000000'],
    ['a fraction too large for two bytes', 65_536.5, 'fa47800040'],
    ['a fraction in nine bytes', 1.1, 'fb3ff199999999999a'],
    ['a float beyond int64', 1e300, 'fb7e37e43c8800759c'],
    ['minus zero', -0, 'f98000'],
    ['false', false, 'f4'],
    ['true', true, 'f5'],
    ['null', null, 'f6'],
    ['an empty string', '', '40'],
    ['a string', 'IETF', '4449455446'],
    ['a string of three Unicode planes', 'aé€\u{1f600}', '4a61c3a9e282acf09f9880'],
    ['a string of 24 bytes', 'x'.repeat(24), `5818${'78'.repeat(24)}`],
    ['a string of 300 bytes', 'x'.repeat(300), `59012c${'78'.repeat(300)}`],
    ['an empty list in a list', [], '80'],
    ['a list in a list', [1, [2]], '82018102'],
    ['a map', { a: 1 }, `a1${text('a')}01`],
  ])('%s is encoded and decoded', (_name, value, hex) => {
    expect(hexOf(value)).toBe(tagged + hex);
    expect(read(hex)).toEqual(value);
    expect(read(tagged + hex)).toEqual(value);
  });
});

describe('encoding', () => {
  it.each<[string, unknown, string]>([
    ['sorts keys by length', { bb: 1, c: 2, a: 3, '': 4 }, 'a4' + '4004' + '416103' + '416302' + '42626201'],
    [
      'sorts keys by their bytes',
      { '\u{1f600}': 1, '\uffff': 2, abcde: 3, b: 4 },
      'a4416204' + '43efbfbf02' + '44f09f988001' + '45616263646503',
    ],
    ['leaves out undefined', { a: undefined, b: 1 }, 'a1416201'],
  ])('%s', (_name, value, hex) => expect(hexOf(value)).toBe(tagged + hex));

  it.each<[string, unknown, string]>([
    [
      'base64 of a Secret as bytes',
      { kind: 'Secret', apiVersion: 'v1', data: { a: 'AAEC' } },
      `${text('a')}d643000102`,
    ],
    [
      'base64 in a list as bytes',
      { kind: 'SecretList', apiVersion: 'v1', items: [{ data: { a: 'AAEC' } }] },
      `${text('a')}d643000102`,
    ],
    [
      'the same string in a ConfigMap as a string',
      { kind: 'Widget', apiVersion: 'example.com/v1', data: { a: 'AAEC' } },
      text('a') + text('AAEC'),
    ],
  ])('encodes %s', (_name, object, hex) => {
    expect(hexOf(object)).toContain(hex);
    expect(encoding.decode(encoding.encode(object)).value).toEqual(object);
  });

  it('floats without a fraction are encoded as floats', () => {
    const schema = { openAPIV3Schema: { maximum: 2, maxLength: 2 } };
    const versions = [{ name: 'v1', schema }];
    const hex = hexOf({ kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1', spec: { versions } });
    expect(hex).toContain(`${text('maximum')}f94000`);
    expect(hex).toContain(`${text('maxLength')}02`);
  });

  it.each<[string, unknown]>([
    ['an integer beyond 64 bits', 2n ** 63n],
    ['NaN', NaN],
    ['Infinity', { a: Infinity }],
    ['functions', () => 1],
  ])('refuses %s', (_name, value) => expect(() => encoding.encode(value)).toThrow(EncodeError));

  it('a watch frame contains the bytes of the object', () => {
    const object = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'a' } };
    const frame = encoding.frame!('ADDED', encoding.encode(object));
    expect(frame.toString('hex')).toBe(`${tagged}a2${text('type')}${text('ADDED')}${text('object')}${hexOf(object)}`);
    expect(decodeCbor(frame)).toEqual({ type: 'ADDED', object });
  });

  it('an object larger than the buffer is encoded', () => {
    const object = { list: Array.from({ length: 5000 }, (_, i) => ({ name: `item ${i}`, text: 'x'.repeat(i % 300) })) };
    expect(decodeCbor(encoding.encode(object))).toEqual(object);
  });
});

describe('decoding', () => {
  it.each<[string, string, unknown]>([
    ['a text string', '6161', 'a'],
    ['integers longer than necessary', '1b0000000000000001', 1],
    ['floats longer than necessary', 'fb3ff8000000000000', 1.5],
    ['a string of indefinite length', '5f426162416340ff', 'abc'],
    ['a character split between two chunks', '5f41e242' + '82ac' + 'ff', '€'],
    ['a list of indefinite length', '9f0102ff', [1, 2]],
    ['a map of indefinite length', 'bf61610161620aff', { a: 1, b: 10 }],
    ['keys as byte strings and as text strings', 'a2416101616202', { a: 1, b: 2 }],
    ['bytes with the base64url tag', 'd542fffe', '__4'],
    ['bytes with the base64 tag', 'd643000102', 'AAEC'],
    ['bytes with the hex tag', 'd742fffe', 'fffe'],
    ['chunks with the base64 tag', 'd65f4100420102ff', 'AAEC'],
    ['the hex tag around a list', 'd68101', [1]],
    ['a time as a string', 'c074323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'],
    ['a time as an integer', 'c11a514b67b0', '2013-03-21T20:04:00Z'],
    ['a time as a float', 'c1fb41d452d9ec200000', '2013-03-21T20:04:00.5Z'],
    ['an unknown tag', 'd82001', 1],
    ['the self-described tag twice', `${tagged}${tagged}01`, 1],
  ])('decodes %s', (_name, hex, value) => expect(read(hex)).toEqual(value));

  it.each<[string, string, string]>([
    ['nothing', '', 'EOF'],
    ['a truncated integer', '19ff', 'unexpected EOF'],
    ['a truncated string', '4568', 'unexpected EOF'],
    ['JSON', Buffer.from('{"a":1}').toString('hex'), 'unexpected EOF'],
    ['a string without a break', '5f4161', 'unexpected EOF'],
    ['a string length beyond the input', '5b7fffffffffffffff', 'unexpected EOF'],
    ['a list length beyond the input', '9b00000fffffffffff', 'unexpected EOF'],
    ['a map length beyond the input', 'bb00000fffffffffff', 'unexpected EOF'],
    ['trailing bytes', '0102', 'cbor: 1 bytes of extraneous data starting at index 1'],
    ['a duplicate key', 'a2416101416102', 'cbor: found duplicate map key "a"'],
    ['a duplicate key in both string types', 'a2416101616102', 'cbor: found duplicate map key "a"'],
    ['an integer key', 'a10102', 'cbor: map keys must be strings'],
    ['the key __proto__', `a1495f5f70726f746f5f5f01`, 'the key "__proto__" is not allowed'],
    ['a text string that is not UTF-8', '61ff', 'cbor: invalid UTF-8 string'],
    ['a byte string that is not UTF-8', '41ff', 'cbor: invalid UTF-8 string'],
    ['a lone surrogate', '43eda080', 'cbor: invalid UTF-8 string'],
    ['a number beyond int64', '1b8000000000000000', "cbor: 9223372036854775808 overflows Go's int64"],
    ['a number below int64', '3b8000000000000000', "cbor: -9223372036854775809 overflows Go's int64"],
    ['a bignum', 'c249010000000000000000', 'cbor: bignums are not supported'],
    ['NaN', 'f97e00', 'cbor: NaN is no number in JSON'],
    ['Infinity', 'f97c00', 'cbor: Infinity is no number in JSON'],
    ['undefined', 'f7', 'cbor: simple value 23 is not allowed'],
    ['a simple value', 'f820', 'cbor: simple value 24 is not allowed'],
    ['a break outside of an indefinite length', 'ff', 'cbor: unexpected "break" code'],
    ['a break instead of a map value', 'bf6161ff', 'cbor: unexpected "break" code'],
    ['a text chunk in a byte string', '5f6161ff', 'cbor: wrong element type in an indefinite-length string'],
    ['nested chunks', '5f5f4161ffff', 'cbor: wrong element type in an indefinite-length string'],
    ['a reserved additional information', '1c', 'cbor: invalid additional information 28'],
    ['an invalid time', 'c04161', 'cbor: a tagged time is no time'],
    ['a time out of range', 'c11b000fffffffffffff', 'cbor: a tagged time is no time'],
    ['lists nested one level too deep', '81'.repeat(jsonDepthMax + 1) + '01', 'exceeded max depth'],
    ['maps nested too deeply', 'a14161'.repeat(2000) + '01', 'exceeded max depth'],
    ['tags nested too deeply', 'c6'.repeat(2000) + '01', 'exceeded max depth'],
  ])('refuses %s', (_name, hex, problem) => expect(outcome(Buffer.from(hex, 'hex'))).toBe(problem));

  it('the deepest value can be encoded as JSON', () => {
    const value = decodeCbor(Buffer.from('81'.repeat(jsonDepthMax) + '01', 'hex'));
    expect(decodeJson(encodeJson(value))).toEqual(value);
  });

  it('the error of a body with an unreadable kind says so', () => {
    expect(() => encoding.decode(Buffer.from('hello'))).toThrow(
      'unable to determine group/version/kind: unexpected EOF',
    );
  });
});

describe('any input', () => {
  const key = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((word) => word !== '__proto__');
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 5 },
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(key, tie('json'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));

  it('any JSON is decoded again, and its bytes do not depend on the order of keys', () => {
    const turned = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(turned);
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, part]) => [name, turned(part)]),
      );
    };
    fc.assert(
      fc.property(json, (value) => {
        const bytes = encoding.encode(value);
        expect(decodeCbor(bytes)).toEqual(value);
        expect(encoding.encode(turned(value)).equals(bytes)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('any bytes decode to a value or throw DecodeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void outcome(bytes)),
      { numRuns: 5000 },
    );
  });

  it('an encoded object with a byte removed or replaced decodes or throws DecodeError', () => {
    const whole = encoding.encode({ a: [1, 1.5, null, { b: 'text', c: '€', d: true }], e: 2 ** 40, f: 'x'.repeat(30) });
    for (let at = 0; at < whole.length; at++) {
      outcome(whole.subarray(0, at));
      for (let byte = 0; byte < 256; byte++) {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        outcome(changed);
      }
    }
  });
});
