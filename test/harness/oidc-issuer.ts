import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { keyPem, makeAuthority, makeKey, makeServingPair, signerOf } from '../../src/certificates/authority.js';

export type Algorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512';

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

interface IssuerKey {
  readonly id: string;
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
}

let rsaKeyPem: string | undefined;
/** Generated once in a process, since it takes up to 300 ms. */
function rsaKey(): KeyObject {
  rsaKeyPem ??= keyPem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
  return createPrivateKey(rsaKeyPem);
}

export function makeIssuerKey(id: string, algorithm: Algorithm = 'ES256'): IssuerKey {
  const namedCurve = curves[algorithm];
  const key = namedCurve === undefined ? rsaKey() : generateKeyPairSync('ec', { namedCurve }).privateKey;
  return { id, algorithm, key };
}

/** Returns the public key as a JSON Web Key. */
export function publicJwk({ id, algorithm, key }: IssuerKey): JsonWebKey {
  return { kid: id, alg: algorithm, use: 'sig', ...createPublicKey(key).export({ format: 'jwk' }) };
}

const segment = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Signs a token. A text as header or claims is not encoded as JSON. */
export function signToken(
  claims: unknown,
  { id, algorithm, key }: IssuerKey,
  header: unknown = { alg: algorithm, kid: id, typ: 'JWT' },
): string {
  const content = `${segment(header)}.${segment(claims)}`;
  const padding = algorithm.startsWith('PS') ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: -1 } : {};
  const options = { key, dsaEncoding: 'ieee-p1363' as const, ...padding };
  return `${content}.${sign(`sha${algorithm.slice(2)}`, Buffer.from(content), options).toString('base64url')}`;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An OpenID issuer: a real HTTPS server with a CA of its own, a discovery document and a key set. */
export class OidcIssuer {
  /** Paths of all requests. */
  readonly requests: string[] = [];
  keys: readonly IssuerKey[] = [makeIssuerKey('first')];
  /** Answers of paths, instead of the usual ones. */
  readonly answers = new Map<string, Handler>();
  /** True to end every connection. The port stays taken, so that no other program gets it. */
  isDown = false;
  private readonly sockets = new Set<Duplex>();
  private server: Server | undefined;
  private port = 0;

  private constructor(
    /** CA certificate in PEM. */
    readonly ca: string,
    private readonly pair: { readonly certificate: string; readonly key: string },
  ) {}

  static async start(): Promise<OidcIssuer> {
    const key = makeKey();
    const ca = await makeAuthority(key, Date.now());
    const names = { dns: ['localhost'], ip: ['127.0.0.1'], refused: [] };
    const issuer = new OidcIssuer(ca, await makeServingPair(signerOf(ca, key), names, Date.now()));
    await issuer.open();
    return issuer;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** The part `issuer` of a configuration. */
  get settings() {
    return { url: this.url, audiences: ['keelson'], certificateAuthority: this.ca };
  }

  countOf(path: string): number {
    return this.requests.filter((one) => one === path).length;
  }

  private async open(): Promise<void> {
    const server = createServer({ cert: this.pair.certificate, key: this.pair.key }, (request, response) =>
      this.answer(request, response),
    );
    server.on('connection', (socket) => {
      if (this.isDown) socket.destroy();
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    // The tests look at what the clients report.
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async close(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** Signs a token with the first key. Claims replace those of a valid token; undefined removes one. */
  token(claims: Readonly<Record<string, unknown>> = {}, key: IssuerKey = this.keys[0]!, header?: unknown): string {
    return signToken({ ...this.claims(), ...claims }, key, header);
  }

  /** Claims of a valid token. */
  claims() {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.url, aud: 'keelson', sub: 'ali', iat: now, exp: now + 3600 };
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push(path);
    const handler = this.answers.get(path);
    if (handler) return handler(request, response);
    const documents: Readonly<Record<string, unknown>> = {
      '/.well-known/openid-configuration': { issuer: this.url, jwks_uri: `${this.url}/keys` },
      '/keys': { keys: this.keys.map(publicJwk) },
    };
    const found = documents[path];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? {}));
  }
}
