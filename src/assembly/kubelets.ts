import { createSecureContext } from 'node:tls';
import { LiveFiles } from '../certificates/live-files.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ForwardTls } from '../forwarding/forward-target.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { UndoSteps } from './undo-steps.js';

interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly undo: UndoSteps;
}

/** Reads the CA and the client certificate for kubelets, and reloads them when their files change. */
export async function openKubeletTls(
  { kubelets }: ServerConfig,
  { clock, logger, undo }: Dependencies,
): Promise<() => ForwardTls> {
  const { certificateAuthority, clientCertificate, clientKey } = kubelets;
  const given = { ca: certificateAuthority, cert: clientCertificate, key: clientKey };
  const names = (['ca', 'cert', 'key'] as const).filter((name) => given[name] !== undefined);
  if (names.length === 0) return () => ({});
  const files = await LiveFiles.open<ForwardTls>({
    files: names.map((name) => given[name]!),
    parse: (contents) => {
      const tls: ForwardTls = Object.fromEntries(names.map((name, index) => [name, contents[index]!.toString()]));
      // Throws if a file is not PEM, or the key is of another certificate.
      createSecureContext(tls);
      return tls;
    },
    clock,
    logger,
  });
  undo.add(() => files.close());
  return () => files.current();
}
