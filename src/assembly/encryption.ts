import type { ServerConfig } from '../config/server-config.js';
import type { Encryption, EncryptionWatching } from './encryption-file.js';

/**
 * Reads --encryption-provider-config; undefined without it. Rejects with a FlagError if it cannot be used: objects must not
 * be stored unencrypted instead.
 */
export async function openEncryption(
  config: ServerConfig,
  watching: EncryptionWatching,
): Promise<Encryption | undefined> {
  const { configFile, reloads } = config.storage.encryption;
  if (configFile === undefined) return undefined;
  // Most servers do not encrypt and do not load it.
  const { openEncryptionFile } = await import('./encryption-file.js');
  return openEncryptionFile({ file: configFile, isReloaded: reloads, config }, watching);
}
