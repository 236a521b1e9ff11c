import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpsServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { ManualClock, systemClock } from '../std/clock.js';
import { silentLogger, type Logger } from '../std/logger.js';
import { keyPem, makeAuthority, makeKey, makeServingPair, signerOf } from './authority.js';
import { LiveValue } from './live.js';
import { issueCertificate, type Signer } from './issue-certificate.js';
import type { KeyPairPem } from './pem.js';
import { servingNames } from './serving-names.js';
import { liveCaBundle, liveServingPair, TlsMaterial } from './tls-material.js';

let directory: string;
let signer: Signer;
let caPem: string;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  const key = makeKey();
  caPem = await makeAuthority(key, Date.now());
  signer = signerOf(caPem, key);
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tls-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) close();
  await rm(directory, { recursive: true });
});

const at = (name: string) => join(directory, name);
const pairFor = (...hostNames: string[]) => makeServingPair(signer, servingNames({ hostNames }), Date.now());

async function put(pair: KeyPairPem, folder = ''): Promise<{ certificateFile: string; keyFile: string }> {
  const files = { certificateFile: at(join(folder, 'tls.crt')), keyFile: at(join(folder, 'tls.key')) };
  await writeFile(files.certificateFile, pair.certificate);
  await writeFile(files.keyFile, pair.key);
  return files;
}

async function serve(material: TlsMaterial): Promise<Server> {
  const server = createServer({ ...material.current() }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => socket.write(data));
  });
  closing.push(
    () => server.close(),
    () => material.close(),
  );
  material.onChange((context) => server.setSecureContext(context));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function dial(server: Server, options: object = {}): Promise<TLSSocket> {
  const port = (server.address() as AddressInfo).port;
  const socket = connect({ host: '127.0.0.1', port, ca: caPem, ...options });
  closing.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

async function echoed(socket: TLSSocket, text: string): Promise<string> {
  socket.write(text);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return String(data);
}

const namesOf = (socket: TLSSocket) => socket.getPeerCertificate().subjectaltname;

it('uses a changed pair for new connections; open ones continue', async () => {
  const files = await put(await pairFor('old.example'));
  const clock = new ManualClock();
  const serving = await liveServingPair({ ...files, clock, logger: silentLogger });
  closing.push(() => serving.close());
  const material = new TlsMaterial({ serving, clientCas: [], logger: silentLogger });
  const server = await serve(material);
  const open = await dial(server);
  expect(namesOf(open)).toContain('old.example');

  await put(await pairFor('new.example'));
  const changed = new Promise((resolve) => material.onChange(resolve));
  clock.advance(5_000);
  await changed;

  expect(namesOf(await dial(server))).toContain('new.example');
  expect(await echoed(open, 'still here')).toBe('still here');
});

it('reloads a mounted Secret, whose files are symlinks into a replaced directory', async () => {
  await mkdir(at('v1'));
  await mkdir(at('v2'));
  await put(await pairFor('v1.example'), 'v1');
  await symlink('v1', at('..data'));
  await symlink('..data/tls.crt', at('tls.crt'));
  await symlink('..data/tls.key', at('tls.key'));
  const files = { certificateFile: at('tls.crt'), keyFile: at('tls.key') };
  const serving = await liveServingPair({ ...files, clock: new ManualClock(), logger: silentLogger });
  const v2 = await pairFor('v2.example');
  await put(v2, 'v2');
  await symlink('v2', at('..tmp'));
  await rename(at('..tmp'), at('..data'));
  await serving.refresh();
  expect(serving.current()).toEqual(v2);
});

it('keeps the old pair until both new files are valid, and logs the failure once', async () => {
  const old = await pairFor('old.example');
  const next = await pairFor('new.example');
  const files = await put(old);
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_message, fields) => void errors.push(fields?.['failure']) };
  const serving = await liveServingPair({ ...files, clock: new ManualClock(), logger });
  const steps: [string, () => Promise<unknown>, RegExp][] = [
    [
      'the certificate alone',
      () => writeFile(files.certificateFile, next.certificate),
      /does not belong to the first cert/,
    ],
    ['an empty file', () => writeFile(files.certificateFile, ''), /holds no PEM certificate/],
    ['no file', () => rm(files.certificateFile), /ENOENT/],
  ];
  for (const [name, step, message] of steps) {
    await step();
    await serving.refresh();
    await serving.refresh();
    expect([name, serving.current()]).toEqual([name, old]);
    expect(errors.splice(0)).toEqual([expect.stringMatching(message)]);
  }
  await put(next);
  await serving.refresh();
  expect(serving.current()).toEqual(next);
  expect(errors).toEqual([]);
});

it('does not notify listeners if a file was rewritten with the same contents', async () => {
  const pair = await pairFor();
  const files = await put(pair);
  const serving = await liveServingPair({ ...files, clock: new ManualClock(), logger: silentLogger });
  let changes = 0;
  serving.onChange(() => changes++);
  await put(pair);
  await serving.refresh();
  expect(changes).toBe(0);
});

