import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeAuthority, makeKey, makeServingPair, signerOf } from '../../src/certificates/authority.js';

const audience = 'keelson-bench';

interface JwtIssuer {
  readonly url: string;
  readonly audience: string;
  /** A token of the user `benchmark`, valid for an hour. */
  readonly token: string;
  /** Writes the CA of the issuer and returns the path. */
  caFile(directory: string): Promise<string>;
  stop(): void;
}

/** Starts an OpenID issuer in this process, which signs with RS256. Keelson asks it for its keys only. */
export async function startJwtIssuer(): Promise<JwtIssuer> {
  const authorityKey = makeKey();
  const ca = await makeAuthority(authorityKey, Date.now());
  const names = { dns: ['localhost'], ip: ['127.0.0.1'], refused: [] };
  const pair = await makeServingPair(signerOf(ca, authorityKey), names, Date.now());
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = { keys: [{ kid: 'one', alg: 'RS256', use: 'sig', ...publicKey.export({ format: 'jwk' }) }] };
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const document = request.url === '/keys' ? keys : { issuer: url, jwks_uri: `${url}/keys` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: url, aud: audience, sub: 'benchmark', iat: now, exp: now + 3600 };
  const content = `${segment({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${segment(claims)}`;
  return {
    url,
    audience,
    token: `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`,
    async caFile(directory) {
      await mkdir(directory, { recursive: true });
      const file = join(directory, 'issuer-ca.crt');
      await writeFile(file, ca);
      return file;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
