import { hasFormat, isKnownFormat } from './formats.js';

it.each<[format: string, yes: string[], no: string[]]>([
  ['date-time', ['2026-01-02T03:04:05Z', '2026-01-02t03:04:05.123+01:00'], ['yesterday', '2026-01-02T24:00:00Z']],
  ['datetime', ['2026-01-02T03:04:05-00:00'], ['2026-02-30T03:04:05Z', '2026-01-02 03:04:05Z']],
  ['date', ['2026-02-28'], ['2026-02-30', '2026-2-1']],
  ['duration', ['1h30m', '-1.5s', '0', '22 ns', '3 days and 2 hours', '5 Minutes'], ['', '5', '1 fortnight', 'h']],
  ['byte', ['YQ==', 'YWI=', 'YWJj'], ['Y', 'YQ', '']],
  ['ipv4', ['10.0.0.1', '010.000.0.1', '::ffff:1.2.3.4'], ['::1', '1.2.3', '256.0.0.1']],
  ['ipv6', ['::1', 'fe80::1'], ['10.0.0.1', 'fe80::1%eth0']],
  ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.0/33', '10.0.0.0', '10.0.0.0/8/8']],
  [
    'mac',
    ['00:1b:63:84:45:E6', '00-1b-63-84-45-e6', '0000.0000.fe80', '00:00:5e:00:53:01:02:03'],
    ['00:1b:63:84:45', '00:1b-63:84:45:e6', '00:1b:63:84:45:e6:00'],
  ],
  ['uuid', ['7d444840-9dc0-11d1-b245-5ffdce74fad2', '7D4448409DC011D1B2455FFDCE74FAD2'], ['7d444840']],
  ['uuid4', ['7d444840-9dc0-41d1-b245-5ffdce74fad2'], ['7d444840-9dc0-11d1-b245-5ffdce74fad2']],
  ['hostname', ['example.com', 'a'], ['-a', 'a..b', `${'a'.repeat(64)}.com`]],
  ['email', ['a@b', 'Ann <a.b@c.de>', '"x y"@z.org'], ['a', 'a@', '@b', 'a..b@c', 'a b@c', 'Ann <a@b']],
  ['uri', ['http://a/b?c', 'mailto:x', '/path', '*'], ['a b', 'path', 'http://a b/', '/%zz', '']],
  ['hexcolor', ['#fff', '00aaBB'], ['#ffff']],
  ['rgbcolor', ['rgb(1, 22,255)'], ['rgb(1,2)', 'rgb(256,0,0)']],
  ['ssn', ['111-22-3333'], ['111223333']],
  ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112', '1']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751044']],
  ['isbn10', ['0-8044-2957-X'], ['978-0321751041']],
  ['isbn13', ['9780321751041'], ['9780321751042']],
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77']],
  ['k8s-short-name', ['a-1'], ['A', 'a.b', 'a'.repeat(64)]],
  ['k8s-long-name', ['a.b'], ['a..b']],
  ['password', [''], []],
  ['nobody-knows', ['x'], []],
])('format %s', (format, yes, no) => {
  expect(yes.filter((text) => !hasFormat(text, format))).toEqual([]);
  expect(no.filter((text) => hasFormat(text, format))).toEqual([]);
});

it.each<[string, string, boolean]>([
  ['string', 'date-time', true],
  ['', 'ipv4', true],
  ['integer,string', 'ipv4', true],
  ['integer', 'int64', true],
  ['integer', 'uint8', false],
  ['number', 'double', true],
  ['string', 'int32', false],
  ['boolean', 'date', false],
])('type %s with format %s is validated: %s', (type, format, want) => expect(isKnownFormat(type, format)).toBe(want));

it.each(['duration', 'email', 'uri', 'hostname', 'mac', 'isbn', 'creditcard'])(
  'a long text is checked as %s in linear time',
  (format) => {
    for (const piece of ['1', 'a', 'a.', '1s', ' ', '"', '00:']) {
      expect(hasFormat(`${piece.repeat(50_000)}!`, format)).toBeDefined();
    }
  },
);
