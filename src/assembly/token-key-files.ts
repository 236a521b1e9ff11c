import { readFile } from 'node:fs/promises';
import { makeTokenKeys, publicKeysOf, type KeyFile, type TokenKeys } from '../auth/token-keys.js';
import { LiveFiles } from '../certificates/live-files.js';
import type { Pki } from '../certificates/pki.js';
import type { ServerConfig } from '../config/server-config.js';
import type { FileWatching } from './tls.js';

type KeySource = () => Promise<TokenKeys>;

/**
 * Returns the keys of service account tokens in files, which are read again when they change. They are read now too, so
 * that an invalid one fails the start; the server's own key may still be pending.
 */
export async function tokenKeysOf(
  { authentication }: ServerConfig,
  pki: Pick<Pki, 'serviceAccountKey'>,
  watching: FileWatching,
): Promise<KeySource> {
  const { signingKeyFile, keyFiles } = authentication.serviceAccount;
  if (signingKeyFile !== undefined) {
    const keys = await liveKeys([signingKeyFile, ...keyFiles], watching, ([signing, ...others]) =>
      makeTokenKeys(signing!, others),
    );
    return () => Promise.resolve(keys());
  }
  const withOwnKey = (others: readonly KeyFile[]) => {
    // A damaged file fails here, and not when the first token is verified.
    others.forEach(publicKeysOf);
    let keys: Promise<TokenKeys> | undefined;
    const made = async () => makeTokenKeys({ name: 'sa.key', pem: (await pki.serviceAccountKey).privateKey }, others);
    return () => (keys ??= made());
  };
  if (keyFiles.length === 0) return withOwnKey([]);
  const source = await liveKeys(keyFiles, watching, withOwnKey);
  return () => source()();
}

/** Follows the files. An invalid change is logged, and has no effect until the files are correct. */
async function liveKeys<T>(
  names: readonly string[],
  { clock, logger, undo }: FileWatching,
  parse: (files: readonly KeyFile[]) => T,
): Promise<() => T> {
  // Errors of this read name the one file that cannot be read.
  await Promise.all(names.map((name) => readFile(name)));
  const live = await LiveFiles.open({
    subject: 'service account keys',
    files: names,
    parse: (contents) => parse(contents.map((bytes, index) => ({ name: names[index]!, pem: bytes.toString() }))),
    clock,
    logger,
  });
  undo.add(() => live.close());
  return () => live.current();
}
