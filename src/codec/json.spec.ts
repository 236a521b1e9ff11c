import fc from 'fast-check';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { decodeJson, encodeJson, prettyJson, stringifyJson } from './json.js';

const problem = (text: string): string => {
  try {
    decodeJson(text);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('decodeJson', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['[1,', 'unexpected end of JSON input'],
    ['"a', 'unexpected end of JSON input'],
    ['"\\', 'unexpected end of JSON input'],
    ['"\\u12', 'unexpected end of JSON input'],
    ['-', 'unexpected end of JSON input'],
    ['1e', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ['hello', "invalid character 'h' looking for beginning of value"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['{"a":1}{"b":2}', "invalid character '{' after top-level value"],
    ['{"a":"\\q"}', "invalid character 'q' in string escape code"],
    ['{"a":"\\u12x4"}', "invalid character 'x' in \\u hexadecimal character escape"],
    ['{"a":"\n"}', "invalid character '\\n' in string literal"],
    ['{"a":"\u0001"}', "invalid character '\\x01' in string literal"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['[01]', "invalid character '1' after array element"],
    ['[1.]', "invalid character ']' after decimal point in numeric literal"],
    ['[1e+]', "invalid character ']' in exponent of numeric literal"],
    ['[-a]', "invalid character 'a' in numeric literal"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['[1}', "invalid character '}' after array element"],
  ])('the syntax error of %j is "%s"', (text, want) => expect(problem(text)).toBe(want));

  it('findSyntaxError agrees with JSON.parse on random texts', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\',
      '1',
      '-',
      '.5',
      'e3',
      'null',
      'tru',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(problem(text) === '').toBe(isJson);
      }),
      { numRuns: 2000 },
    );
  });

  it('decodes bytes that are not UTF-8', () => {
    expect(decodeJson(Buffer.from('{"a":"é"}'))).toEqual({ a: 'é' });
    expect(decodeJson(new Uint8Array([0x22, 0xff, 0x22]))).toBe('\ufffd');
  });

  it('refuses the key __proto__, also if it is escaped', () => {
    for (const text of ['{"__proto__":{"a":1}}', '[{"x":{"\\u005f_proto__":1}}]']) {
      expect(problem(text)).toBe('the key "__proto__" is not allowed');
    }
    expect(decodeJson('{"a":"__proto__","constructor":1}')).toEqual({ a: '__proto__', constructor: 1 });
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  it('refuses too deep nesting', () => {
    expect(problem('['.repeat(1000) + ']'.repeat(1000))).toBe('');
    expect(problem('['.repeat(1001) + ']'.repeat(1001))).toBe('exceeded max depth');
    expect(problem('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000))).toBe('exceeded max depth');
  });

  it.each([
    '9223372036854775807',
    '-9223372036854775808',
    '9007199254740993',
    '{"a":[9007199254740993,"9007199254740993",1.5,"\\u0000int64:1"],"b\\"9007199254740993":1}',
  ])('keeps all digits of %s', (text) => {
    expect(encodeJson(decodeJson(text)).toString()).toBe(text);
  });

  it.each(['1e400', '{"a":[-1e999]}', '9'.repeat(400)])('refuses a number that no double holds: row %#', (text) => {
    expect(() => decodeJson(text)).toThrow('a number is too large');
  });

  it('decodes numbers beyond int64 as doubles', () => {
    expect(decodeJson('[9223372036854775808,1e20,9007199254740992.5]')).toEqual([2 ** 63, 1e20, 2 ** 53]);
  });
});

describe('encodeJson', () => {
  it('encodes bigints as numbers, next to strings that look like the internal mark', () => {
    expect(stringifyJson({ a: 2n ** 60n, b: '@int64:5', c: ['@int64::7'] })).toBe(
      '{"a":1152921504606846976,"b":"@int64:5","c":["@int64::7"]}',
    );
  });
  it('encodes in linear time, whatever marks a document contains', () => {
    const text = `["@int64:${':'.repeat(200_000)}","\\u0000int64:${':'.repeat(200_000)}",9007199254740993]`;
    expect(cpuMsOf(() => expect(encodeJson(decodeJson(text)).toString()).toBe(text), 500)).toBeLessThan(500);
  });
  it('pretty-prints with two spaces', () => {
    expect(prettyJson({ a: [1] }).toString()).toBe('{\n  "a": [\n    1\n  ]\n}\n');
    expect(prettyJson({ a: 2n ** 60n }).toString()).toBe('{\n  "a": 1152921504606846976\n}\n');
  });
  it('decodes what it has encoded', () => {
    const values = fc
      .jsonValue({ noUnicodeString: false })
      .filter((value) => !JSON.stringify(value).includes('__proto__'));
    fc.assert(
      fc.property(values, (value) => {
        const text = JSON.stringify(value);
        expect(encodeJson(decodeJson(text)).toString()).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});
