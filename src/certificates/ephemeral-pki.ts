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
import type { Pki } from './pki.js';
import { servingNames, type ServingNamesOptions } from './serving-names.js';

export interface EphemeralPkiOptions extends ServingNamesOptions {
  readonly clock: Clock;
  readonly admin?: AdminSubject;
}

/** The one service account key of this process: nothing outlives it that a second key would protect. */
let serviceAccountKey: Promise<ServiceAccountKey> | undefined;
const made = new Map<string, Promise<Pki>>();

/**
 * Keys and certificates that are never written down, for tests and embedding. Made once in a process for each set of
 * names, so that the second server costs nothing; every server then trusts the others' users.
 */
export function makeEphemeralPki(options: EphemeralPkiOptions): Promise<Pki> {
  const { dns, ip } = servingNames(options);
  const admin = options.admin ?? adminDefault;
  // The month is part of it: a process that lives for years, or has two clocks, gets certificates of its time.
  const month = Math.floor(options.clock.now() / (30 * 86_400_000));
  const identity = [dns, ip, [admin.commonName], admin.organizations, [month]]
    .map((list) => list.join('\n'))
    .join('\n\n');
  let pki = made.get(identity);
  if (pki === undefined) {
    pki = make(options, admin);
    made.set(identity, pki);
    pki.catch(() => made.delete(identity));
  }
  return pki;
}

async function make(options: EphemeralPkiOptions, admin: AdminSubject): Promise<Pki> {
  const { clock } = options;
  const key = makeKey();
  const certificate = await makeAuthority(key, clock.now());
  const signer = signerOf(certificate, key);
  const [serving, client] = await Promise.all([
    makeServingPair(signer, servingNames(options), clock.now()),
    makeClientPair(signer, admin, clock.now()),
  ]);
  return {
    authority: new LiveValue(parseCaBundle(certificate, 'the authority'), silentLogger),
    serving: new LiveValue(serving, silentLogger),
    admin: new LiveValue(client, silentLogger),
    get serviceAccountKey() {
      return (serviceAccountKey ??= makeServiceAccountKey());
    },
    adminKubeconfig: (server) => kubeconfig({ server, certificateAuthority: certificate, user: client }),
    issueClient: (subject) => makeClientPair(signer, subject, clock.now()),
    issuer: () => signer,
    close: () => undefined,
  };
}
