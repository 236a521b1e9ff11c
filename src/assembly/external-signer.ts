import { ExternalSigner } from '../auth/external-signer/external-signer.js';
import type { ServerConfig } from '../config/server-config.js';
import { SignerMetrics } from '../metrics/signer-metrics.js';
import type { CredentialSources } from './authentication.js';
import type { FileWatching } from './tls.js';

/** Connects to the signer of --service-account-signing-endpoint. */
export async function openSigner(
  endpoint: string,
  { authentication, limits }: ServerConfig,
  { clock, logger, undo }: FileWatching,
): Promise<Pick<CredentialSources, 'tokenKeys' | 'signerLifeSecondsMax' | 'signerMetrics'>> {
  const metrics = new SignerMetrics();
  const signer = await ExternalSigner.open({
    ...{ endpoint, clock, logger },
    observer: metrics,
    limits: { callMs: limits.tokenSignerTimeoutMs, answerBytesMax: limits.tokenSignerAnswerBytesMax },
  });
  undo.add(() => signer.close());
  const { lifeSecondsMax } = signer;
  const configuredSeconds = authentication.serviceAccount.tokenLifeMsMax / 1000;
  if (configuredSeconds > lifeSecondsMax) {
    throw new Error(
      `--service-account-max-token-expiration, --service-account-signing-endpoint: ${configuredSeconds} seconds are ` +
        `more than the ${lifeSecondsMax} seconds that the signer supports`,
    );
  }
  return { tokenKeys: () => Promise.resolve(signer), signerLifeSecondsMax: lifeSecondsMax, signerMetrics: metrics };
}
