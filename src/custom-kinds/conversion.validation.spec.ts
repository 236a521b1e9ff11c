import { X509Certificate } from 'node:crypto';
import { keyPem, makeAuthority, makeKey } from '../certificates/authority.js';
import { hasBrokenBundle } from './conversion.validation.js';

const key = makeKey();
let certificate: string;
beforeAll(async () => void (certificate = await makeAuthority(key, Date.now())));

const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

it.each<[string, () => string | Buffer, boolean]>([
  ['no bundle', () => '', false],
  ['a certificate', () => certificate, false],
  ['two certificates, with text between them', () => `${certificate}# next\n${certificate}`, false],
  ['a certificate and a key', () => keyPem(key) + certificate, false],
  ['a damaged certificate after a good one', () => certificate + damaged, true],
  ['a key', () => keyPem(key), true],
  ['500 certificates', () => certificate.repeat(500), false],
  ['501 certificates', () => certificate.repeat(501), true],
  ['a certificate in DER', () => new X509Certificate(certificate).raw, true],
  ['text', () => 'nothing', true],
])('a caBundle with %s is validated', (_, bundle, want) => {
  const caBundle = Buffer.from(bundle()).toString('base64');
  expect(hasBrokenBundle({ webhook: { clientConfig: { caBundle } } })).toBe(want);
});
