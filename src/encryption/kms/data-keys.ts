import type { Cipher } from '../providers/cipher.js';
import { dataCipher } from './data-key.js';
import { cacheKeyOf, type EncryptedObject } from './encrypted-object.js';
import type { KmsObserver } from './kms-observer.js';
import { KmsError, type KmsPlugin } from './kms-plugin.js';

/** Beyond it the oldest is dropped. A seed serves all values that a server has written since its start. */
const keysMax = 10_000;

/** Decrypted data encryption keys and seeds. Each is asked of the plug-in once. */
export class DataKeys {
  private readonly ciphers = new Map<string, Cipher>();
  private readonly fetching = new Map<string, Promise<Cipher>>();
  /**
   * Set while the plug-in does not answer: further keys fail at once, so that one timeout and not many hold up the events of
   * the store.
   */
  private unavailable: KmsError | undefined;
  private hasFailures = false;

  constructor(
    private readonly plugin: KmsPlugin,
    private readonly observer: KmsObserver,
    private readonly onUnavailable: () => void,
  ) {}

  find(object: EncryptedObject): Cipher | undefined {
    return this.ciphers.get(cacheKeyOf(object, object.sourceType));
  }

  add(cacheKey: string, cipher: Cipher): void {
    this.ciphers.set(cacheKey, cipher);
    if (this.ciphers.size > keysMax) this.ciphers.delete(this.ciphers.keys().next().value!);
    this.observer.keysCached(this.ciphers.size);
  }

  /** Rejects with an error that says why the key cannot be decrypted. */
  fetch(object: EncryptedObject): Promise<Cipher> {
    const cacheKey = cacheKeyOf(object, object.sourceType);
    let fetched = this.fetching.get(cacheKey);
    if (!fetched) {
      fetched = this.ask(object, cacheKey).finally(() => this.fetching.delete(cacheKey));
      this.fetching.set(cacheKey, fetched);
    }
    return fetched;
  }

  /** Lets keys be asked for again. Returns true if one has failed before. */
  retry(): boolean {
    const { hasFailures } = this;
    this.unavailable = undefined;
    this.hasFailures = false;
    return hasFailures;
  }

  private async ask(object: EncryptedObject, cacheKey: string): Promise<Cipher> {
    try {
      if (this.unavailable) throw this.unavailable;
      this.observer.missed();
      const cipher = dataCipher(await this.plugin.decrypt(object), object.sourceType);
      this.add(cacheKey, cipher);
      return cipher;
    } catch (error) {
      this.hasFailures = true;
      if (error instanceof KmsError && error.isUnavailable && !this.unavailable) {
        this.unavailable = error;
        this.onUnavailable();
      }
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`failed to decrypt DEK, error: ${reason}`, { cause: error });
    }
  }
}
