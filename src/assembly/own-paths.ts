import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isOwnKubeconfig } from '../certificates/kubeconfig.js';
import { generatedSecrets } from '../certificates/generated-files.js';
import type { ServerConfig } from '../config/server-config.js';
import type { Logger } from '../std/logger.js';
import { tighten } from '../std/private-paths.js';
import { storeFiles } from '../storage/backends/embedded/store-files.js';

/**
 * Removes the permissions of group and others from files that this server generated: the data directory, the embedded
 * store, keys, and the administrator's kubeconfig. Files of the user, and directories that contain any, keep their
 * modes.
 */
export async function tightenOwnPaths(config: ServerConfig, logger: Logger): Promise<void> {
  const { dataDirectory } = config.storage;
  const certDirectory = config.serving.certDirectory ?? join(dataDirectory, 'pki');
  const kubeconfig = config.kubeconfigOut ?? join(dataDirectory, 'admin.kubeconfig');
  const secrets = await generatedSecrets(certDirectory);
  const own = [
    ...(holdsOnly(dataDirectory, ['store', 'pki', basename(certDirectory), basename(kubeconfig)])
      ? [dataDirectory]
      : []),
    ...storePaths(join(dataDirectory, 'store')),
    ...(secrets.isWholeDirectory ? [certDirectory] : []),
    ...secrets.files,
    ...(isKubeconfigOfOurs(kubeconfig) ? [kubeconfig] : []),
  ];
  const access = own.map((path) => ({ path, access: tighten(path) }));
  const having = (wanted: string) => access.filter((one) => one.access === wanted).map(({ path }) => path);
  const [tightened, exposed] = [having('tightened'), having('exposed')];
  if (tightened.length > 0)
    logger.warn('removed the permissions of other users from files of this server', { paths: tightened });
  if (exposed.length > 0)
    logger.warn('other users have access to secret files of this server and chmod failed; change mode or owner', {
      paths: exposed,
    });
}

function storePaths(directory: string): string[] {
  return holdsOnly(directory, storeFiles) ? [directory, ...storeFiles.map((name) => join(directory, name))] : [];
}

/** True if the directory exists and contains at least one of these entries and no other. */
function holdsOnly(directory: string, names: readonly string[]): boolean {
  try {
    const entries = readdirSync(directory);
    return entries.length > 0 && entries.every((entry) => names.includes(entry));
  } catch {
    return false;
  }
}

function isKubeconfigOfOurs(file: string): boolean {
  try {
    return isOwnKubeconfig(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}