describe('serving pairs of the user', () => {
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = makeKey();
  const certify = (key: typeof rsa) => {
    const lifetime = { notBeforeMs: Date.now() - 1_000, notAfterMs: Date.now() + 3_600_000 };
    return issueCertificate({ commonName: 'given', usage: 'server', ip: ['127.0.0.1'], key, signer, ...lifetime });
  };
  // The name of the curve, which openssl ecparam writes before a key.
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';

  it.each([
    ['RSA, PKCS #8', rsa, () => keyPem(rsa)],
    ['RSA, PKCS #1', rsa, () => String(rsa.export({ type: 'pkcs1', format: 'pem' }))],
    ['EC, PKCS #8', ec, () => keyPem(ec)],
    ['EC, SEC 1', ec, () => parameters + String(ec.export({ type: 'sec1', format: 'pem' }))],
  ])('accepts %s', async (_name, key, pem) => {
    const files = await put({ certificate: `a comment\n${await certify(key)}${caPem}`, key: pem() });
    const serving = await liveServingPair({ ...files, clock: new ManualClock(), logger: silentLogger });
    const server = await serve(new TlsMaterial({ serving, clientCas: [], logger: silentLogger }));
    expect((await dial(server)).authorized).toBe(true);
  });

  it.each<[string, () => Promise<KeyPairPem>, RegExp]>([
    [
      'the key of another',
      async () => ({ certificate: await certify(ec), key: keyPem(makeKey()) }),
      /tls\.key does not belong/,
    ],
    [
      'no key',
      async () => ({ certificate: await certify(ec), key: caPem }),
      /tls\.key holds no usable unencrypted PEM/,
    ],
    ['no certificate', async () => ({ certificate: keyPem(ec), key: keyPem(ec) }), /tls\.crt holds no PEM certificate/],
    [
      'an encrypted key',
      async () => {
        const cipher = { cipher: 'aes-256-cbc', passphrase: 'x' };
        return { certificate: await certify(ec), key: String(ec.export({ type: 'pkcs8', format: 'pem', ...cipher })) };
      },
      /tls\.key holds no usable unencrypted PEM/,
    ],
    [
      'a key too small to serve with',
      async () => {
        const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 512 });
        return { certificate: await certify(privateKey), key: keyPem(privateKey) };
      },
      /tls\.crt cannot be used as serving certificate: .*key too small/,
    ],
  ])('rejects %s', async (_name, pair, message) => {
    const files = await put(await pair());
    await expect(liveServingPair({ ...files, clock: new ManualClock(), logger: silentLogger })).rejects.toThrow(
      message,
    );
  });

  it('rejects files that do not exist', async () => {
    const files = { certificateFile: at('none.crt'), keyFile: at('none.key') };
    const opening = liveServingPair({ ...files, clock: new ManualClock(), logger: silentLogger });
    await expect(opening).rejects.toThrow(/cannot use .*none\.crt and .*none\.key: ENOENT/);
  });
});

describe('client CAs', () => {
  const serving = async () => new LiveValue(await pairFor(), silentLogger);

  it('trusts no client certificates if no CA is configured, not even those of public CAs', async () => {
    const material = new TlsMaterial({ serving: await serving(), clientCas: [], logger: silentLogger });
    expect(material.current().ca).toEqual([]);
    expect(material.clientCaBundle()).toBeUndefined();
  });

  it('joins several bundles, and creates another bundle when a file changes', async () => {
    const other = await makeAuthority(makeKey(), Date.now());
    await writeFile(at('ca.crt'), caPem.trimEnd());
    const sources = [at('ca.crt'), at('ca.crt')].map((file) =>
      liveCaBundle({ file, clock: systemClock, logger: silentLogger }),
    );
    const [one, two] = await Promise.all(sources);
    closing.push(
      () => one!.close(),
      () => two!.close(),
    );
    const material = new TlsMaterial({ serving: await serving(), clientCas: [one!, two!], logger: silentLogger });
    const before = material.clientCaBundle()!;
    expect(before.certificates).toHaveLength(2);
    await writeFile(at('ca.crt'), caPem + other);
    await one!.refresh();
    expect(material.clientCaBundle()).not.toBe(before);
    expect(material.clientCaBundle()!.certificates).toHaveLength(3);
    expect(material.current().ca).toEqual([material.clientCaBundle()!.pem]);
  });
});

describe('versions and cipher suites', () => {
  const materialOf = async (options: object) => {
    const serving = new LiveValue(await pairFor(), silentLogger);
    return new TlsMaterial({ serving, clientCas: [], logger: silentLogger, ...options });
  };

  it('rejects a client below the minimum TLS version', async () => {
    const server = await serve(await materialOf({ minVersion: 'VersionTLS13' }));
    expect((await dial(server)).getProtocol()).toBe('TLSv1.3');
    await expect(dial(server, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);
  });

  it('offers only the configured cipher suites', async () => {
    const server = await serve(await materialOf({ cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'] }));
    expect((await dial(server, { maxVersion: 'TLSv1.2' })).getCipher().name).toBe('ECDHE-ECDSA-AES256-GCM-SHA384');
    const other = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' };
    await expect(dial(server, other)).rejects.toThrow(/handshake failure/);
  });

  it('serves HTTPS', async () => {
    const material = await materialOf({});
    const server = createHttpsServer({ ...material.current() }, (_request, response) => response.end('hello'));
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const outgoing = request({ host: '127.0.0.1', port, ca: caPem, agent: false }).end();
    const [response] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream];
    const [body] = (await once(response, 'data')) as [Buffer];
    expect(String(body)).toBe('hello');
  });
});
