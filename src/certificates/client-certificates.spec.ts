import { webcrypto, X509Certificate, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { silentLogger } from '../std/logger.js';
import { keyPem, makeAuthority, makeClientPair, makeKey, makeServingPair, signerOf } from './authority.js';
import { joinCaBundles, parseCaBundle, type CaBundle } from './ca-bundle.js';
import { identityOfCertificate } from './certificate-identity.js';
import { ClientCertificates, type ClientCertificateVerdict } from './client-certificates.js';
import { issueCertificate, loadX509, type CertificateRequest, type Signer } from './issue-certificate.js';
import { LiveValue } from './live.js';
import { servingNames } from './serving-names.js';
import { TlsMaterial } from './tls-material.js';
import { verifyClientCertificate } from './verify-client-certificate.js';

const hourMs = 3_600_000;
const now = Date.now();
const key = makeKey();
const lifetime = { notBeforeMs: now - hourMs, notAfterMs: now + hourMs };
const keys = { root: makeKey(), middle: makeKey(), other: makeKey() };

let root: Signer;
let rootPem: string;
let bundle: CaBundle;
beforeAll(async () => {
  rootPem = await makeAuthority(keys.root, now);
  root = signerOf(rootPem, keys.root);
  bundle = parseCaBundle(rootPem, 'root');
});

const issue = (request: Partial<CertificateRequest>) =>
  issueCertificate({ commonName: 'joe', usage: 'client', key, signer: root, ...lifetime, ...request });
const authority = async (
  commonName: string,
  own: KeyObject,
  signer: Signer,
  request: Partial<CertificateRequest> = {},
) => signerOf(await issue({ commonName, usage: 'authority', key: own, signer, ...request }), own);
const der = (pem: string) => new X509Certificate(pem).raw;

/** Issues a certificate with extensions that the server's own CA never sets. */
async function special(
  signer: Signer,
  subject: object[] | string,
  own: KeyObject,
  extensions: (x: Library) => object[],
) {
  const x509 = await loadX509();
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const subtle = webcrypto.subtle;
  const spki = new X509Certificate(await issue({ key: own })).publicKey.export({ type: 'spki', format: 'der' });
  return x509.X509CertificateGenerator.create({
    subject: subject as string,
    issuer: new x509.X509Certificate(signer.certificate.raw).subjectName,
    publicKey: await subtle.importKey('spki', spki, algorithm, true, ['verify']),
    signingKey: await subtle.importKey('pkcs8', signer.key.export({ type: 'pkcs8', format: 'der' }), algorithm, true, [
      'sign',
    ]),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    notBefore: new Date(lifetime.notBeforeMs),
    notAfter: new Date(lifetime.notAfterMs),
    extensions: extensions(x509) as never,
  }).then((certificate) => `${certificate.toString('pem')}\n`);
}
type Library = Awaited<ReturnType<typeof loadX509>>;

describe('verification', () => {
  const middleOf = () => authority('middle', keys.middle, root);
  const rows: [name: string, presented: () => Promise<Buffer[]>, want: RegExp | 'ok', atMs?: number][] = [
    ['a leaf below the root', async () => [der(await issue({}))], 'ok'],
    [
      'a leaf below an intermediate',
      async () => {
        const middle = await middleOf();
        return [der(await issue({ signer: middle })), middle.certificate.raw];
      },
      'ok',
    ],
    [
      'intermediates in any order, with others between them',
      async () => {
        const middle = await middleOf();
        const low = await authority('low', keys.other, middle);
        const stranger = await authority('stranger', makeKey(), root);
        return [
          await issue({ signer: low }).then(der),
          middle.certificate.raw,
          stranger.certificate.raw,
          low.certificate.raw,
        ];
      },
      'ok',
    ],
    ['the root itself as an intermediate', async () => [der(await issue({})), root.certificate.raw], 'ok'],
    ['nothing', async () => [], /no certificate was presented/],
    ['no certificate', async () => [Buffer.from('0102')], /cannot be read/],
    [
      'an intermediate that was not presented',
      async () => [der(await issue({ signer: await middleOf() }))],
      /unknown authority/,
    ],
    [
      'another root of the same name',
      async () => [der(await issue({ signer: signerOf(await makeAuthority(keys.other, now), keys.other) }))],
      /unknown authority|signature of certificate/,
    ],
    [
      'a serving certificate',
      async () => [der(await issue({ usage: 'server' }))],
      /"CN=joe" is not for client authentication/,
    ],
    ['expired', async () => [der(await issue({}))], /has expired at/, now + 2 * hourMs],
    ['not valid yet', async () => [der(await issue({}))], /is not valid before/, now - 2 * hourMs],
    [
      'an expired intermediate',
      async () => {
        const middle = await authority('middle', keys.middle, root, { notAfterMs: now - 1_000 });
        return [der(await issue({ signer: middle })), middle.certificate.raw];
      },
      /"CN=middle" has expired/,
    ],
    [
      'a leaf that signs',
      async () => {
        const leaf = signerOf(await issue({ commonName: 'clever', key: keys.other }), keys.other);
        return [der(await issue({ signer: leaf })), leaf.certificate.raw];
      },
      /unknown authority|"CN=clever" is not a certificate authority/,
    ],
    [
      'more intermediates than the path length allows',
      async () => {
        const pem = await special(root, 'CN=narrow', keys.middle, (x) => [
          new x.BasicConstraintsExtension(true, 0, true),
        ]);
        const narrow = signerOf(pem, keys.middle);
        const low = await authority('low', keys.other, narrow);
        return [der(await issue({ signer: low })), low.certificate.raw, narrow.certificate.raw];
      },
      /too many intermediates below "CN=narrow"/,
    ],
    [
      'as many intermediates as the path length allows',
      async () => {
        const pem = await special(root, 'CN=narrow', keys.middle, (x) => [
          new x.BasicConstraintsExtension(true, 0, true),
        ]);
        return [der(await issue({ signer: signerOf(pem, keys.middle) })), der(pem)];
      },
      'ok',
    ],
    [
      'an intermediate for servers only',
      async () => {
        const pem = await special(root, 'CN=web', keys.middle, (x) => [
          new x.BasicConstraintsExtension(true, undefined, true),
          new x.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']),
        ]);
        return [der(await issue({ signer: signerOf(pem, keys.middle) })), der(pem)];
      },
      /"CN=web" is not for client authentication/,
    ],
    ['no extended key usage at all', async () => [der(await special(root, 'CN=any', key, () => []))], 'ok'],
    [
      'a critical extension that nobody knows',
      async () => [
        der(await special(root, 'CN=odd', key, (x) => [new x.Extension('1.2.3.4', true, new Uint8Array([5, 0]))])),
      ],
      /unknown critical extension/,
    ],
    ['eleven certificates', async () => Array<Buffer>(11).fill(der(await issue({}))), /more than 10 certificates/],
    [
      'a changed certificate',
      async () => {
        const raw = Buffer.from(der(await issue({ commonName: 'joejoe' })));
        raw.write('adm', raw.indexOf('joejoe'));
        return [raw];
      },
      /the signature of certificate "CN=admjoe" is wrong/,
    ],
  ];
  it.each(rows)('%s', async (_name, presented, want, atMs = now) => {
    const verification = verifyClientCertificate(await presented(), bundle, atMs);
    if (want === 'ok') expect(verification).toMatchObject({ ok: true });
    else expect(verification).toEqual({ ok: false, reason: expect.stringMatching(want) });
  });

  it('bounds the signature checks of intermediates that issue each other', async () => {
    const pems = await Promise.all(
      Array.from({ length: 9 }, () => issue({ commonName: 'twin', usage: 'authority', key: keys.other })),
    );
    const twins = await Promise.all(
      pems.map((pem) => signerOf(pem, keys.other)).map((twin) => authority('twin', keys.other, twin)),
    );
    const stranger = parseCaBundle(await makeAuthority(keys.middle, now), 'stranger');
    const presented = [der(await issue({ signer: twins[0]! })), ...twins.map((twin) => twin.certificate.raw)];
    const verification = verifyClientCertificate(presented, stranger, now);
    expect(verification).toEqual({ ok: false, reason: 'too many signatures to check' });
  });
});

describe('identity', () => {
  const uid = '1.3.6.1.4.1.57683.2';
  it.each<[string, object[], object | undefined]>([
    [
      'several organizations, in order',
      [{ O: ['b'] }, { O: ['a'] }, { CN: ['joe'] }],
      { name: 'joe', groups: ['b', 'a'] },
    ],
    ['organizations in one set', [{ O: ['a'], OU: ['x'] }, { CN: ['joe'] }], { name: 'joe', groups: ['a'] }],
    ['no organization', [{ CN: ['system:node:n1'] }], { name: 'system:node:n1', groups: [] }],
    ['the last common name', [{ CN: ['x'] }, { CN: ['joe'] }], { name: 'joe' }],
    [
      'line breaks and commas are no separators',
      [{ CN: ['a\nO=system:masters,b+c'] }],
      { name: 'a\nO=system:masters,b+c', groups: [] },
    ],
    ['other letters', [{ O: ['Prüfung'] }, { CN: ['Ωmega'] }], { name: 'Ωmega', groups: ['Prüfung'] }],
    ['a uid', [{ CN: ['joe'] }, { [uid]: [{ utf8String: 'u-1' }] }], { name: 'joe', uid: 'u-1' }],
    ...(['bmpString', 'ia5String', 'printableString'] as const).map((type): [string, object[], object] => [
      `a ${type}`,
      [{ O: [{ [type]: 'system:masters' }] }, { CN: [{ [type]: 'joe' }] }],
      { name: 'joe', groups: ['system:masters'] },
    ]),
    ['a zero is part of a name', [{ O: ['system:masters\0x'] }, { CN: ['joe'] }], { groups: ['system:masters\0x'] }],
    ['no common name', [{ O: ['a'] }], undefined],
  ])('%s', async (_name, subject, want) => {
    const certificate = new X509Certificate(await special(root, subject, key, () => []));
    const identity = identityOfCertificate(certificate, 'kubernetes.io');
    if (want === undefined) return expect(identity).toBeUndefined();
    const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
    const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] };
    expect(identity).toMatchObject({ ...want, extra });
  });

  it('rejects a name in a string of an unknown type', async () => {
    const subject = [{ O: [{ universalString: 'a' }] }, { CN: ['joe'] }];
    const certificate = new X509Certificate(await special(root, subject, key, () => []));
    expect(() => identityOfCertificate(certificate, 'x')).toThrow('unsupported type 28');
  });

  it('rejects two uids', async () => {
    const subject = [{ CN: ['joe'] }, { [uid]: [{ utf8String: 'a' }] }, { [uid]: [{ utf8String: 'b' }] }];
    const certificate = new X509Certificate(await special(root, subject, key, () => []));
    expect(() => identityOfCertificate(certificate, 'x')).toThrow('more than one uid');
  });
});

