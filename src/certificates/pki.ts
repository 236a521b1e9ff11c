import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import {
  adminDefault,
  makeAuthority,
  makeClientPair,
  makeKey,
  type AdminSubject,
  type ServiceAccountKey,
} from './authority.js';
import { parseCaBundle, type CaBundle } from './ca-bundle.js';
import { CertificateError, reasonOf } from './certificate-error.js';
import type { Signer } from './issue-certificate.js';
import { isOwnKubeconfig, kubeconfig } from './kubeconfig.js';
import type { LiveFiles } from './live-files.js';
import { LiveValue, type Live } from './live.js';
import type { KeyPairPem } from './pem.js';
import { PkiStore } from './pki-store.js';
import type { Authority, LeafPair } from './pki-files.js';
import { makePrivateDirectory, readIfThere, writeAtomically } from './private-files.js';
import { servingNames, type ServingNames, type ServingNamesOptions } from './serving-names.js';
import { liveServingPair } from './tls-material.js';

/** The certificate by which aggregated API servers recognize this server, and the CA that verifies it. */
interface FrontProxy {
  readonly authority: Live<CaBundle>;
  readonly client: Live<KeyPairPem>;
}

/** The subject of that certificate, as kubeadm names it. */
export const frontProxySubject: AdminSubject = { commonName: 'front-proxy-client', organizations: [] };

/** CA, serving certificate, administrator's client certificate and service account key of a server. */
export interface Pki {
  readonly authority: Live<CaBundle>;
  /** Undefined if the serving certificate is configured by flags. */
  readonly serving: Live<KeyPairPem> | undefined;
  readonly admin: Live<KeyPairPem>;
  /** Has a CA of its own: client certificates of `authority` must not be taken for those of a proxy. */
  readonly frontProxy: FrontProxy;
  /** Pending while the key is generated; await it only when a token is issued or verified. */
  readonly serviceAccountKey: Promise<ServiceAccountKey>;
  /** Undefined if the service account key is not in a file. */
  readonly serviceAccountKeyFile?: ServiceAccountKeyFile | undefined;
  /** Returns the kubeconfig of the administrator. `server` is the URL for clients: `https://127.0.0.1:6443`. */
  adminKubeconfig(server: string): string;
  /** Issues a client certificate with a validity of a year. */
  issueClient(subject: AdminSubject): Promise<KeyPairPem>;
  /** Returns the CA with its key, for signing; undefined if there is no key. */
  issuer(): Signer | undefined;
  /** Resolves when no file will be written any more. */
  close(): Promise<void>;
}

/** File of the service account key, which may be replaced while the server runs. */
export interface ServiceAccountKeyFile {
  readonly path: string;
  /** Writes the public key of a replaced key to `sa.pub`. */
  readonly savePublicKey: () => Promise<void>;
}

export interface PkiOptions extends ServingNamesOptions {
  /**
   * Data directory: keys and certificates are stored in its subdirectory `pki`, the kubeconfig in the directory itself.
   */
  readonly directory: string;
  /** Directory of keys and certificates, instead of `<directory>/pki`. */
  readonly certificateDirectory?: string;
  readonly kubeconfigFile?: string | undefined;
  /** True if the serving certificate is configured by flags: none is read or generated then. */
  readonly isServingPairGiven?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admin?: AdminSubject;
}

const checkMs = 12 * 60 * 60_000;

