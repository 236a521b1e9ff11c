import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KvStore } from '../../src/storage/kv-store.js';

/** The keys with which the values of test/conformance/encrypted-values.jsonl are encrypted, by name. */
export const encryptionKeys = {
  k1: 'a2VlbHNvbi1maXhlZC1rZXktb25lLTMyLWJ5dGVzLTE=',
  k2: 'a2VlbHNvbi1maXhlZC1rZXktdHdvLTMyLWJ5dGVzLTI=',
  k16: 'c2l4dGVlbi1ieXRlLWtleQ==',
} as const;
type KeyName = keyof typeof encryptionKeys;

interface EncryptionRule {
  readonly resources: readonly string[];
  readonly providers: readonly object[];
}

/** Returns an entry of `providers` with these keys, in their order. */
export const keyed = (provider: 'aescbc' | 'aesgcm' | 'secretbox', ...names: readonly KeyName[]): object => ({
  [provider]: { keys: names.map((name) => ({ name, secret: encryptionKeys[name] })) },
});
export const identity = { identity: {} };

/** A configuration file of encryption in a temporary directory. JSON is YAML. */
export class EncryptionFile {
  private readonly directory = mkdtempSync(join(tmpdir(), 'keelson-encryption-'));
  readonly path = join(this.directory, 'encryption.yaml');

  /** Writes rules for Secrets with these providers, or any rules. */
  write(...rules: readonly EncryptionRule[]): void {
    const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
    this.writeText(JSON.stringify({ ...kind, resources: rules }));
  }

  writeForSecrets(...providers: readonly object[]): void {
    this.write({ resources: ['secrets'], providers });
  }

  writeText(text: string): void {
    writeFileSync(this.path, text);
  }

  /** Returns the part of a server's configuration that uses the file. */
  config(reloads = false) {
    return { encryption: { configFile: this.path, reloads } };
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Returns how a stored value is encrypted: `aescbc:v1:k1`, `kms:v2:plugin` or `plain`. */
export async function encryptionOf(store: KvStore, key: string): Promise<string | undefined> {
  const { item } = await store.get(key);
  if (!item) return undefined;
  return /^k8s:enc:([a-z]+:v\d:[^:]+):/.exec(item.value.toString('latin1'))?.[1] ?? 'plain';
}
