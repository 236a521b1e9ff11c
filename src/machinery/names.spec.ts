import fc from 'fast-check';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import * as names from './names.js';

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const namePart =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const configKey =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const {
  validateCIdentifier,
  validateConfigKey,
  validateDns1035Label,
  validateDnsLabel,
  validateDnsSubdomain,
  validateFieldManager,
  validateHttpHeaderName,
  validateLabelValue,
  validatePathSegment,
  validatePercent,
  validatePortName,
  validateQualifiedName,
  validateRelaxedEnvVarName,
  validateWildcardDnsSubdomain,
} = names;
const validators = {
  validateCIdentifier,
  validateConfigKey,
  validateDns1035Label,
  validateDnsLabel,
  validateDnsSubdomain,
  validateFieldManager,
  validateHttpHeaderName,
  validateLabelValue,
  validatePathSegment,
  validatePercent,
  validatePortName,
  validateQualifiedName,
  validateRelaxedEnvVarName,
  validateWildcardDnsSubdomain,
};

describe('names', () => {
  const rows: [keyof typeof validators, string, string[]][] = [
    ['validateDnsSubdomain', 'a.b-c.d', []],
    ['validateDnsSubdomain', 'Up', [subdomain]],
    ['validateDnsSubdomain', 'a.', [subdomain]],
    ['validateDnsSubdomain', '', [subdomain]],
    ['validateDnsSubdomain', 'a'.repeat(254), ['must be no more than 253 characters']],
    ['validateDnsLabel', 'a-1', []],
    ['validateDnsLabel', 'a.b', ['must not contain dots']],
    ['validateDnsLabel', 'Abc', [label]],
    ['validateDnsLabel', 'a'.repeat(64), ['must be no more than 63 characters']],
    ['validateDns1035Label', 'a1', []],
    ['validateWildcardDnsSubdomain', '*.a.b', []],
    ['validateQualifiedName', 'a', []],
    ['validateQualifiedName', 'example.com/A_b.c', []],
    ['validateQualifiedName', 'a b', [namePart]],
    ['validateQualifiedName', '/a', ['prefix part must be non-empty']],
    ['validateQualifiedName', 'a.example.com/', ['name part must be non-empty', namePart]],
    ['validateQualifiedName', 'Ex.com/a', [`prefix part ${subdomain}`]],
    ['validateQualifiedName', 'k'.repeat(64), ['name part must be no more than 63 bytes']],
    ['validateLabelValue', '', []],
    ['validateLabelValue', 'a b', [labelValue]],
    ['validateLabelValue', 'v'.repeat(64), ['must be no more than 63 bytes']],
    ['validatePathSegment', 'a:b', []],
    ['validatePathSegment', '..', ["may not be '..'"]],
    ['validatePathSegment', 'a%/b', ["may not contain '/'", "may not contain '%'"]],
    ['validateRelaxedEnvVarName', '1 a', []],
    [
      'validateRelaxedEnvVarName',
      'a=b',
      ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ],
    ['validateConfigKey', 'a.b', []],
    ['validateConfigKey', 'x y', [configKey]],
    ['validateConfigKey', '..', ["must not be '..'"]],
    ['validateCIdentifier', '_a1', []],
    ['validateHttpHeaderName', 'X-A', []],
    ['validatePercent', '10%', []],
    ['validatePortName', 'http-1', []],
    ['validatePortName', '12', ['must contain at least one letter (a-z)']],
    ['validatePortName', '-a--b', ['must not contain consecutive hyphens', 'must not begin or end with a hyphen']],
    ['validateFieldManager', 'kubectl client', []],
    ['validateFieldManager', 'é\u0007', ['invalid character U+0007 (at position 2)']],
  ];
  it.each(rows)('%s %s', (validator, text, want) => expect(validators[validator](text)).toEqual(want));

  it('a generateName may end with a dash', () => {
    expect(names.nameIsDnsSubdomain('web-', true)).toEqual([]);
    expect(names.nameIsDnsSubdomain('web-')).toEqual([subdomain]);
    expect(names.nameIsDnsSubdomain('Up-', true)).toEqual([subdomain]);
    expect(names.nameIsPathSegment('..', true)).toEqual([]);
  });

  it('validates long invalid names in linear time', () => {
    const nonsense = ['a'.repeat(50_000) + '!', '-'.repeat(50_000), 'a.'.repeat(50_000), '-a'.repeat(50_000)];
    const ms = cpuMsOf(() => {
      for (const text of nonsense) {
        names.validateDnsSubdomain(text);
        names.validateQualifiedName(text);
        names.validateLabelValue(text);
      }
    });
    expect(ms).toBeLessThan(1000);
  });
});

it('a DNS subdomain is a list of labels that match their pattern, separated by dots', () => {
  const label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '7', '-', '.', 'A', '/', '\u00e4') }), (text) => {
      const isValid = text.split('.').every((part) => label.test(part));
      expect(names.isDnsSubdomain(text)).toBe(isValid);
    }),
    { numRuns: 2000 },
  );
});

it.each(['.', 'a.', '-', 'a-'])('a subdomain of 3 MB of %j is validated in linear time', (part) => {
  expect(cpuMsOf(() => validateDnsSubdomain(part.repeat(3_000_000 / part.length)), 100)).toBeLessThan(100);
});
