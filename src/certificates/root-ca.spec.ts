import { X509Certificate } from 'node:crypto';
import { silentLogger } from '../std/logger.js';
import { makeAuthority, makeKey, makeServingPair, signerOf } from './authority.js';
import { parseCaBundle, type CaBundle } from './ca-bundle.js';
import { issueCertificate, type Signer } from './issue-certificate.js';
import { LiveRootCa, rootCaOf } from './root-ca.js';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const names = { dns: ['localhost'], ip: [], refused: [] };

async function authority(): Promise<Signer & { readonly pem: string }> {
  const key = makeKey();
  const pem = await makeAuthority(key, nowMs);
  return { ...signerOf(pem, key), pem };
}
async function intermediate(signer: Signer) {
  const key = makeKey();
  const lifetime = { notBeforeMs: nowMs, notAfterMs: nowMs + 1e9 };
  const pem = await issueCertificate({ commonName: 'middle', usage: 'authority', key, signer, ...lifetime });
  return { ...signerOf(pem, key), pem };
}
const servingBy = async (signer: Signer) => (await makeServingPair(signer, names, nowMs)).certificate;
const bundle = (pem: string): CaBundle => parseCaBundle(pem, 'ca.crt');

it('the published CA verifies the serving certificate: the own CA, a known CA, or the last of the chain', async () => {
  const [own, other] = [await authority(), await authority()];
  const middle = await intermediate(other);
  const [made, given, chained] = [await servingBy(own), await servingBy(other), await servingBy(middle)];
  const key = makeKey();
  const lifetime = { notBeforeMs: nowMs, notAfterMs: nowMs + 1e9 };
  const selfSigned = await issueCertificate({ commonName: 'localhost', usage: 'server', key, ...lifetime });
  const published = (serving: string, known: X509Certificate[] = []) => {
    const { pem, isRoot } = rootCaOf(serving, bundle(own.pem), known);
    return [new X509Certificate(pem).fingerprint256, isRoot];
  };
  const print = (pem: string) => new X509Certificate(pem).fingerprint256;
  expect(published(made)).toEqual([print(own.pem), true]);
  expect(published(given, [other.certificate])).toEqual([print(other.pem), true]);
  expect(published(given + other.pem)).toEqual([print(other.pem), true]);
  expect(published(chained + middle.pem, [other.certificate])).toEqual([print(other.pem), true]);
  expect(published(chained + other.pem + middle.pem)).toEqual([print(other.pem), true]);
  expect(published(chained + middle.pem)).toEqual([print(middle.pem), false]);
  expect(published(given)).toEqual([print(given), false]);
  expect(published(selfSigned)).toEqual([print(selfSigned), true]);
});

it('--root-ca-file takes precedence, and listeners are called once per change', async () => {
  const own = await authority();
  let serving = await servingBy(own);
  const listeners = new Set<() => void>();
  const sources = {
    servingPem: () => serving,
    own: () => bundle(own.pem),
    known: () => [],
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    logger: silentLogger,
  };
  const configured = { current: () => bundle('GIVEN' + own.pem), onChange: () => () => undefined };
  expect(new LiveRootCa({ ...sources, configured }).current()).toBe('GIVEN' + own.pem);
  const root = new LiveRootCa({ ...sources, configured: undefined });
  const told: string[] = [];
  const end = root.onChange((pem) => told.push(pem));
  serving = await servingBy(own);
  for (const listener of listeners) listener();
  expect(told).toEqual([]);
  serving = await servingBy(await authority());
  for (const listener of [...listeners, ...listeners]) listener();
  expect(told).toEqual([root.current()]);
  end();
  expect(listeners.size).toBe(0);
});
