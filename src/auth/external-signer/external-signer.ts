import { GrpcError, grpcCodeName, NotConnectedError } from '../../grpc/grpc-error.js';
import { Http2Channel } from '../../grpc/http2-channel.js';
import { decodeJson } from '../../codec/json.js';
import { holdProcess, sleep, type Clock, type Timer } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { externalKey, isSignedBy, type TokenKeys, type TokenSignature, type VerificationKey } from '../token-keys.js';
import {
  decodeFetchKeys,
  decodeMetadata,
  decodeSign,
  encodeNothing,
  encodeSign,
  fetchedKeysMax,
  signerPaths,
  type FetchedKey,
  type FetchKeysResponse,
  type SignerMethod,
} from './signer-messages.js';

/** Counts calls of a signer. `code` is the name of a gRPC status, or `unknown-non-grpc`. */
export interface SignerObserver {
  called(method: string, code: string, seconds: number): void;
  signed(code: string): void;
  keysFetched(code: string): void;
  /** The time of the last FetchKeys that succeeded, and the time that the signer gave for its keys. */
  keysReplaced(nowSeconds: number, dataSeconds: number): void;
}

interface Options {
  /** Path of a Unix socket; `@name` for an abstract one. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: SignerObserver | undefined;
  /** Time for one call, in which the signer may be restarted, and the largest answer. */
  readonly limits: { readonly callMs: number; readonly answerBytesMax: number };
}

