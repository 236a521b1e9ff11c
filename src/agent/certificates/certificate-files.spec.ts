import { X509Certificate } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority, makeKey, signerOf } from '../../certificates/authority.js';
import { certificateRequestInPem, parsePemCertificateRequest } from '../../certificates/certificate-request.js';
import { requestedCertificate } from '../../certificates/requested-certificate.js';
import { signRequest } from '../../certificates/sign-request.js';
import { ManualClock } from '../../std/clock.js';
import { CertificateFiles } from './certificate-files.js';
import { certificateRequestPem, satisfies, type CertificateTemplate } from './certificate-template.js';

const clock = new ManualClock();
const template: CertificateTemplate = {
  commonName: 'system:node:n1',
  organization: 'system:nodes',
  dns: ['n1', 'n1.example.com'],
  ip: ['10.0.0.1', 'fd00::1'],
};
let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'keelson-agent-certs-'))));
afterEach(() => rmSync(directory, { recursive: true }));

const filesOf = () => new CertificateFiles(directory, 'kubelet-client');

async function issued(files: CertificateFiles, wanted = template) {
  const authorityKey = makeKey();
  const signer = signerOf(await makeAuthority(authorityKey, clock.now()), authorityKey);
  const key = await files.pendingKey();
  const request = requestedCertificate(certificateRequestInPem(certificateRequestPem(wanted, key)));
  const options = { usages: ['digital signature', 'server auth'], lifetimeMs: 3_600_000, nowMs: clock.now() };
  return { pem: signRequest(request, signer, options), key };
}

it('a certificate request of a node is signed and has its subject and names', async () => {
  const { pem, key } = await issued(filesOf());
  const parsed = parsePemCertificateRequest(certificateRequestPem(template, key));
  expect([parsed.isSigned(), parsed.commonName, parsed.organizations]).toEqual([
    true,
    'system:node:n1',
    ['system:nodes'],
  ]);
  const leaf = new X509Certificate(pem);
  expect(leaf.subjectAltName).toBe('DNS:n1, DNS:n1.example.com, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1');
  expect(satisfies(leaf, template)).toBe(true);
  expect(satisfies(leaf, { ...template, ip: ['10.0.0.2'] })).toBe(false);
  expect(satisfies(leaf, { ...template, dns: ['n2'] })).toBe(false);
  expect(satisfies(leaf, { ...template, commonName: 'system:node:n2' })).toBe(false);
});

it('a new certificate is written to a new private file, to which the symbolic link points', async () => {
  const files = filesOf();
  const first = await issued(files);
  await files.replace(first.pem, first.key, clock.now());
  const target = readlinkSync(files.currentPath);
  expect(target).toBe('kubelet-client-2026-01-01-00-00-00.pem');
  expect(statSync(join(directory, target)).mode & 0o777).toBe(0o600);
  const before = readFileSync(join(directory, target), 'utf8');

  // In the same second.
  const second = await issued(files);
  const pair = await files.replace(second.pem, second.key, clock.now());
  expect(readlinkSync(files.currentPath)).toBe('kubelet-client-2026-01-01-00-00-01.pem');
  expect(pair.certificate).toContain(second.pem.trim());
  expect(readFileSync(join(directory, target), 'utf8')).toBe(before);
  expect(readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

it('the key of a running request is kept, and a damaged one is replaced', async () => {
  const key = await filesOf().pendingKey();
  expect((await filesOf().pendingKey()).equals(key)).toBe(true);
  const path = join(directory, 'kubelet-client.key.tmp');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, 'half a k');
  expect((await filesOf().pendingKey()).equals(key)).toBe(false);
});

it.each([
  ['a file', (path: string) => writeFileSync(path, 'mine')],
  ['a link to a file of another name', (path: string) => symlinkSync('/etc/hostname', path)],
  ['a link to another directory', (path: string) => symlinkSync('/elsewhere/kubelet-client-1.pem', path)],
])('a current certificate that is %s is not overwritten', async (_what, make) => {
  const files = filesOf();
  const { pem, key } = await issued(files);
  make(files.currentPath);
  const before = lstatSync(files.currentPath).ino;
  await expect(files.replace(pem, key, clock.now())).rejects.toThrow('is not overwritten; move it away');
  expect(lstatSync(files.currentPath).ino).toBe(before);
});

it('a certificate of another key is not made the current one', async () => {
  const files = filesOf();
  const { pem } = await issued(files);
  await expect(files.replace(pem, makeKey(), clock.now())).rejects.toThrow('does not belong to the first certificate');
  expect(await files.current()).toBeUndefined();
});
