import type { Clock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import {
  adminDefault,
  makeAuthority,
  makeClientPair,
  makeKey,
  makeServiceAccountKey,
  makeServingPair,
  signerOf,
  type AdminSubject,
  type ServiceAccountKey,
} from './authority.js';
import { parseCaBundle } from './ca-bundle.js';
import { kubeconfig } from './kubeconfig.js';
import { LiveValue } from './live.js';
import { frontProxySubject, type Pki } from './pki.js';
import { servingNames, type ServingNamesOptions } from './serving-names.js';

interface EphemeralPkiOptions extends ServingNamesOptions {
  readonly clock: Clock;
  readonly admin?: AdminSubject;
}

/** The only service account key of this process, shared by all ephemeral PKIs. */
let serviceAccountKey: Promise<ServiceAccountKey> | undefined;
const pkis = new Map<string, Promise<Pki>>();

/**
 * Returns keys and certificates that are never written to files, for tests and embedding. They are generated once in a
 * process for each set of names; servers that share them trust the same users.
 */
export function makeEphemeralPki(options: EphemeralPkiOptions): Promise<Pki> {
  const { dns, ip } = servingNames(options);
  const admin = options.admin ?? adminDefault;
  // The month is part of the key, so that a long running process, or one with a test clock, gets valid certificates.
  const month = Math.floor(options.clock.now() / (30 * 86_400_000));
  const identity = [dns, ip, [admin.commonName], admin.organizations, [month]]
    .map((list) => list.join('\n'))
    .join('\n\n');
  let pki = pkis.get(identity);
  if (pki === undefined) {
    pki = make(options, admin);
    pkis.set(identity, pki);
    pki.catch(() => pkis.delete(identity));
  }
  return pki;
}

async function make(options: EphemeralPkiOptions, admin: AdminSubject): Promise<Pki> {
  const { clock } = options;
  const key = makeKey();
  const certificate = await makeAuthority(key, clock.now());
  const signer = signerOf(certificate, key);
  const proxyKey = makeKey();
  const proxyCertificate = await makeAuthority(proxyKey, clock.now());
  const [serving, client, proxyClient] = await Promise.all([
    makeServingPair(signer, servingNames(options), clock.now()),
    makeClientPair(signer, admin, clock.now()),
    makeClientPair(signerOf(proxyCertificate, proxyKey), frontProxySubject, clock.now()),
  ]);
  return {
    authority: new LiveValue(parseCaBundle(certificate, 'the authority'), silentLogger),
    serving: new LiveValue(serving, silentLogger),
    admin: new LiveValue(client, silentLogger),
    frontProxy: {
      authority: new LiveValue(parseCaBundle(proxyCertificate, 'the authority of the proxy'), silentLogger),
      client: new LiveValue(proxyClient, silentLogger),
    },
    get serviceAccountKey() {
      return (serviceAccountKey ??= makeServiceAccountKey());
    },
    adminKubeconfig: (server) => kubeconfig({ server, certificateAuthority: certificate, user: client }),
    issueClient: (subject) => makeClientPair(signer, subject, clock.now()),
    issuer: () => signer,
    close: () => Promise.resolve(),
  };
}
