import { join } from 'node:path';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { adminDefault, makeClientPair, type AdminSubject, type ServiceAccountKey } from './authority.js';
import { parseCaBundle, type CaBundle } from './ca-bundle.js';
import { CertificateError, reasonOf } from './certificate-error.js';
import type { Signer } from './issue-certificate.js';
import { isOwnKubeconfig, kubeconfig } from './kubeconfig.js';
import type { LiveFiles } from './live-files.js';
import { LiveValue, type Live } from './live.js';
import type { KeyPairPem } from './pem.js';
import { PkiStore, type Authority, type LeafPair } from './pki-store.js';
import { makePrivateDirectory, readIfThere, writeAtomically } from './private-files.js';
import { servingNames, type ServingNames, type ServingNamesOptions } from './serving-names.js';
import { liveServingPair } from './tls-material.js';

/** What a server needs to prove itself, to know its administrator, and to sign tokens. */
export interface Pki {
  readonly authority: Live<CaBundle>;
  /** Undefined where the options say that a serving pair is given. */
  readonly serving: Live<KeyPairPem> | undefined;
  readonly admin: Live<KeyPairPem>;
  /** Needed by the first token only: await it as late as possible. */
  readonly serviceAccountKey: Promise<ServiceAccountKey>;
  /** `server` is what clients dial: `https://127.0.0.1:6443`. */
  adminKubeconfig(server: string): string;
  /** A client certificate of one year for any user. */
  issueClient(subject: AdminSubject): Promise<KeyPairPem>;
  /** The authority with its key, to sign with; undefined where its key is kept elsewhere. */
  issuer(): Signer | undefined;
  close(): void;
}

export interface PkiOptions extends ServingNamesOptions {
  /** The data directory; keys and certificates are kept in its `pki`, the kubeconfig beside it. */
  readonly directory: string;
  /** Where keys and certificates are kept instead. */
  readonly certificateDirectory?: string;
  readonly kubeconfigFile?: string | undefined;
  /** True if the server has a serving pair from elsewhere: none is looked for or made then. */
  readonly isServingPairGiven?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admin?: AdminSubject;
}

const checkMs = 12 * 60 * 60_000;

/** Everything of a Pki from `<directory>/pki`, made where it is missing and renewed before it runs out. */
export async function ensurePki(options: PkiOptions): Promise<StoredPki> {
  const directory = options.certificateDirectory ?? join(options.directory, 'pki');
  await makePrivateDirectory(directory);
  const store = new PkiStore(directory, options.clock, options.logger);
  const names = servingNames(options);
  if (names.refused.length > 0) options.logger.warn('names that no certificate can hold', { names: names.refused });
  const found = await store.readServiceAccountKey();
  const serviceAccountKey = found === undefined ? store.makeServiceAccountKey() : Promise.resolve(found);
  // Whoever awaits it sees the failure; until then it must not end the process.
  serviceAccountKey.catch((error: unknown) =>
    options.logger.error('no service account key', { error: reasonOf(error) }),
  );
  const wanted = { names: options.isServingPairGiven ? undefined : names, admin: options.admin ?? adminDefault };
  const loaded = await loadAll(store, wanted);
  return new StoredPki(options, store, serviceAccountKey, wanted, loaded, await ownersPair(loaded, options));
}

interface Wanted {
  readonly names: ServingNames | undefined;
  readonly admin: AdminSubject;
}

interface Loaded {
  readonly authority: Authority;
  readonly serving: LeafPair | undefined;
  readonly admin: KeyPairPem;
}

async function loadAll(store: PkiStore, { names, admin }: Wanted): Promise<Loaded> {
  const authority = await store.loadAuthority();
  return {
    authority,
    serving: names && (await store.loadServing(authority, names)),
    admin: await store.loadAdmin(authority, admin),
  };
}

/** The serving pair that the user put into the directory, followed like one that flags name. */
async function ownersPair({ serving }: Loaded, { clock, logger }: PkiOptions) {
  if (serving === undefined || serving.isOurs) return undefined;
  const { certificate, key } = serving.files;
  logger.info('serving with the certificate that was found, which this server did not make', { file: certificate });
  return liveServingPair({ certificateFile: certificate, keyFile: key, clock, logger });
}

