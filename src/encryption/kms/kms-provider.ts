import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import { StorageError } from '../../storage/storage-error.js';
import { UntransformableError, type TransformedValue, type ValueTransformer } from '../../storage/value-transforms.js';
import type { KmsConfiguration } from '../configuration/encryption-configuration.js';
import type { Prefixed } from '../prefixed-transformer.js';
import type { Cipher } from '../providers/cipher.js';
import { dataCipher, seedBytes } from './data-key.js';
import { DataKeys } from './data-keys.js';
import {
  cacheKeyOf,
  decodeEncryptedObject,
  encodeDataHead,
  encodeTail,
  encryptedKeyFlaw,
  keyIdFlaw,
  sourceTypes,
  type EncryptedObject,
} from './encrypted-object.js';
import type { KmsStatus } from './kms-messages.js';
import type { KmsObserver } from './kms-observer.js';
import { KmsPlugin } from './kms-plugin.js';

interface Options {
  readonly kms: KmsConfiguration;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly observer: KmsObserver;
  /** Called when the plug-in answers again, so that values may be readable that were not. */
  readonly onRecovered: () => void;
}

/** The seed of new values. */
interface WriteState {
  readonly keyId: string;
  readonly cipher: Cipher;
  /** The fields of a stored value behind its data. */
  readonly tail: Buffer;
  /** Writes fail after this time, if the plug-in has not confirmed the key since. */
  expiresAtMs: number;
}

// As in kube-apiserver: intervals of Status calls, the life of a seed that is not confirmed, and of a health result.
const pollMs = 60_000;
const pollFailedMs = 10_000;
const writeLifeMs = 180_000;
const healthyMs = 20_000;
const unhealthyMs = 3_000;
const versions: readonly string[] = ['v2', 'v2beta1'];

/**
 * Encrypts values with keys derived from a seed, which a KMS plug-in has encrypted (KMS v2). Asks for the key id of the
 * plug-in every minute and makes a new seed when it has changed. Reading asks the plug-in once for each seed.
 */
export class KmsProvider implements ValueTransformer {
  private readonly plugin: KmsPlugin;
  private readonly keys: DataKeys;
  private state: WriteState | undefined;
  private checking: Promise<void> | undefined;
  private result: { readonly atMs: number; readonly failure: Error | undefined } | undefined;
  private version: string | undefined;
  private timer: Timer | undefined;
  private isClosed = false;

  constructor(private readonly options: Options) {
    this.plugin = new KmsPlugin(options);
    // A call that was not answered is a reason to ask for the status earlier.
    this.keys = new DataKeys(this.plugin, options.observer, () => this.pollAfter(pollFailedMs));
  }

  get prefixed(): Prefixed {
    return { prefix: `k8s:enc:kms:v2:${this.options.kms.name}:`, transformer: this };
  }

  /** Makes the first seed, then goes on asking for the key id. A plug-in that does not answer is no error. */
  async start(): Promise<void> {
    await this.poll();
  }

