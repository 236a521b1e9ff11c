import { decodeJson } from '../../codec/json.js';
import { isMapping } from '../../machinery/config-reader.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { sharedAbort } from '../../std/shared-abort.js';
import type { IssuerSource } from '../configuration/jwt-configuration.js';
import type { Jwt } from '../jwt.js';
import { fetchDocument } from './fetch-document.js';
import type { JwtMeters } from './jwt-meters.js';
import { KeySet } from './key-set.js';
import type { SignatureAlgorithm } from './signature-algorithms.js';

interface Dependencies {
  readonly source: IssuerSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Pick<JwtMeters, 'keysFetched'>;
}

/** Limits of one document. Tokens of unknown keys wait for it, so the time is shorter than kube-apiserver's 30 s. */
const fetchLimits = { timeoutMs: 10_000, bytesMax: 1024 * 1024, redirectsMax: 10 };
/** As in kube-apiserver. Longer than the back-off. */
const startRetryMs = 10_000;
/**
 * Time between two fetches for tokens that no key verifies. It doubles while fetches bring no new keys, so that forged
 * tokens cannot flood the issuer, and a new key is found within the maximum.
 */
const backOffMs = { min: 1_000, max: 8_000 };
/** Age of the keys after which their use fetches them again in the background: keys that were removed end. */
const keysAgeMsMax = 5 * 60_000;

/** Fields of a discovery document that are read, as decoded. */
interface DiscoveryDocument {
  readonly issuer?: unknown;
  readonly jwks_uri?: unknown;
}

interface Fetched {
  readonly set: KeySet;
  readonly body: Buffer;
  readonly atMs: number;
}

/**
 * The keys of one issuer (OpenID Connect Discovery 1.0). They are fetched in the background until that succeeds, and
 * again for a token that none of them verifies.
 */
export class IssuerKeys {
  private readonly abort = sharedAbort();
  private keysUrl: string | undefined;
  private fetched: Fetched | undefined;
  private fetching: Promise<boolean> | undefined;
  private backOffMs = backOffMs.min;
  private nextFetchMs = -Infinity;
  /** Last logged failure, so that the same one is logged once. */
  private failure: string | undefined;
  /** Resolves when there are keys. Pending forever once close() was called. */
  readonly ready: Promise<void>;

  constructor(private readonly dependencies: Dependencies) {
    this.ready = new Promise((resolve) => void this.fetchUntilReady().then((isReady) => isReady && resolve()));
  }

  get isReady(): boolean {
    return this.fetched !== undefined;
  }

  close(): void {
    this.abort.abort(new Error('the issuer was removed from the configuration'));
  }

  /** True if a key of the issuer verifies the signature. Fetches the keys again if none does. */
  verify(jwt: Jwt, algorithm: SignatureAlgorithm): boolean | Promise<boolean> {
    const { fetched } = this;
    if (!fetched?.set.verify(jwt, algorithm)) return this.verifyWithNewKeys(jwt, algorithm);
    if (this.dependencies.clock.monotonicMs() - fetched.atMs > keysAgeMsMax) void this.refresh();
    return true;
  }

  private async verifyWithNewKeys(jwt: Jwt, algorithm: SignatureAlgorithm): Promise<boolean> {
    const before = this.fetched;
    await this.refresh();
    return this.fetched !== before && this.fetched?.set.verify(jwt, algorithm) === true;
  }

  private async fetchUntilReady(): Promise<boolean> {
    const { signal } = this.abort;
    while (!signal.aborted) {
      if (this.fetched || (await this.refresh())) return true;
      await sleep(this.dependencies.clock, startRetryMs, signal).catch(() => undefined);
    }
    return false;
  }

  /** Fetches the keys, unless the last fetch was a short time ago; concurrent callers share one fetch. */
  private refresh(): Promise<boolean> {
    if (this.fetching) return this.fetching;
    if (this.abort.signal.aborted || this.dependencies.clock.monotonicMs() < this.nextFetchMs) {
      return Promise.resolve(false);
    }
    this.fetching = this.fetch().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetch(): Promise<boolean> {
    const { source, clock, meters, logger } = this.dependencies;
    let isNew = false;
    try {
      this.keysUrl ??= await this.discover();
      const body = await this.document(this.keysUrl);
      const set = KeySet.parse(body);
      isNew = !this.fetched?.body.equals(body);
      this.fetched = { set, body, atMs: clock.monotonicMs() };
      meters.keysFetched(source.url, body);
      if (this.failure !== undefined) logger.info('OpenID issuer is available again', { issuer: source.url });
      this.failure = undefined;
      return true;
    } catch (error) {
      if (!this.abort.signal.aborted) this.failed(error);
      return false;
    } finally {
      this.backOffMs = isNew ? backOffMs.min : Math.min(this.backOffMs * 2, backOffMs.max);
      this.nextFetchMs = clock.monotonicMs() + this.backOffMs;
    }
  }

  private failed(error: unknown): void {
    const { source, meters, logger } = this.dependencies;
    if (this.keysUrl !== undefined) meters.keysFetched(source.url, undefined);
    // The issuer may have moved its keys.
    this.keysUrl = undefined;
    const failure = error instanceof Error ? error.message : String(error);
    if (failure !== this.failure) {
      const effect = this.fetched ? 'the keys of the last fetch stay in use' : 'its tokens are rejected until then';
      logger.error(`keys of an OpenID issuer cannot be fetched, retrying; ${effect}`, { issuer: source.url, failure });
    }
    this.failure = failure;
  }

  /** Returns the URL of the keys. */
  private async discover(): Promise<string> {
    const { url, discoveryUrl } = this.dependencies.source;
    const decoded = decodeJson(await this.document(discoveryUrl));
    const document: DiscoveryDocument = isMapping(decoded) ? decoded : {};
    if (document.issuer !== url) throw new Error(`the document at ${discoveryUrl} is not that of issuer ${url}`);
    const { jwks_uri: keysUrl } = document;
    if (typeof keysUrl !== 'string' || !URL.canParse(keysUrl)) {
      throw new Error(`the document at ${discoveryUrl} has no jwks_uri`);
    }
    return keysUrl;
  }

  private document(url: string): Promise<Buffer> {
    const { source, clock } = this.dependencies;
    const { certificateAuthority } = source;
    return fetchDocument(url, { certificateAuthority, clock, signal: this.abort.signal, ...fetchLimits });
  }
}
