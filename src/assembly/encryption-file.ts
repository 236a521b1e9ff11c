import { readFile } from 'node:fs/promises';
import { CertificateError, reasonOf } from '../certificates/certificate-error.js';
import { LiveFiles } from '../certificates/live-files.js';
import { FlagError } from '../config/flag-error.js';
import type { ServerConfig } from '../config/server-config.js';
import { readEncryptionConfiguration } from '../encryption/configuration/read-encryption-configuration.js';
import { makeRules } from '../encryption/make-rules.js';
import { ResourceTransforms, type TransformerRules } from '../encryption/resource-transforms.js';
import { ReloadMetrics } from '../metrics/reload-metrics.js';
import type { FileWatching } from './tls.js';

/** Encryption of stored objects by --encryption-provider-config. */
export interface Encryption {
  readonly transforms: ResourceTransforms;
  readonly reloads: ReloadMetrics;
  /** Calls the listener when values may be readable that were not before. */
  onKeysChanged(listener: () => void): void;
}

interface Options {
  /** --encryption-provider-config */
  readonly file: string;
  readonly isReloaded: boolean;
  readonly config: ServerConfig;
}

type Use = (bytes: Buffer) => TransformerRules;

const flag = 'encryption-provider-config';
/** A change is used when two polls have found the same file: within five seconds. */
const pollMs = 2_500;
/** As in kube-apiserver, also for file systems that do not report changes. */
const rereadMs = 60_000;

/** Reads the file, and follows it if wanted. Rejects with a FlagError if it cannot be used. */
export async function openEncryptionFile(
  { file, isReloaded, config }: Options,
  watching: FileWatching,
): Promise<Encryption> {
  const reloads = new ReloadMetrics('encryption', watching.clock);
  const use: Use = (bytes) => {
    const text = bytes.toString();
    const rules = makeRules(readEncryptionConfiguration(text, { file, naming: config.naming }), {
      kmsProvider() {
        throw new FlagError(flag, ['KMS providers are not supported by this server'], file);
      },
    });
    reloads.used(text);
    return rules;
  };
  const live = isReloaded ? await follow(file, use, reloads, watching) : undefined;
  const rules = live ? live.current() : use(await readOnce(file));
  const transforms = new ResourceTransforms(`${config.storage.etcd.prefix}/`, rules);
  const listeners: (() => void)[] = [];
  live?.onChange((changed) => {
    reloads.reloaded('success');
    transforms.replaceRules(changed);
    for (const listener of listeners) listener();
  });
  return { transforms, reloads, onKeysChanged: (listener) => void listeners.push(listener) };
}

async function readOnce(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new FlagError(flag, [reasonOf(error)], file);
  }
}

/** Follows the file. A change that cannot be used is logged and counted, and has no effect. */
async function follow(
  file: string,
  use: Use,
  reloads: ReloadMetrics,
  { clock, logger, undo }: FileWatching,
): Promise<LiveFiles<TransformerRules>> {
  const live = await LiveFiles.open<TransformerRules>({
    subject: 'encryption configuration',
    files: [file],
    parse: ([bytes]) => use(bytes!),
    onFailure: () => reloads.reloaded('failure'),
    ...{ pollMs, rereadMs, awaitsEndOfChange: true, clock, logger },
  }).catch((error: unknown) => {
    if (error instanceof CertificateError) throw new FlagError(flag, [error.message]);
    throw error;
  });
  undo.add(() => live.close());
  return live;
}