/** Loads a Pki from `<directory>/pki`. Missing files are generated, and generated ones renewed before they expire. */
export async function ensurePki(options: PkiOptions): Promise<StoredPki> {
  const directory = options.certificateDirectory ?? join(options.directory, 'pki');
  await makePrivateDirectory(directory);
  const store = new PkiStore(directory, options.clock, options.logger);
  const proxyStore = new PkiStore(directory, options.clock, options.logger, 'front-proxy-');
  const names = servingNames(options);
  if (names.refused.length > 0)
    options.logger.warn('names are invalid in certificates and left out of the serving certificate', {
      names: names.refused,
    });
  const found = await store.readServiceAccountKey();
  const serviceAccountKey = found === undefined ? store.makeServiceAccountKey() : Promise.resolve(found);
  // Without a handler a rejection would end the process. Callers that await the key get the error too.
  serviceAccountKey.catch((error: unknown) =>
    options.logger.error(
      'the service account key could not be generated; no tokens can be issued, restart the server',
      {
        error: reasonOf(error),
      },
    ),
  );
  const wanted = { names: options.isServingPairGiven ? undefined : names, admin: options.admin ?? adminDefault };
  try {
    const loaded = await loadAll(store, proxyStore, { wanted, options });
    return new StoredPki(
      options,
      [store, proxyStore],
      serviceAccountKey,
      wanted,
      loaded,
      await userPair(loaded, options),
    );
  } catch (error) {
    // The caller may remove or mend the directory after the error; no file may be written to it later.
    await serviceAccountKey.catch(() => undefined);
    throw error;
  }
}

interface Wanted {
  readonly names: ServingNames | undefined;
  readonly admin: AdminSubject;
}

interface Loaded {
  readonly authority: Authority;
  readonly serving: LeafPair | undefined;
  readonly admin: KeyPairPem;
  readonly proxy: { readonly authority: Authority; readonly client: KeyPairPem };
}

interface Loading {
  readonly wanted: Wanted;
  readonly options: PkiOptions;
  readonly before?: Loaded;
}

async function loadAll(store: PkiStore, proxyStore: PkiStore, loading: Loading): Promise<Loaded> {
  const { names, admin } = loading.wanted;
  const authority = await store.loadAuthority();
  return {
    authority,
    serving: names && (await store.loadServing(authority, names)),
    admin: await store.loadClient(authority, admin, 'admin'),
    proxy: await loadProxy(proxyStore, loading),
  };
}

/** Loads the certificate for aggregated servers. In a directory that is read-only it has one that is kept in memory. */
async function loadProxy(store: PkiStore, { options, before }: Loading): Promise<Loaded['proxy']> {
  try {
    const authority = await store.loadAuthority();
    return { authority, client: await store.loadClient(authority, frontProxySubject, 'client') };
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    if (before) return before.proxy;
    options.logger.info(
      'the certificate for aggregated API servers is valid until the next start: it cannot be written',
      {
        error: reasonOf(error),
      },
    );
    const key = makeKey();
    const pem = await makeAuthority(key, options.clock.now());
    const certificate = new X509Certificate(pem);
    const client = await makeClientPair({ certificate, key }, frontProxySubject, options.clock.now());
    return { authority: { pem, certificate, key }, client };
  }
}

function isUnwritable(error: unknown): boolean {
  const cause = error instanceof CertificateError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && ['EROFS', 'EACCES', 'EPERM'].includes(String(cause.code));
}

/**
 * Returns the serving certificate of the user in the directory, which is reloaded on change like one named by flags.
 */
async function userPair({ serving }: Loaded, { clock, logger }: PkiOptions) {
  if (serving === undefined || serving.isOurs) return undefined;
  const { certificate, key } = serving.files;
  logger.info('using a serving certificate that this server did not generate; it is not renewed', {
    file: certificate,
  });
  return liveServingPair({ certificateFile: certificate, keyFile: key, clock, logger });
}

export class StoredPki implements Pki {
  readonly authority: LiveValue<CaBundle>;
  readonly serving: Live<KeyPairPem> | undefined;
  readonly admin: LiveValue<KeyPairPem>;
  readonly frontProxy: { readonly authority: LiveValue<CaBundle>; readonly client: LiveValue<KeyPairPem> };
  /** Serving certificate, if this server generates it. */
  private readonly generatedServing: LiveValue<KeyPairPem> | undefined;
  readonly serviceAccountKeyFile: ServiceAccountKeyFile;
  private readonly timer: Timer;
  private refreshing: Promise<void> = Promise.resolve();
  private savingPublicKey: Promise<unknown> = Promise.resolve();
  /** Arguments of the last saveAdminKubeconfig(). */
  private saved: { readonly server: string; readonly rootCa: (() => string) | undefined } | undefined;

