import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { ownYaml } from '../config/config-files.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { ClientError, reasonOf } from './client-error.js';
import type { Kubeconfig } from './kubeconfig.js';
import { kubeconfigBytesMax, parseKubeconfig } from './parse-kubeconfig.js';

/** Names that differ between naming profiles. */
type ClientNaming = Pick<NamingProfile, 'apiDomain' | 'execInfoVariable'>;

export interface KubeconfigOptions {
  /** Path of the kubeconfig. Default: $KUBECONFIG, or ~/.kube/config. */
  readonly file?: string;
  /** The kubeconfig itself, instead of a file. Relative paths in it are relative to the current directory. */
  readonly text?: string;
  /** Name of the context; current-context if absent. */
  readonly context?: string;
  /** Names of the group of ExecCredential and of the variable for plug-ins; those of Kubernetes by default. */
  readonly naming?: ClientNaming;
}

/** The names of the profile `kubernetes`. */
export function kubernetesNaming(): ClientNaming {
  const { apiDomain, execInfoVariable } = ownYaml('naming/kubernetes.yaml') as unknown as ClientNaming;
  return { apiDomain, execInfoVariable };
}

/** Reads a kubeconfig and checks one of its contexts. Rejects with a ClientError. */
export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<Kubeconfig> {
  const { apiDomain } = options.naming ?? kubernetesNaming();
  const { context } = options;
  if (options.text !== undefined) {
    const bytes = Buffer.from(options.text);
    return parseKubeconfig(bytes, { location: '(given as text)', directory: process.cwd(), context, apiDomain });
  }
  const location = resolve(options.file ?? defaultFile());
  const bytes = await readBounded(location, kubeconfigBytesMax, `kubeconfig ${location}`);
  return parseKubeconfig(bytes, { location, directory: dirname(location), context, apiDomain });
}

function defaultFile(): string {
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 1) {
    throw new ClientError('Kubeconfig', 'KUBECONFIG names several files, which are not merged; set it to one of them');
  }
  return listed[0] ?? join(homedir(), '.kube/config');
}

/** Reads a file of limited size. `name` is the subject of messages: `token file /run/token`. */
export async function readBounded(file: string, bytesMax: number, name: string): Promise<Buffer> {
  try {
    const handle = await open(file);
    try {
      const buffer = Buffer.allocUnsafe(bytesMax + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (bytesRead === 0 || length > bytesMax) break;
      }
      if (length > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`);
      return Buffer.from(buffer.subarray(0, length));
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new ClientError('Kubeconfig', `${name} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}