export class StoredPki implements Pki {
  readonly authority: LiveValue<CaBundle>;
  readonly serving: Live<KeyPairPem> | undefined;
  readonly admin: LiveValue<KeyPairPem>;
  /** The serving pair where this server makes it. */
  private readonly madeServing: LiveValue<KeyPairPem> | undefined;
  private readonly timer: Timer;
  /** Known once the kubeconfig has been saved. */
  private saved: { readonly server: string; readonly rootCa: (() => string) | undefined } | undefined;

  constructor(
    private readonly options: PkiOptions,
    private readonly store: PkiStore,
    readonly serviceAccountKey: Promise<ServiceAccountKey>,
    private readonly wanted: Wanted,
    private loaded: Loaded,
    private readonly ownersServing: LiveFiles<KeyPairPem> | undefined,
  ) {
    const { logger, clock } = options;
    this.authority = new LiveValue(parseCaBundle(loaded.authority.pem, 'ca.crt'), logger);
    this.madeServing = loaded.serving && !ownersServing ? new LiveValue<KeyPairPem>(loaded.serving, logger) : undefined;
    this.serving = ownersServing ?? this.madeServing;
    this.admin = new LiveValue(loaded.admin, logger);
    this.timer = every(clock, checkMs, () =>
      this.refresh().catch((error: unknown) => logger.error('certificates not renewed', { error: reasonOf(error) })),
    );
  }

  /** Reads the files again and renews what is about to run out; a timer does so twice a day. */
  async refresh(): Promise<void> {
    const before = this.loaded;
    // Files of the user are followed by themselves, and one that is bad for a moment must not stop renewals.
    const after = await loadAll(this.store, this.ownersServing ? { ...this.wanted, names: undefined } : this.wanted);
    this.loaded = after;
    if (after.authority.pem !== before.authority.pem)
      this.authority.replace(parseCaBundle(after.authority.pem, 'ca.crt'));
    if (after.serving && before.serving && !isSamePair(after.serving, before.serving))
      this.madeServing?.replace(after.serving);
    if (!isSamePair(after.admin, before.admin)) this.admin.replace(after.admin);
    if (this.saved) await this.saveAdminKubeconfig(this.saved.server, this.saved.rootCa);
  }

  adminKubeconfig(server: string, rootCaPem = this.loaded.authority.pem): string {
    return kubeconfig({ server, certificateAuthority: rootCaPem, user: this.loaded.admin });
  }

  /**
   * Writes `<directory>/admin.kubeconfig`, or the file of the options, and returns its path. A file that still fits is
   * kept with its owner's edits; one that this server did not write is never written over. `rootCa` tells the
   * authorities that verify the serving certificate, where that is not our own.
   */
  async saveAdminKubeconfig(server: string, rootCa?: () => string): Promise<string> {
    this.saved = { server, rootCa };
    const file = this.options.kubeconfigFile ?? join(this.options.directory, 'admin.kubeconfig');
    const wanted = this.adminKubeconfig(server, rootCa?.());
    const found = await readIfThere(file);
    const facts = wanted.split('\n').filter((line) => /(data|server): /.test(line));
    if (found !== undefined && facts.every((line) => found.includes(line))) return file;
    if (found !== undefined && !isOwnKubeconfig(found)) {
      throw new CertificateError(
        `${file} was not written by this server and stays as it is: name another file with --kubeconfig-out, or remove it`,
      );
    }
    await writeAtomically(file, wanted, 0o600);
    return file;
  }

  async issueClient(subject: AdminSubject): Promise<KeyPairPem> {
    const { certificate, key } = this.loaded.authority;
    if (key === undefined) throw new CertificateError('there is no key of the authority to sign with');
    return makeClientPair({ certificate, key }, subject, this.options.clock.now());
  }

  issuer(): Signer | undefined {
    const { certificate, key } = this.loaded.authority;
    return key && { certificate, key };
  }

  close(): void {
    this.timer.cancel();
    this.ownersServing?.close();
  }
}

function isSamePair(one: KeyPairPem, other: KeyPairPem): boolean {
  return one.certificate === other.certificate && one.key === other.key;
}
