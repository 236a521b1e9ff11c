import { generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { systemClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { keyPem, makeAuthority, makeKey, makeServingPair, signerOf } from './authority.js';
import { parseCaBundle } from './ca-bundle.js';
import { ClientCertificates } from './client-certificates.js';
import { issueCertificate, type Signer } from './issue-certificate.js';
import { LiveValue } from './live.js';
import { servingNames } from './serving-names.js';
import { TlsMaterial } from './tls-material.js';
import { keyProblem, verifyClientCertificate } from './verify-client-certificate.js';

const now = Date.now();
const lifetime = { notBeforeMs: now - 60_000, notAfterMs: now + 3_600_000 };
const rsa = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).privateKey;
const der = (pem: string) => new X509Certificate(pem).raw;

async function authority(key = makeKey()): Promise<{ pem: string; signer: Signer }> {
  const pem = await makeAuthority(key, now);
  return { pem, signer: signerOf(pem, key) };
}
const client = (key: KeyObject, signer: Signer, commonName = 'joe') =>
  issueCertificate({ commonName, usage: 'client', key, signer, ...lifetime });

test.each<[string, { type?: string; modulusLength?: number; publicExponent?: bigint }, RegExp | undefined]>([
  ['RSA 2048', { modulusLength: 2048, publicExponent: 65_537n }, undefined],
  ['RSA 8192', { modulusLength: 8192, publicExponent: 3n }, undefined],
  ['RSA 512', { modulusLength: 512, publicExponent: 65_537n }, /less than 1024 bits/],
  ['RSA 16384', { modulusLength: 16_384, publicExponent: 65_537n }, /more than 8192 bits/],
  ['RSA with an exponent of 32 bits', { modulusLength: 2048, publicExponent: 2n ** 31n }, /too large an exponent/],
  [
    'RSA with an exponent of its own size',
    { modulusLength: 3072, publicExponent: 2n ** 3071n + 1n },
    /too large an exponent/,
  ],
  ['RSA-PSS 512', { type: 'rsa-pss', modulusLength: 512, publicExponent: 65_537n }, /less than 1024/],
  ['EC', { type: 'ec' }, undefined],
])('keyProblem of a key of %s', (_name, { type = 'rsa', ...asymmetricKeyDetails }, problem) => {
  const found = keyProblem({ asymmetricKeyType: type as 'rsa', asymmetricKeyDetails });
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});

test.each<[string, () => KeyObject, RegExp]>([
  ['a key of 512 bits', () => rsa(512), /"CN=joe" has an RSA key of less than 1024 bits/],
  ['an exponent of 32 bits', () => rsa(1024, 4_294_967_295), /"CN=joe" has an RSA key with too large an exponent/],
])('a client certificate with %s is rejected, whichever CA signed it', async (_name, makeOwnKey, reason) => {
  const { pem, signer } = await authority();
  const leaf = der(await client(makeOwnKey(), signer));
  const verdict = verifyClientCertificate([leaf], parseCaBundle(pem, 'ca'), now);
  expect(verdict).toEqual({ ok: false, reason: expect.stringMatching(reason) as string });
});

test('no signature is checked with the key of an intermediate that exceeds the bounds', async () => {
  const trusted = await authority();
  const { signer } = await authority(rsa(2048, 4_294_967_295));
  const chain = [der(await client(makeKey(), signer)), ...Array<Buffer>(9).fill(signer.certificate.raw)];
  const verdict = verifyClientCertificate(chain, parseCaBundle(trusted.pem, 'ca'), now);
  expect(verdict).toEqual({
    ok: false,
    reason: expect.stringMatching(/too large an exponent|unknown authority/) as string,
  });
});

test('a chain of a hundred certificates is rejected without parsing it', () => {
  const chain = Array<Buffer>(100).fill(Buffer.from('not read'));
  const verdict = verifyClientCertificate(chain, { pem: '', certificates: [] }, now);
  expect(verdict).toEqual({ ok: false, reason: 'more than 10 certificates were presented' });
});

describe('a TLS connection', () => {
  const verdicts: unknown[] = [];
  let port: number;
  let ca: string;
  let closeServer: () => void;
  let bundle: LiveValue<ReturnType<typeof parseCaBundle>>;
  let own: { key: string; cert: string };

  beforeAll(async () => {
    const { pem, signer } = await authority();
    ca = pem;
    const key = makeKey();
    own = { key: keyPem(key), cert: await client(key, signer) };
    bundle = new LiveValue(parseCaBundle(pem, 'ca'), silentLogger);
    const serving = await makeServingPair(signer, servingNames({}), now);
    const material = new TlsMaterial({
      serving: new LiveValue(serving, silentLogger),
      clientCas: [bundle],
      logger: silentLogger,
    });
    const certificates = new ClientCertificates(() => material.clientCaBundle(), 'kubernetes.io');
    const server = createServer(
      { ...material.current(), requestCert: true, rejectUnauthorized: false },
      (socket: TLSSocket) => {
        socket.on('error', () => undefined);
        socket.on('data', () => {
          const verdict = certificates.verdictOf(socket, systemClock);
          verdicts.push(verdict && 'identity' in verdict ? verdict.identity.name : (verdict?.refused ?? 'nobody'));
          socket.write('.');
        });
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    closeServer = () => server.close();
  });
  afterAll(() => closeServer());

  async function ask(options: object): Promise<TLSSocket> {
    const socket = connect({ port, host: '127.0.0.1', ca, ...options });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    socket.write('?');
    await once(socket, 'data');
    return socket;
  }

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('of %s is not resumed', async (version) => {
    const limits = { minVersion: version, maxVersion: version };
    let session: Buffer | undefined;
    const first = connect({ port, host: '127.0.0.1', ca, ...own, ...limits });
    first.on('session', (given) => (session = given));
    await once(first, 'secureConnect');
    first.write('?');
    await once(first, 'data');
    session ??= first.getSession();
    first.destroy();
    const second = await ask({ ...limits, session });
    expect(second.isSessionReused()).toBe(false);
    expect(verdicts.splice(0)).toEqual(['joe', 'nobody']);
    second.destroy();
  });

  it('of TLS 1.2 is not renegotiated', async () => {
    const socket = await ask({ ...own, maxVersion: 'TLSv1.2' });
    const error = await new Promise<Error | null>((resolve) => {
      socket.once('error', resolve);
      socket.once('close', () => resolve(new Error('closed')));
      socket.renegotiate({ rejectUnauthorized: true }, resolve);
    });
    expect(error).not.toBeNull();
    verdicts.splice(0);
    socket.destroy();
  });

  it('loses its user when the CA is removed from the bundle', async () => {
    const socket = await ask(own);
    bundle.replace(parseCaBundle((await authority()).pem, 'other'));
    socket.write('?');
    await once(socket, 'data');
    expect(verdicts.splice(0)).toEqual(['joe', expect.stringMatching(/unknown authority|signature .* is wrong/)]);
    socket.destroy();
  });
});
