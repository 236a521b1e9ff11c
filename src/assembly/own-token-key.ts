import { makeTokenKeys, type KeyFile } from '../auth/token-keys.js';
import { reasonOf } from '../certificates/certificate-error.js';
import { LiveFiles } from '../certificates/live-files.js';
import type { Pki, ServiceAccountKeyFile } from '../certificates/pki.js';
import type { FileWatching } from './tls.js';

export type OwnTokenKey = Pick<Pki, 'serviceAccountKey' | 'serviceAccountKeyFile'>;

/** Returns the signing key that the server generated. If it is in a file, the file is read again when it changes. */
export function ownTokenKey(pki: OwnTokenKey, watching: FileWatching): () => Promise<KeyFile> {
  if (pki.serviceAccountKeyFile) return followedKey(pki.serviceAccountKeyFile, pki, watching);
  let key: Promise<KeyFile> | undefined;
  // Read on first use, since it is generated then.
  return () => (key ??= pki.serviceAccountKey.then(({ privateKey }) => ({ name: 'sa.key', pem: privateKey })));
}

function followedKey(
  file: ServiceAccountKeyFile,
  pki: Pick<Pki, 'serviceAccountKey'>,
  watching: FileWatching,
): () => Promise<KeyFile> {
  let opened: Promise<LiveFiles<KeyFile>> | undefined;
  const open = async () => {
    await pki.serviceAccountKey;
    return openKey(file, watching);
  };
  const key = async (): Promise<KeyFile> => {
    opened ??= open();
    try {
      return (await opened).current();
    } catch (error) {
      // The next token tries again.
      opened = undefined;
      throw error;
    }
  };
  watching.undo.add(async () => (await opened?.catch(() => undefined))?.close());
  // Follows the file from its generation on; an error is that of the first token.
  key().catch(() => undefined);
  return key;
}

async function openKey(
  { path, savePublicKey }: ServiceAccountKeyFile,
  { clock, logger }: FileWatching,
): Promise<LiveFiles<KeyFile>> {
  const live = await LiveFiles.open({
    subject: 'service account key',
    files: [path],
    parse: ([bytes]) => signingKeyFile(path, bytes!),
    clock,
    logger,
  });
  live.onChange(() => {
    savePublicKey().catch((error: unknown) =>
      logger.error('the public key of the replaced service account key could not be written; restart the server', {
        file: path,
        error: reasonOf(error),
      }),
    );
  });
  return live;
}

/** Returns the file itself. A damaged one fails here, so that the previous one stays in use. */
function signingKeyFile(name: string, bytes: Buffer): KeyFile {
  const file = { name, pem: bytes.toString() };
  makeTokenKeys(file);
  return file;
}