describe('over real connections', () => {
  /** Starts a server that returns the verdict of each connection. */
  async function serving(
    use: (
      dial: (pair?: { certificate: string; key: string }, session?: Buffer) => Promise<Dialled>,
      context: Context,
    ) => Promise<void>,
  ) {
    const clientCa = new LiveValue(bundle, silentLogger);
    const pair = await makeServingPair(root, servingNames({}), now);
    const material = new TlsMaterial({
      serving: new LiveValue(pair, silentLogger),
      clientCas: [clientCa],
      logger: silentLogger,
    });
    const clients = new ClientCertificates(() => material.clientCaBundle(), 'kubernetes.io');
    const sockets: TLSSocket[] = [];
    const server = createServer({ ...material.current(), requestCert: true, rejectUnauthorized: false }, (socket) => {
      sockets.push(socket);
      socket.write('x');
    }).listen(0, '127.0.0.1');
    material.onChange((context) => server.setSecureContext(context));
    await once(server, 'listening');
    const dial = async (client?: { certificate: string; key: string }, session?: Buffer): Promise<Dialled> => {
      const credentials = client && { cert: client.certificate, key: client.key };
      const port = (server.address() as AddressInfo).port;
      const socket = connect({ host: '127.0.0.1', port, ca: rootPem, ...credentials, ...(session && { session }) });
      let offered: Buffer | undefined;
      socket.on('session', (bytes) => (offered = bytes));
      await once(socket, 'data');
      const accepted = sockets.at(-1)!;
      return {
        socket: accepted,
        reused: accepted.isSessionReused(),
        session: () => offered,
        verdict: (atMs = now) => clients.verdictOf(accepted, { now: () => atMs }),
      };
    };
    try {
      await use(dial, { clientCa });
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  }
  interface Dialled {
    socket: TLSSocket;
    reused: boolean;
    session(): Buffer | undefined;
    verdict(atMs?: number): ClientCertificateVerdict;
  }
  interface Context {
    clientCa: LiveValue<CaBundle>;
  }

  it('caches the verdict, and verifies again after a reload and after expiry', async () => {
    const joe = await makeClientPair(root, { commonName: 'joe', organizations: ['dev', 'ops'] }, now);
    await serving(async (dial, { clientCa }) => {
      const dialled = await dial(joe);
      const verdict = dialled.verdict();
      expect(verdict).toMatchObject({ identity: { name: 'joe', groups: ['dev', 'ops'] } });
      expect(dialled.verdict()).toBe(verdict);
      expect(dialled.verdict(now + 366 * 24 * hourMs)).toMatchObject({ refused: expect.stringMatching(/has expired/) });

      const otherPem = await makeAuthority(keys.other, now);
      clientCa.replace(parseCaBundle(otherPem, 'other'));
      expect(dialled.verdict()).toMatchObject({ refused: expect.any(String) });
      const other = await makeClientPair(signerOf(otherPem, keys.other), { commonName: 'eve', organizations: [] }, now);
      expect((await dial(other)).verdict()).toMatchObject({ identity: { name: 'eve' } });
      clientCa.replace(joinCaBundles([bundle, parseCaBundle(otherPem, 'other')]));
      expect(dialled.verdict()).toMatchObject({ identity: { name: 'joe' } });
    });
  });

  it('gets the intermediates, also on a second connection of a client', async () => {
    const middle = await authority('middle', keys.middle, root);
    const chain = { certificate: (await issue({ signer: middle })) + middle.certificate.toString(), key: keyPem(key) };
    await serving(async (dial) => {
      const first = await dial(chain);
      expect(first.verdict()).toMatchObject({ identity: { name: 'joe' } });
      const second = await dial(chain, first.session());
      expect(second.verdict()).toMatchObject({ identity: { name: 'joe' } });
    });
  });

  it('returns undefined without a certificate, and rejects one of an unknown CA', async () => {
    const stranger = signerOf(await makeAuthority(keys.other, now), keys.other);
    const eve = await makeClientPair(stranger, { commonName: 'eve', organizations: ['system:masters'] }, now);
    const server = { certificate: await issue({ usage: 'server' }), key: keyPem(key) };
    await serving(async (dial) => {
      expect((await dial()).verdict()).toBeUndefined();
      expect((await dial(eve)).verdict()).toMatchObject({ refused: expect.any(String) });
      expect((await dial(server)).verdict()).toMatchObject({ refused: expect.stringMatching(/not for client/) });
    });
  });
});
