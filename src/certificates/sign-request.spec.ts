import { X509Certificate } from 'node:crypto';
import { derTags, newKey, requestDer, type RequestParts } from '../../test/harness/certificate-requests.js';
import { makeAuthority, makeKey, signerOf } from './authority.js';
import { identityOfCertificate } from './certificate-identity.js';
import { certificateFacts, dnsNames, extensionIds } from './der.js';
import type { Signer } from './issue-certificate.js';
import { requestedCertificate } from './requested-certificate.js';
import { signRequest } from './sign-request.js';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const hourMs = 3_600_000;
let signer: Signer;
beforeAll(async () => {
  const key = makeKey();
  signer = signerOf(await makeAuthority(key, nowMs), key);
});

const usages = ['digital signature', 'key encipherment', 'client auth'];
const signed = (parts: RequestParts, options: object = {}) =>
  new X509Certificate(
    signRequest(requestedCertificate(requestDer(parts)), signer, { usages, lifetimeMs: hourMs, nowMs, ...options }),
  );
const joe: RequestParts = { subject: [['O', 'dev'], ['CN', 'joe']] }; // prettier-ignore

it('the certificate has subject, key and names of the request, and the requested usages', () => {
  const key = newKey();
  const names = [
    [derTags.dns, 'a.example'],
    [derTags.email, 'joe@example'],
    [derTags.uri, 'spiffe://a/b'],
    [derTags.ip, Buffer.from([10, 0, 0, 1])],
    // An otherName, which is not copied.
    [0xa0, Buffer.from('0603551d11', 'hex')],
  ] as const;
  const certificate = signed({ ...joe, key, names });
  expect(identityOfCertificate(certificate, '')).toMatchObject({ name: 'joe', groups: ['dev'] });
  expect(certificate.checkPrivateKey(key)).toBe(true);
  expect(certificate.subjectAltName).toBe('DNS:a.example, email:joe@example, IP Address:10.0.0.1, URI:spiffe://a/b');
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(certificate.checkIssued(signer.certificate)).toBe(true);
  expect(certificate.verify(signer.certificate.publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
});

it('a request for a CA certificate gets a leaf', () => {
  const basicConstraints = [extensionIds.basicConstraints, Buffer.from('30030101ff', 'hex')] as const;
  const keyUsage = [extensionIds.keyUsage, Buffer.from('03020106', 'hex')] as const;
  const certificate = signed({ ...joe, extensions: [basicConstraints, keyUsage] });
  expect(certificate.ca).toBe(false);
  const { extensions } = certificateFacts(certificate);
  expect(extensions.get(extensionIds.basicConstraints)).toMatchObject({
    isCritical: true,
    value: Buffer.from('3000', 'hex'),
  });
  expect(extensions.get(extensionIds.keyUsage)!.value.toString('hex')).toBe('030205a0');
});

it.each([
  ['an hour, from five minutes before', hourMs, '2025-12-31T23:55:00.000Z', '2026-01-01T01:00:00.000Z'],
  ['a day, of which five minutes have passed', 24 * hourMs, '2025-12-31T23:55:00.000Z', '2026-01-01T23:55:00.000Z'],
])('the certificate is valid for %s', (_what, lifetimeMs, from, to) => {
  const { validFrom, validTo } = signed(joe, { lifetimeMs });
  expect([validFrom, validTo].map((text) => new Date(text).toISOString())).toEqual([from, to]);
});

it('the certificate expires no later than the CA, and an expired CA does not sign', () => {
  const { validTo } = signer.certificate;
  expect(signed(joe, { lifetimeMs: 20 * 365 * 24 * hourMs }).validTo).toBe(validTo);
  expect(() => signed(joe, { nowMs: Date.parse(validTo) })).toThrow('refusing to sign');
});

it.each<[string, RequestParts, string]>([
  ['signed by another key', { ...joe, signedBy: newKey() }, 'does not belong to its public key'],
  [
    'with a name of an unsupported string type',
    { subject: [['CN', 0x1c, Buffer.from('0000006a', 'hex')]] },
    'has the unsupported type 28',
  ],
  [
    'with a name that is not UTF-8',
    { subject: [['CN', derTags.utf8, Buffer.from([0xff])]] },
    'not valid for its type 12',
  ],
  ['with an IP address of five bytes', { ...joe, names: [[derTags.ip, Buffer.alloc(5)]] }, 'a wrong length'],
  ['with a DNS name that is not ASCII', { ...joe, names: [[derTags.dns, 'é']] }, 'not ASCII text'],
  ['with a NUL in a DNS name', { ...joe, names: [[derTags.dns, 'a\0b']] }, 'not ASCII text'],
  ['with an invalid URI', { ...joe, names: [[derTags.uri, 'no uri']] }, 'a URI in it is invalid'],
  [
    'with two lists of names',
    { ...joe, names: [[derTags.dns, 'a']], extensions: [[extensionIds.subjectAltName, Buffer.from('3000', 'hex')]] },
    'two lists of alternative names',
  ],
])('a request %s is rejected', (_what, parts, want) => expect(() => signed(parts)).toThrow(want));

it('names of every string type are the same for the signer and for authentication', () => {
  const bmp = (text: string) => Buffer.from(text, 'utf16le').swap16();
  const parts: RequestParts = { subject: [['O', derTags.bmp, bmp('system:masters')], ['CN', derTags.printable, Buffer.from('joe')]] }; // prettier-ignore
  expect(requestedCertificate(requestDer(parts))).toMatchObject({
    organizations: ['system:masters'],
    commonName: 'joe',
  });
  expect(identityOfCertificate(signed(parts), '')).toMatchObject({ name: 'joe', groups: ['system:masters'] });
});

it('an unknown usage is rejected', () =>
  expect(() => signed(joe, { usages: ['client auth', 'constructor'] })).toThrow('unrecognized usage "constructor"'));

it('a serving certificate contains its IP addresses', () => {
  const certificate = signed(
    { subject: [['CN', 'system:node:n']], names: [[derTags.dns, 'n.example']] },
    { usages: ['digital signature', 'server auth'] },
  );
  expect(dnsNames(certificateFacts(certificate))).toEqual(['n.example']);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});
