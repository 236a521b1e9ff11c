import { CertificateError } from '../certificates/certificate-error.js';
import { LiveFiles } from '../certificates/live-files.js';
import { FlagError } from '../config/flag-error.js';
import type { ReloadMetrics } from '../metrics/reload-metrics.js';
import type { FileWatching } from './tls.js';

interface Options<T> {
  /** `encryption configuration`, for the log. */
  readonly subject: string;
  readonly flag: string;
  readonly file: string;
  readonly parse: (bytes: Buffer) => Promise<T>;
  /** Counts changes that cannot be used. */
  readonly reloads: ReloadMetrics;
  /** Releases what the file configures, when it is no longer followed. */
  readonly release?: (last: T) => void;
}

/** A change is used when two polls have found the same file: within five seconds. */
const pollMs = 2_500;
/** As in kube-apiserver, also for file systems that do not report changes. */
const rereadMs = 60_000;

/**
 * Reads a configuration file and follows it. A change that cannot be used is logged and counted, and has no effect. Rejects
 * with a FlagError if the file cannot be used at first.
 */
export async function openFollowedFile<T>(
  { subject, flag, file, parse, reloads, release }: Options<T>,
  { clock, logger, undo }: FileWatching,
): Promise<LiveFiles<T>> {
  const live = await LiveFiles.open<T>({
    subject,
    files: [file],
    parse: ([bytes]) => parse(bytes!),
    onFailure: () => reloads.reloaded('failure'),
    ...{ pollMs, rereadMs, awaitsEndOfChange: true, clock, logger },
  }).catch((error: unknown) => {
    if (error instanceof CertificateError) throw new FlagError(flag, [error.message]);
    throw error;
  });
  undo.add(async () => {
    live.close();
    // A running check may replace what the file configures.
    await live.idle();
    release?.(live.current());
  });
  return live;
}