/** Error of a call of the signer. The message contains nothing of its answer. */
export class SignerError extends Error {
  override readonly name = 'SignerError';
  constructor(
    message: string,
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const flag = '--service-account-signing-endpoint';
const keyIdLengthMax = 1024;
const redialMs = 200;
/** Delay until the next attempt after a failed FetchKeys, as in kube-apiserver. */
const retryMs = 10_000;
const refreshSecondsMax = 24 * 3600;
/** Least time between two FetchKeys for tokens with unknown keys, and the longest wait of one such token. */
const newestIntervalMs = 1_000;
const newestPatienceMs = 2_000;
/** Least maximum validity that a signer must support: that of a TokenRequest. */
const lifeSecondsLeast = 600;
const lastSecondOfYear9999 = 253_402_300_799;

/**
 * A gRPC server on a Unix socket that signs service account tokens and names the public keys that verify them (KEP-740).
 * Keys are fetched again when the signer suggests it, and for tokens of unknown keys. If it does not answer, tokens are
 * still verified with the last keys, and none are issued.
 */
export class ExternalSigner implements TokenKeys {
  private readonly channel: Http2Channel;
  private keys: readonly VerificationKey[] = [];
  private refreshAtMs = 0;
  private timer: Timer | undefined;
  private fetching: Promise<void> | undefined;
  private fetchedAtMs = -Infinity;
  private failure: string | undefined;
  private isClosed = false;
  private lifeSeconds = 0;

  private constructor(private readonly options: Options) {
    const { endpoint, clock, limits } = options;
    this.channel = new Http2Channel({ url: `unix:${endpoint}`, clock, messageBytesMax: limits.answerBytesMax });
  }

  /** Resolves when the keys are known. Rejects with an error that names the flag. */
  static async open(options: Options): Promise<ExternalSigner> {
    const signer = new ExternalSigner(options);
    const hold = holdProcess();
    try {
      await signer.fetch();
      signer.lifeSeconds = await signer.call('Metadata', encodeNothing(), decodeMetadata);
      if (signer.lifeSeconds < lifeSecondsLeast) {
        throw new SignerError(
          `supports tokens of ${signer.lifeSeconds} seconds; at least ${lifeSecondsLeast} are required`,
          'OK',
        );
      }
      signer.refreshLater(signer.refreshAtMs - options.clock.monotonicMs());
      return signer;
    } catch (error) {
      signer.close();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${flag}: the signer at ${options.endpoint} ${reason}`, { cause: error });
    } finally {
      hold.cancel();
    }
  }

  /** Maximum validity of the tokens that it signs. */
  get lifeSecondsMax(): number {
    return this.lifeSeconds;
  }

  get verifying(): readonly VerificationKey[] {
    return this.keys;
  }

  get secondsFresh(): number {
    return Math.max(0, Math.floor((this.refreshAtMs - this.options.clock.monotonicMs()) / 1000));
  }

  /** Rejects with SignerError. */
  async sign(claims: string): Promise<TokenSignature> {
    const { observer } = this.options;
    try {
      const signed = await this.call('Sign', encodeSign(claims), decodeSign);
      await this.check(claims, signed);
      observer?.signed('OK');
      return signed;
    } catch (error) {
      observer?.signed(error instanceof SignerError && error.code !== 'OK' ? error.code : 'unknown-non-grpc');
      throw error;
    }
  }

  /**
   * Fetches the keys, if that was not done within a second. Returns the known keys if it takes long: requests with made-up
   * keys must not wait for a signer that hangs.
   */
  async newest(): Promise<readonly VerificationKey[]> {
    const { clock } = this.options;
    if (!this.fetching && clock.monotonicMs() - this.fetchedAtMs < newestIntervalMs) return this.keys;
    const fetched = this.fetch().catch(() => undefined);
    await new Promise<void>((resolve) => {
      const timer = clock.after(newestPatienceMs, resolve);
      void fetched.then(() => {
        timer.cancel();
        resolve();
      });
    });
    return this.keys;
  }

  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
    this.channel.close();
  }

  private refreshLater(delayMs: number): void {
    this.timer?.cancel();
    if (this.isClosed) return;
    this.timer = this.options.clock.after(Math.max(0, delayMs), () => {
      void this.fetch().then(
        () => this.refreshLater(this.refreshAtMs - this.options.clock.monotonicMs()),
        () => this.refreshLater(retryMs),
      );
    });
  }

  /** Replaces the keys by those of the signer. Concurrent calls share one request. */
  private fetch(): Promise<void> {
    this.fetching ??= this.replaceKeys().finally(() => {
      this.fetching = undefined;
      this.fetchedAtMs = this.options.clock.monotonicMs();
    });
    return this.fetching;
  }

  private async replaceKeys(): Promise<void> {
    const { clock, logger, observer, endpoint } = this.options;
    try {
      const response = await this.call('FetchKeys', encodeNothing(), decodeFetchKeys);
      this.keys = await keysOf(response, clock);
      this.refreshAtMs = clock.monotonicMs() + Math.min(response.refreshSeconds, refreshSecondsMax) * 1000;
      this.failure = undefined;
      observer?.keysFetched('OK');
      observer?.keysReplaced(clock.now() / 1000, response.dataSeconds ?? 0);
    } catch (error) {
      observer?.keysFetched(error instanceof SignerError && error.code !== 'OK' ? error.code : 'unknown-non-grpc');
      const failure = error instanceof Error ? error.message : String(error);
      if (this.keys.length > 0 && !this.isClosed && failure !== this.failure) {
        this.failure = failure;
        logger.error(
          'keys of the external signer could not be fetched; tokens are verified with its last keys, restart it',
          {
            endpoint,
            failure,
          },
        );
      }
      throw error;
    }
  }

  /** Throws SignerError if the token would be rejected by this server or by others. */
  private async check(claims: string, { header, signature }: TokenSignature): Promise<void> {
    const { alg, kid } = headerOf(header);
    if (!/^[A-Za-z0-9_-]+$/.test(signature)) throw invalid('no signature in base64url');
    const named = (keys: readonly VerificationKey[]) => keys.filter(({ id }) => id === kid);
    let candidates = named(this.keys);
    if (candidates.length === 0) candidates = named(await this.newest());
    if (candidates.length === 0) throw invalid('a token of a key that FetchKeys does not return');
    if (candidates.some(({ isPublished }) => !isPublished)) {
      throw invalid('a token of a key that is excluded from discovery');
    }
    const content = Buffer.from(`${header}.${claims}`);
    const bytes = Buffer.from(signature, 'base64url');
    if (!candidates.some((key) => key.algorithm === alg && isSignedBy(key, content, bytes))) {
      throw invalid('a signature that its key does not verify');
    }
  }

  /** Calls the signer. Waits for its socket, for a restart, as long as the call may take. */
  private async call<T>(method: SignerMethod, frame: Buffer, decode: (message: Buffer) => T): Promise<T> {
    const { clock, logger, observer, endpoint, limits } = this.options;
    const beginMs = clock.monotonicMs();
    const leftMs = () => beginMs + limits.callMs - clock.monotonicMs();
    for (;;) {
      try {
        await this.channel.connect(Math.max(1, leftMs()));
        const deadlineMs = clock.now() + Math.max(1, leftMs());
        const answer = await this.channel.unary({ path: signerPaths[method], frame, decode, deadlineMs });
        observer?.called(signerPaths[method], 'OK', (clock.monotonicMs() - beginMs) / 1000);
        return answer;
      } catch (error) {
        if (error instanceof NotConnectedError && !this.isClosed && leftMs() > redialMs) {
          await sleep(clock, redialMs);
          continue;
        }
        const code = error instanceof GrpcError ? grpcCodeName(error.code) : 'Unavailable';
        observer?.called(signerPaths[method], code, (clock.monotonicMs() - beginMs) / 1000);
        logger.debug('a call of the external signer failed', { endpoint, method, error: shortened(error) });
        const problem = error instanceof NotConnectedError ? 'cannot be reached' : `answered with ${code}`;
        throw new SignerError(`${problem} (${method})`, code, { cause: error });
      }
    }
  }
}

/**
 * Returns the keys of a response. Rejects with a SignerError if one of them or the response is invalid: keys are not
 * mixed. Other requests run meanwhile.
 */
async function keysOf(
  { keys, dataSeconds, refreshSeconds }: FetchKeysResponse,
  clock: Clock,
): Promise<readonly VerificationKey[]> {
  if (refreshSeconds <= 0) throw invalid('no positive refresh_hint_seconds');
  if (keys.length === 0) throw invalid('no keys');
  if (keys.length > fetchedKeysMax) throw invalid(`more than ${fetchedKeysMax} keys`);
  if (dataSeconds === undefined || dataSeconds > lastSecondOfYear9999) throw invalid('no valid data_timestamp');
  const timer = new YieldTimer(clock);
  const parsed: VerificationKey[] = [];
  for (const key of keys) {
    if (timer.isDue()) await timer.yield();
    parsed.push(verificationKeyOf(key));
  }
  return parsed;
}

function verificationKeyOf({ id, der, isExcluded }: FetchedKey): VerificationKey {
  if (id.length === 0 || id.length > keyIdLengthMax) throw invalid('an invalid key_id');
  try {
    return externalKey(id, der, !isExcluded);
  } catch (error) {
    throw new SignerError('returned a key that is not an RSA or EC public key in PKIX form', 'OK', { cause: error });
  }
}

/** The header as decoded: fields of any type. */
interface SignerHeader {
  readonly alg?: unknown;
  readonly kid?: unknown;
  readonly typ?: unknown;
}

/** Parses the header of a token. Only the three fields that kube-apiserver knows are allowed. */
function headerOf(segment: string): { readonly alg: string; readonly kid: string } {
  if (segment.length > 4 * keyIdLengthMax || !/^[A-Za-z0-9_-]+$/.test(segment)) {
    throw invalid('a header that is not base64url');
  }
  let header: unknown;
  try {
    header = decodeJson(Buffer.from(segment, 'base64url'));
  } catch (error) {
    throw new SignerError('returned a header that is not JSON', 'OK', { cause: error });
  }
  const fields = Object.assign(Object.create(null), header) as SignerHeader & Record<string, unknown>;
  const { alg, kid, typ, ...others }: SignerHeader = fields;
  if (Object.keys(others).length > 0) throw invalid('a header with unknown fields');
  if (typ !== 'JWT') throw invalid('a header whose typ is not JWT');
  if (typeof kid !== 'string' || kid === '' || kid.length > keyIdLengthMax)
    throw invalid('a header without a valid kid');
  if (typeof alg !== 'string') throw invalid('a header without alg');
  return { alg, kid };
}

const invalid = (what: string) => new SignerError(`returned ${what}`, 'OK');

/** Bounds texts of the signer in logs. */
const shortened = (error: unknown) => String(error).slice(0, 200);
