import { readFile } from 'node:fs/promises';
import { makeTokenKeys, publicKeysOf, type KeyFile, type TokenKeys } from '../auth/token-keys.js';
import { LiveFiles } from '../certificates/live-files.js';
import type { ServerConfig } from '../config/server-config.js';
import { ownTokenKey, type OwnTokenKey } from './own-token-key.js';
import type { FileWatching } from './tls.js';

type KeySource = () => Promise<TokenKeys>;

/**
 * Returns the keys of service account tokens in files, which are read again when they change. They are read now too, so
 * that an invalid one fails the start; the server's own key may still be pending.
 */
export async function tokenKeysOf(
  { authentication }: ServerConfig,
  pki: OwnTokenKey,
  watching: FileWatching,
): Promise<KeySource> {
  const { signingKeyFile, keyFiles } = authentication.serviceAccount;
  if (signingKeyFile !== undefined) {
    const keys = await liveKeys([signingKeyFile, ...keyFiles], watching, ([signing, ...others]) =>
      makeTokenKeys(signing!, others),
    );
    return () => Promise.resolve(keys());
  }
  const others = keyFiles.length === 0 ? () => [] : await liveKeys(keyFiles, watching, parsed);
  return combined(ownTokenKey(pki, watching), others);
}

/** Returns the files themselves. A damaged one fails here, and not when the first token is verified. */
function parsed(files: readonly KeyFile[]): readonly KeyFile[] {
  files.forEach(publicKeysOf);
  return files;
}

/** Parses the keys when a file has changed. */
function combined(own: () => Promise<KeyFile>, others: () => readonly KeyFile[]): KeySource {
  let known:
    { readonly signing: KeyFile; readonly verifying: readonly KeyFile[]; readonly keys: TokenKeys } | undefined;
  return async () => {
    const [signing, verifying] = [await own(), others()];
    if (known?.signing !== signing || known.verifying !== verifying)
      known = { signing, verifying, keys: makeTokenKeys(signing, verifying) };
    return known.keys;
  };
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
