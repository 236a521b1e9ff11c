import {
  certificateRequest,
  der,
  derAttribute,
  derName,
  derString,
  pemBlock,
  stringTags,
  type StringType,
} from '../../test/harness/distinguished-names.js';
import { parseCertificateRequest, parsePemCertificateRequest } from './certificate-request.js';
import { derElements } from './der.js';
import { readDistinguishedName } from './distinguished-name.js';

const masters = 'system:masters';
const read = (name: Buffer) => readDistinguishedName(derElements(name)[0]!).map(({ value }) => value);
const bytes = (...codes: number[]) => Buffer.from(codes);
const named = (organization: Buffer) => parseCertificateRequest(certificateRequest(derName(organization)));

describe('strings of each ASN.1 type', () => {
  it.each<[StringType, string]>([
    ['utf8', masters],
    ['printable', masters],
    ['teletex', masters],
    ['ia5', masters],
    ['bmp', masters],
    ['utf8', 'Prüfung \u0000 \ufeff 🦉'],
    ['teletex', 'Prüfung'],
    ['bmp', 'Ωmega'],
    ['numeric', '12 34'],
    ['utf8', ''],
  ])('%s %j is decoded as that text', (type, text) => {
    const { organizations, commonName, isSigned } = named(derString(type, text));
    expect([organizations, commonName, isSigned()]).toEqual([[text], 'joe', true]);
  });

  it.each<[string, Buffer]>([
    ['UniversalString', derString('universal', masters)],
    ['VisibleString', derString('visible', masters)],
    ['GeneralString', derString('general', masters)],
    ['OctetString', der(0x04, Buffer.from(masters))],
    ['integer', der(0x02, bytes(1))],
    ['null', der(0x05)],
    ['sequence of strings', der(0x30, derString('utf8', masters))],
    ['constructed UTF8String', der(0x2c, derString('utf8', masters))],
    ['context tag', der(0x8c, Buffer.from(masters))],
    ['UTF-8 that is none', der(stringTags.utf8, bytes(0xff, 0x41))],
    ['UTF-8 spelt too long', der(stringTags.utf8, bytes(0xc1, 0xb3))],
    ['UTF-8 of a surrogate', der(stringTags.utf8, bytes(0xed, 0xa0, 0x80))],
    ['PrintableString with an underscore', derString('printable', 'a_b')],
    ['PrintableString with other letters', derString('printable', 'ü')],
    ['IA5String beyond ASCII', derString('ia5', 'ü')],
    ['NumericString with letters', derString('numeric', 'a')],
    ['BMPString of an odd length', der(stringTags.bmp, bytes(0, 0x41, 0))],
    ['BMPString with surrogates', derString('bmp', '\ud83e\udd89'.slice(0, 1))],
    ['BMPString with a non-character', der(stringTags.bmp, bytes(0xff, 0xfe))],
  ])('%s makes the name invalid', (_name, organization) =>
    expect(() => named(organization)).toThrow(/malformed distinguished name/),
  );

  it('the terminating zero of a BMPString is removed', () =>
    expect(named(derString('bmp', `${masters}\0`)).organizations).toEqual([masters]));
});

describe('the structure of a name', () => {
  const o = derAttribute('O', derString('utf8', 'a'));
  const cn = (text: string) => derAttribute('CN', derString('utf8', text));
  it.each<[string, Buffer, string[]]>([
    ['several attributes in a set', der(0x30, der(0x31, o, cn('joe'))), ['a', 'joe']],
    ['several sets', der(0x30, der(0x31, cn('x')), der(0x31, o), der(0x31, cn('joe'))), ['x', 'a', 'joe']],
    ['nothing', der(0x30), []],
    ['an empty set', der(0x30, der(0x31)), []],
  ])('a name with %s is accepted', (_name, name, want) => expect(read(name)).toEqual(want));

  it.each<[string, Buffer]>([
    ['a set in place of the sequence', der(0x31, der(0x31, o))],
    ['a sequence in place of a set', der(0x30, der(0x30, o))],
    ['a set in place of an attribute', der(0x30, der(0x31, der(0x31, der(0x06, bytes(0x55, 4, 10)), der(0x0c))))],
    ['an attribute without a value', der(0x30, der(0x31, der(0x30, der(0x06, bytes(0x55, 4, 10)))))],
    [
      'an attribute with two values',
      der(
        0x30,
        der(0x31, der(0x30, der(0x06, bytes(0x55, 4, 10)), derString('utf8', 'a'), derString('utf8', masters))),
      ),
    ],
    [
      'a type that is no identifier',
      der(0x30, der(0x31, der(0x30, der(0x0c, bytes(0x55, 4, 10)), derString('utf8', 'a')))),
    ],
    ['a padded type', der(0x30, der(0x31, derAttribute(bytes(0x55, 4, 0x80, 10), derString('utf8', masters))))],
    ['an empty type', der(0x30, der(0x31, derAttribute(bytes(), derString('utf8', masters))))],
    ['a length of more bytes than it needs', Buffer.concat([bytes(0x30, 0x81, 2), bytes(0x31, 0)])],
    ['a length with zeros', bytes(0x30, 0x82, 0, 0x80, ...Array<number>(0x80).fill(0))],
    ['an indefinite length', bytes(0x30, 0x80, 0x31, 0, 0, 0)],
    ['a tag of several bytes', der(0x30, bytes(0x1f, 0x31, 0))],
    ['a length beyond the end', bytes(0x30, 5, 0x31, 0)],
  ])('%s is malformed', (_name, name) => expect(() => read(name)).toThrow(/malformed/));
});

describe('requests in PEM', () => {
  const request = certificateRequest(derName(derString('utf8', 'a')));
  const other = certificateRequest(derName(derString('utf8', masters)));
  const parse = (text: string) => parsePemCertificateRequest(text).organizations;
  it.each([
    ['one block', pemBlock(request)],
    ['text around it', `CN=joe\n\n${pemBlock(request)}\nbye\n`],
    ['other line ends', pemBlock(request).replaceAll('\n', '\r\n')],
  ])('a request with %s is accepted', (_name, text) => expect(parse(text)).toEqual(['a']));

  it.each([
    ['a header', pemBlock(request, undefined, 'Proc-Type: 4,ENCRYPTED\n\n'), 'no PEM block headers are permitted'],
    ['a header block first', pemBlock(other, undefined, 'a: b\n\n') + pemBlock(request), 'exactly one PEM block'],
    ['two blocks', pemBlock(request) + pemBlock(other), 'exactly one PEM block'],
    ['another block after it', pemBlock(request) + pemBlock(other, 'X'), 'exactly one PEM block'],
    ['a broken block first', pemBlock(other).replace('-----END', '*\n-----END') + pemBlock(request), 'exactly one'],
    ['a block without an end', `-----BEGIN X-----\n${pemBlock(request)}`, 'exactly one PEM block'],
    ['an end too many', `-----END X-----\n${pemBlock(request)}`, 'exactly one PEM block'],
    ['another type', pemBlock(request, 'NEW CERTIFICATE REQUEST'), 'PEM block type must be CERTIFICATE REQUEST'],
    ['nothing', '', 'PEM block type must be CERTIFICATE REQUEST'],
    ['more than a request', pemBlock(Buffer.concat([request, other])), 'not a single sequence'],
  ])('%s is refused', (_name, text, want) => expect(() => parse(text)).toThrow(want));
});
