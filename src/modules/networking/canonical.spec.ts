import {
  isStrictSubset,
  validateCanonicalCidr,
  validateCanonicalInterface,
  validateCanonicalIp,
} from './canonical.validation.js';

it.each<[string, string | undefined]>([
  ['10.0.0.1', undefined],
  ['::1', undefined],
  ['2001:db8::a00:1', undefined],
  ['', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ['fe80::1%eth0', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ['010.0.0.1', 'must not have leading 0s'],
  ['::ffff:10.0.0.1', 'must not be an IPv4-mapped IPv6 address'],
  ['::ffff:a00:1', 'must not be an IPv4-mapped IPv6 address'],
  ['64:ff9b::10.0.0.1', 'must be in canonical form ("64:ff9b::a00:1")'],
  ['0:0:0:0:0:0:0:1', 'must be in canonical form ("::1")'],
])('validateCanonicalIp of %j', (text, want) =>
  expect(validateCanonicalIp(text)).toEqual(want === undefined ? [] : [want]),
);

it.each<[string, string | undefined]>([
  ['10.0.0.0/8', undefined],
  ['fd00::/8', undefined],
  ['0.0.0.0/0', undefined],
  ['10.0.0.0', 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  ['10.0.0.0/33', 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  ['10.0.0.0/08', 'must not have leading 0s in IP or prefix length'],
  ['10.00.0.0/8', 'must not have leading 0s in IP or prefix length'],
  ['::ffff:10.0.0.0/104', 'must not have an IPv4-mapped IPv6 address'],
  ['10.0.0.1/8', 'must not have bits set beyond the prefix length'],
  ['fd00:0::/8', 'must be in canonical form ("fd00::/8")'],
  ['64:ff9b::10.0.0.0/120', 'must be in canonical form ("64:ff9b::a00:0/120")'],
])('validateCanonicalCidr of %j', (text, want) =>
  expect(validateCanonicalCidr(text)).toEqual(want === undefined ? [] : [want]),
);

it.each<[string, string | undefined]>([
  ['10.9.8.7/24', undefined],
  ['2001:db8::1/64', undefined],
  ['10.9.8.7', 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'],
  ['10.9.8.7/33', 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'],
  ['10.9.8.7/24/24', 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'],
  ['fe80::1%eth0/64', 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'],
  ['10.9.8.007/024', 'must be in canonical form ("10.9.8.7/24")'],
  ['2001:DB8:0::1/64', 'must be in canonical form ("2001:db8::1/64")'],
  ['::ffff:10.9.8.7/120', 'must be in canonical form ("10.9.8.7/24")'],
  ['::ffff:10.9.8.7/24', 'must be in canonical form ("10.9.8.7/24")'],
])('validateCanonicalInterface of %j', (text, want) =>
  expect(validateCanonicalInterface(text)).toEqual(want === undefined ? [] : [want]),
);

it.each<[string, string, boolean]>([
  ['10.0.0.0/8', '10.1.0.0/16', true],
  ['0.0.0.0/0', '10.1.0.0/16', true],
  ['10.0.0.0/8', '10.0.0.0/8', false],
  ['10.0.0.0/8', '192.168.0.0/16', false],
  ['10.0.0.0/8', 'fd00::/16', false],
  ['10.0.0.0/8', 'fd00::%eth0/16', false],
  ['fd00::/8', 'fd12::/16', true],
  ['64:ff9b::10.0.0.0/96', '64:ff9b::10.0.0.0/120', true],
])('CIDR %s contains %s: %j', (whole, part, want) => expect(isStrictSubset(whole, part)).toBe(want));
