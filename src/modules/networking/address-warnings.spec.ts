import { path } from '../../machinery/field-error.js';
import { cidrWarnings, ipWarnings } from './address-warnings.js';

it.each<[string, string | undefined]>([
  ['10.0.0.1', undefined],
  ['2001:db8::1', undefined],
  ['x', undefined],
  ['::ffff:10.0.0.1', 'non-standard IP address "::ffff:10.0.0.1" is invalid: use "10.0.0.1"'],
  ['::ffff:a00:1', 'non-standard IP address "::ffff:a00:1" is invalid: use "10.0.0.1"'],
  ['2001:DB8::1', 'IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
])('warnings of the address %s', (text, want) =>
  expect(ipWarnings(text, path('at'))).toEqual(want === undefined ? [] : [`at: ${want}`]),
);

it.each<[string, string | undefined]>([
  ['10.0.0.0/8', undefined],
  ['fd00::/8', undefined],
  ['x', undefined],
  ['10.0.0.1/8', 'CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
  ['::ffff:10.0.0.0/104', 'non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"'],
  ['FD00::/8', 'IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")'],
])('warnings of the CIDR %s', (text, want) =>
  expect(cidrWarnings(text, path('at'))).toEqual(want === undefined ? [] : [`at: ${want}`]),
);