  /** Throws the reason for which the plug-in is not healthy. Concurrent and frequent callers share a call. */
  async check(): Promise<void> {
    const { clock } = this.options;
    const { result } = this;
    if (result && clock.monotonicMs() - result.atMs < (result.failure ? unhealthyMs : healthyMs)) {
      if (result.failure) throw result.failure;
      return;
    }
    await this.checkOnce();
  }

  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
    this.plugin.close();
  }

  fromStorage(value: Buffer, key: string): TransformedValue | Promise<TransformedValue> {
    let object: EncryptedObject;
    try {
      object = decodeEncryptedObject(value);
    } catch (error) {
      return failed(value, error);
    }
    const cipher = this.keys.find(object);
    if (cipher) return this.decrypted(cipher, object, value, key);
    return this.keys.fetch(object).then(
      (fetched) => this.decrypted(fetched, object, value, key),
      (error: unknown) => failed(value, error),
    );
  }

  toStorage(value: Uint8Array, key: string): Buffer {
    const { state } = this;
    const { clock, kms, observer } = this.options;
    if (!state) throw new StorageError('notEncrypted', `KMS plug-in ${kms.name} has not provided a key yet`);
    if (clock.monotonicMs() > state.expiresAtMs) {
      const hash = hashOf(state.keyId);
      throw new StorageError('notEncrypted', `encryptedDEKSource with keyID hash "${hash}" has expired`);
    }
    const data = state.cipher.encrypt(value, key);
    observer.keyUsed('to_storage', state.keyId);
    return Buffer.concat([encodeDataHead(data.length), data, state.tail]);
  }

  private decrypted(cipher: Cipher, object: EncryptedObject, value: Buffer, key: string): TransformedValue {
    try {
      const decrypted = cipher.decrypt(object.data, key);
      this.options.observer.keyUsed('from_storage', object.keyId);
      const { state } = this;
      const isStale = state !== undefined && (object.keyId !== state.keyId || object.sourceType !== sourceTypes.seed);
      return { value: decrypted, isStale };
    } catch (error) {
      return failed(value, error);
    }
  }

  private async poll(): Promise<void> {
    const { logger, kms } = this.options;
    const before = this.result?.failure?.message;
    let delayMs = pollMs;
    try {
      await this.checkOnce();
    } catch (error) {
      delayMs = pollFailedMs;
      const failure = (error as Error).message;
      if (failure !== before && !this.isClosed) {
        logger.error('a KMS plug-in is not healthy; writes fail in three minutes, start it or correct it', {
          provider: kms.name,
          failure,
        });
      }
    }
    this.pollAfter(delayMs);
  }

  private pollAfter(delayMs: number): void {
    this.timer?.cancel();
    if (!this.isClosed) this.timer = this.options.clock.after(delayMs, () => void this.poll());
  }

  private checkOnce(): Promise<void> {
    return (this.checking ??= this.checkNow().finally(() => (this.checking = undefined)));
  }

  private async checkNow(): Promise<void> {
    const { clock } = this.options;
    const wasHealthy = this.result !== undefined && this.result.failure === undefined;
    let failure: Error | undefined;
    try {
      await this.useStatus(await this.plugin.status());
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    this.result = { atMs: clock.monotonicMs(), failure };
    if (failure) throw failure;
    const hadFailures = this.keys.retry();
    if ((!wasHealthy || hadFailures) && !this.isClosed) this.options.onRecovered();
  }

  private async useStatus({ version, healthz, keyId }: KmsStatus): Promise<void> {
    const { kms, observer } = this.options;
    const problems: string[] = [];
    if (healthz !== 'ok') problems.push('got unexpected healthz status');
    if (!versions.includes(version)) problems.push('expected KMSv2 API version v2');
    else if ((this.version ??= version) !== version) {
      problems.push(`KMSv2 API version should not change after the initial status response version ${this.version}`);
    }
    const flaw = keyIdFlaw(keyId);
    if (flaw) {
      observer.keyIdRefused(flaw.code);
      problems.push(`got invalid KMSv2 KeyID: ${flaw.message}`);
    } else {
      observer.keyIdReported(keyId);
      // The answers of another version may mean something else.
      if (versions.includes(version)) await this.useKey(keyId).catch((error: Error) => problems.push(error.message));
    }
    if (problems.length > 0) {
      throw new Error(`kmsv2 Provider ${kms.name} is not healthy, error: ${problems.join(', ')}`);
    }
  }

  /** Extends the life of the seed, or makes a new one if the key has changed. A failure leaves the old one. */
  private async useKey(keyId: string): Promise<void> {
    const { clock, logger, kms } = this.options;
    // Counted from before the call: it is an upper bound.
    const expiresAtMs = clock.monotonicMs() + writeLifeMs;
    if (this.state?.keyId === keyId) {
      this.state.expiresAtMs = expiresAtMs;
      return;
    }
    const seed = randomBytes(seedBytes);
    const encrypted = await this.plugin.encrypt(seed);
    const flaw = encryptedKeyFlaw(encrypted);
    if (flaw !== undefined) throw new Error(`failed to rotate DEK: ${flaw}`);
    if (encrypted.keyId !== keyId) {
      const hashes = `statusKeyIDHash="${hashOf(keyId)}", encryptKeyIDHash="${hashOf(encrypted.keyId)}"`;
      throw new Error(`failed to rotate DEK: the key ids of Status and Encrypt differ, ${hashes}`);
    }
    const cipher = dataCipher(seed, sourceTypes.seed);
    const isFirst = this.state === undefined;
    this.state = { keyId, cipher, tail: encodeTail(encrypted, sourceTypes.seed), expiresAtMs };
    this.keys.add(cacheKeyOf(encrypted, sourceTypes.seed), cipher);
    if (!isFirst) {
      const keyIdHash = hashOf(keyId);
      logger.info('a KMS plug-in has changed its key; rewrite objects to use it', { provider: kms.name, keyIdHash });
    }
  }
}

const hashOf = (keyId: string): string =>
  keyId === '' ? '' : `sha256:${createHash('sha256').update(keyId).digest('hex')}`;

function failed(value: Buffer, error: unknown): TransformedValue {
  if (error instanceof UntransformableError) return { value, isStale: false, failure: error };
  const reason = error instanceof Error ? error.message : String(error);
  return { value, isStale: false, failure: new UntransformableError(reason, { cause: error }) };
}