  constructor(
    private readonly options: PkiOptions,
    private readonly stores: readonly [own: PkiStore, ofProxy: PkiStore],
    readonly serviceAccountKey: Promise<ServiceAccountKey>,
    private readonly wanted: Wanted,
    private loaded: Loaded,
    private readonly userServing: LiveFiles<KeyPairPem> | undefined,
  ) {
    const { logger, clock } = options;
    this.authority = new LiveValue(parseCaBundle(loaded.authority.pem, 'ca.crt'), logger);
    this.generatedServing =
      loaded.serving && !userServing ? new LiveValue<KeyPairPem>(loaded.serving, logger) : undefined;
    this.serving = userServing ?? this.generatedServing;
    this.admin = new LiveValue(loaded.admin, logger);
    this.frontProxy = {
      authority: new LiveValue(parseCaBundle(loaded.proxy.authority.pem, 'front-proxy-ca.crt'), logger),
      client: new LiveValue(loaded.proxy.client, logger),
    };
    this.serviceAccountKeyFile = { path: stores[0].serviceAccountKeyFile, savePublicKey: () => this.savePublicKey() };
    this.timer = every(clock, checkMs, () => {
      this.refreshing = this.refresh().catch((error: unknown) =>
        logger.error('certificates could not be renewed; the next attempt is in 12 hours', { error: reasonOf(error) }),
      );
      return this.refreshing;
    });
  }

  /** Reads the files again and renews certificates that expire soon; called by a timer twice a day. */
  async refresh(): Promise<void> {
    const before = this.loaded;
    // A serving certificate of the user is reloaded by userServing, so that an invalid one does not stop renewals.
    const wanted = this.userServing ? { ...this.wanted, names: undefined } : this.wanted;
    const after = await loadAll(...this.stores, { wanted, options: this.options, before });
    this.loaded = after;
    if (after.authority.pem !== before.authority.pem)
      this.authority.replace(parseCaBundle(after.authority.pem, 'ca.crt'));
    if (after.serving && before.serving && !isSamePair(after.serving, before.serving))
      this.generatedServing?.replace(after.serving);
    if (!isSamePair(after.admin, before.admin)) this.admin.replace(after.admin);
    if (after.proxy.authority.pem !== before.proxy.authority.pem)
      this.frontProxy.authority.replace(parseCaBundle(after.proxy.authority.pem, 'front-proxy-ca.crt'));
    if (!isSamePair(after.proxy.client, before.proxy.client)) this.frontProxy.client.replace(after.proxy.client);
    if (this.saved) await this.saveAdminKubeconfig(this.saved.server, this.saved.rootCa);
  }

  adminKubeconfig(server: string, rootCaPem = this.loaded.authority.pem): string {
    return kubeconfig({ server, certificateAuthority: rootCaPem, user: this.loaded.admin });
  }

  /**
   * Writes `<directory>/admin.kubeconfig`, or the file of the options, and returns its path. A file with valid server
   * and credentials is kept with the edits of the user; one that this server did not write is never overwritten.
   * `rootCa` returns the CA that verifies the serving certificate, if it is not the server's own.
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
        `${file} was not written by this server and is not overwritten: name another file with --kubeconfig-out, or remove it`,
      );
    }
    await writeAtomically(file, wanted, 0o600);
    return file;
  }

  async issueClient(subject: AdminSubject): Promise<KeyPairPem> {
    const { certificate, key } = this.loaded.authority;
    if (key === undefined) throw new CertificateError('there is no CA key to sign with');
    return makeClientPair({ certificate, key }, subject, this.options.clock.now());
  }

  issuer(): Signer | undefined {
    const { certificate, key } = this.loaded.authority;
    return key && { certificate, key };
  }

  async close(): Promise<void> {
    this.timer.cancel();
    this.userServing?.close();
    await this.refreshing;
    await this.savingPublicKey;
    await this.serviceAccountKey.catch(() => undefined);
  }

  private savePublicKey(): Promise<void> {
    const saving = this.stores[0].readServiceAccountKey().then(() => undefined);
    this.savingPublicKey = saving.catch(() => undefined);
    return saving;
  }
}

function isSamePair(one: KeyPairPem, other: KeyPairPem): boolean {
  return one.certificate === other.certificate && one.key === other.key;
}
