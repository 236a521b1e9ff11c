import { createDecipheriv, createHash } from 'node:crypto';
import { PluginProcess, type PluginBehaviour } from './plugin-process.js';

/** State of kms-plugin-process.mjs. */
export interface KmsPluginState {
  readonly Status: PluginBehaviour;
  readonly Encrypt: PluginBehaviour;
  readonly Decrypt: PluginBehaviour;
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
  readonly encryptKeyId: string | null;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ciphertext: string | null;
  readonly plaintext: string | null;
}

interface Calls {
  readonly Status: number;
  readonly Encrypt: number;
  readonly Decrypt: number;
}

/** A KMS plug-in in a process of its own. Its keys outlive the process. */
export class KmsPluginProcess extends PluginProcess<KmsPluginState> {
  constructor() {
    super('kms-plugin-process.mjs');
  }

  /** Returns the entry of `providers` that uses this plug-in. */
  provider(timeoutMs = 2_000): object {
    const endpoint = `unix://${this.socket}`;
    return { kms: { apiVersion: 'v2', name: 'plugin', endpoint, timeout: `${timeoutMs}ms` } };
  }

  /** Changes the behaviour. Resolves with the number of calls so far. */
  async set(state: Partial<KmsPluginState>): Promise<Calls> {
    return (await this.ask({ set: state }))['calls'] as Calls;
  }

  calls(): Promise<Calls> {
    return this.set({});
  }
}

/** Decrypts a key as the plug-in does. */
export function unwrapped(ciphertext: Uint8Array, keyId: string): Buffer {
  const bytes = Buffer.from(ciphertext);
  const secret = createHash('sha256').update(`kek of ${keyId}`).digest();
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
}
