import { join } from 'node:path';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { adminDefault, makeClientPair, type AdminSubject, type ServiceAccountKey } from './authority.js';
import { parseCaBundle, type CaBundle } from './ca-bundle.js';
import { CertificateError, reasonOf } from './certificate-error.js';
import { kubeconfig } from './kubeconfig.js';
import { LiveValue, type Live } from './live.js';
import type { KeyPairPem } from './pem.js';
import { PkiStore, type Authority } from './pki-store.js';
import { makePrivateDirectory, readIfThere, tighten, writeAtomically } from './private-files.js';
import { servingNames, type ServingNames, type ServingNamesOptions } from './serving-names.js';

/** What a server needs to prove itself, to know its administrator, and to sign tokens. */
export interface Pki {
  readonly authority: Live<CaBundle>;
  readonly serving: Live<KeyPairPem>;
  readonly admin: Live<KeyPairPem>;
  /** Needed by the first token only: await it as late as possible. */
  readonly serviceAccountKey: Promise<ServiceAccountKey>;
  /** `server` is what clients dial: `https://127.0.0.1:6443`. */
  adminKubeconfig(server: string): string;
  /** A client certificate of one year for any user. */
  issueClient(subject: AdminSubject): Promise<KeyPairPem>;
  close(): void;
}

export interface PkiOptions extends ServingNamesOptions {
  /** The data directory; keys and certificates are kept in its `pki`, the kubeconfig beside it. */
  readonly directory: string;
  /** Where keys and certificates are kept instead. */
  readonly certificateDirectory?: string;
  readonly kubeconfigFile?: string | undefined;
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
  const wanted = { names, admin: options.admin ?? adminDefault };
  return new StoredPki(options, store, serviceAccountKey, wanted, await loadAll(store, wanted));
}

interface Wanted {
  readonly names: ServingNames;
  readonly admin: AdminSubject;
}

interface Loaded {
  readonly authority: Authority;
  readonly serving: KeyPairPem;
  readonly admin: KeyPairPem;
}

async function loadAll(store: PkiStore, { names, admin }: Wanted): Promise<Loaded> {
  const authority = await store.loadAuthority();
  return {
    authority,
    serving: await store.loadServing(authority, names),
    admin: await store.loadAdmin(authority, admin),
  };
}

export class StoredPki implements Pki {
  readonly authority: LiveValue<CaBundle>;
  readonly serving: LiveValue<KeyPairPem>;
  readonly admin: LiveValue<KeyPairPem>;
  private readonly timer: Timer;
  /** Known once the kubeconfig has been saved. */
  private server: string | undefined;

  constructor(
    private readonly options: PkiOptions,
    private readonly store: PkiStore,
    readonly serviceAccountKey: Promise<ServiceAccountKey>,
    private readonly wanted: Wanted,
    private loaded: Loaded,
  ) {
    const { logger, clock } = options;
    this.authority = new LiveValue(parseCaBundle(loaded.authority.pem, 'ca.crt'), logger);
    this.serving = new LiveValue(loaded.serving, logger);
    this.admin = new LiveValue(loaded.admin, logger);
    this.timer = every(clock, checkMs, () =>
      this.refresh().catch((error: unknown) => logger.error('certificates not renewed', { error: reasonOf(error) })),
    );
  }

  /** Reads the files again and renews what is about to run out; a timer does so twice a day. */
  async refresh(): Promise<void> {
    const before = this.loaded;
    const after = await loadAll(this.store, this.wanted);
    this.loaded = after;
    if (after.authority.pem !== before.authority.pem)
      this.authority.replace(parseCaBundle(after.authority.pem, 'ca.crt'));
    if (!isSamePair(after.serving, before.serving)) this.serving.replace(after.serving);
    if (!isSamePair(after.admin, before.admin)) this.admin.replace(after.admin);
    if (this.server !== undefined) await this.saveAdminKubeconfig(this.server);
  }

  adminKubeconfig(server: string): string {
    const { authority, admin } = this.loaded;
    return kubeconfig({ server, certificateAuthority: authority.pem, user: admin });
  }

  /** Writes `<directory>/admin.kubeconfig`, or the file of the options, and returns its path. A file that still fits is kept with its owner's edits. */
  async saveAdminKubeconfig(server: string): Promise<string> {
    this.server = server;
    const file = this.options.kubeconfigFile ?? join(this.options.directory, 'admin.kubeconfig');
    const wanted = this.adminKubeconfig(server);
    const found = await readIfThere(file);
    const facts = wanted.split('\n').filter((line) => /(data|server): /.test(line));
    if (found !== undefined && facts.every((line) => found.includes(line))) await tighten(file, 0o600);
    else await writeAtomically(file, wanted, 0o600);
    return file;
  }

  async issueClient(subject: AdminSubject): Promise<KeyPairPem> {
    const { certificate, key } = this.loaded.authority;
    if (key === undefined) throw new CertificateError('there is no key of the authority to sign with');
    return makeClientPair({ certificate, key }, subject, this.options.clock.now());
  }

  close(): void {
    this.timer.cancel();
  }
}

function isSamePair(one: KeyPairPem, other: KeyPairPem): boolean {
  return one.certificate === other.certificate && one.key === other.key;
}
