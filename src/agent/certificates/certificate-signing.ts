import type { X509Certificate } from 'node:crypto';
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type { CertificateSigningRequest } from '../../catalog/types/certificates.v1.js';
import { parseCertificates, validToMs } from '../../certificates/pem.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ClientError } from '../../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import { FailureLog } from '../node/failure-log.js';
import { RetryDelay } from '../node/retry-delay.js';
import { certificateRequestPem, type CertificateTemplate } from './certificate-template.js';

/** A pending request is read at most this often. */
const pollMsMax = 10_000;
/** A denied or failed request is read this often: it may be deleted, which allows a new one. */
const refusedPollMs = 60_000;
const requestMsMax = 10_000;
/** Polls after which the log says that an approval is missing. */
const pollsBeforeNotice = 5;

interface SigningOptions {
  readonly purpose: 'client' | 'serving';
  /** Opens a client of a user who may create CertificateSigningRequests; called again when its credentials are refused. */
  readonly openClient: () => Promise<KubeconfigClient>;
  /** Gets each opened client when it is not used any more. */
  readonly releaseClient: (client: KubeconfigClient) => void;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

const usages = {
  client: ['digital signature', 'client auth'],
  serving: ['digital signature', 'server auth'],
} as const;

/** Requests certificates from the signers of kubelets. */
export class CertificateSigning {
  private readonly collection: string;
  private readonly failures: FailureLog;

  constructor(private readonly options: SigningOptions) {
    const { naming, clock, logger, purpose } = options;
    this.collection = `/apis/${naming.group('certificates')}/v1/certificatesigningrequests`;
    this.failures = new FailureLog(clock, logger, {
      failed: `the ${purpose} certificate could not be requested; the agent tries again`,
      recovered: `the ${purpose} certificate can be requested again`,
    });
  }

  /**
   * Resolves with the certificate for the key when it is issued, however long its approval takes. The name of the request
   * follows from the key, so a restarted agent waits for the same request. Resolves with undefined if the request was
   * answered with a certificate that has expired: another key is needed.
   */
  async certificateFor(
    template: CertificateTemplate,
    key: KeyObject,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { clock, rng } = this.options;
    const name = this.requestName(template, key);
    const delay = new RetryDelay(rng, pollMsMax);
    const seen = { polls: 0, refusal: '' };
    let client: KubeconfigClient | undefined;
    const release = () => {
      if (client) this.options.releaseClient(client);
      client = undefined;
    };
    try {
      for (;;) {
        let waitMs = 0;
        try {
          client ??= await this.options.openClient();
          const request = await this.readOrCreate(client, name, template, key, signal);
          this.failures.succeeded();
          const pem = issuedPem(request);
          if (pem !== undefined) return this.checked(pem, key);
          waitMs = this.note(request, seen) ? refusedPollMs : delay.next();
        } catch (error) {
          if (signal.aborted) throw error;
          if (error instanceof ClientError && (error.status === 401 || error.code === 'Kubeconfig')) release();
          this.failures.failed(error, { request: name, ...adviceOn(error) });
          waitMs = delay.next();
        }
        await sleep(clock, waitMs, signal);
      }
    } finally {
      release();
    }
  }

  private async readOrCreate(
    client: KubeconfigClient,
    name: string,
    template: CertificateTemplate,
    key: KeyObject,
    signal: AbortSignal,
  ): Promise<CertificateSigningRequest> {
    const { naming, purpose, logger } = this.options;
    const options = { signal, timeoutMs: requestMsMax };
    try {
      return await client.get<CertificateSigningRequest>(`${this.collection}/${name}`, options);
    } catch (error) {
      if (!(error instanceof ClientError && error.status === 404)) throw error;
    }
    const signerName =
      purpose === 'client'
        ? naming.label(naming.systemName('apiserver-client-kubelet'))
        : naming.label('kubelet-serving');
    const created = await client.create<CertificateSigningRequest>(
      this.collection,
      {
        apiVersion: `${naming.group('certificates')}/v1`,
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: {
          request: Buffer.from(certificateRequestPem(template, key)).toString('base64'),
          signerName,
          usages: usages[purpose],
        },
      },
      options,
    );
    logger.info('created a CertificateSigningRequest', { name, signer: signerName });
    return created;
  }

  /** Logs a refusal, or that an approval is missing, once. True if the request is refused. */
  private note({ metadata, status }: CertificateSigningRequest, seen: { polls: number; refusal: string }): boolean {
    const { logger } = this.options;
    const { name = '' } = metadata;
    const refusal = (status?.conditions ?? []).find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refusal) {
      const { type, reason, message } = refusal;
      if (seen.refusal !== type) {
        logger.error(
          'the CertificateSigningRequest was refused; delete it to let the agent request the certificate again',
          { name, condition: type, reason, message },
        );
      }
      seen.refusal = type ?? '';
      return true;
    }
    seen.refusal = '';
    if (++seen.polls === pollsBeforeNotice) {
      logger.warn('the CertificateSigningRequest is not approved yet; run kubectl certificate approve', { name });
    }
    return false;
  }

  /** Throws if the certificate is not that of the key; returns undefined if it has expired. */
  private checked(pem: string, key: KeyObject): string | undefined {
    const [leaf] = parseCertificates(pem, 'the issued certificate');
    if (!leaf!.checkPrivateKey(key)) throw new Error('the issued certificate has another key than the request');
    return isExpired(leaf!, this.options.clock.now()) ? undefined : pem;
  }

  private requestName({ commonName, organization, dns, ip }: CertificateTemplate, key: KeyObject): string {
    const hash = createHash('sha256');
    hash.update(createPublicKey(key).export({ type: 'spki', format: 'der' }));
    for (const text of [commonName, organization, ...usages[this.options.purpose], ...dns, ...ip]) {
      hash.update(`\n${text}`);
    }
    return `node-csr-${hash.digest('hex').slice(0, digestLength)}`;
  }
}

/** Hexadecimal digits; 160 bits. */
const digestLength = 40;

function issuedPem({ status }: CertificateSigningRequest): string | undefined {
  return status?.certificate ? Buffer.from(status.certificate, 'base64').toString('latin1') : undefined;
}

export function isExpired(certificate: X509Certificate, nowMs: number): boolean {
  return validToMs(certificate) <= nowMs;
}

function adviceOn(error: unknown): { readonly advice?: string } {
  const status = error instanceof ClientError ? error.status : undefined;
  if (status === 401) {
    return {
      advice: 'the bootstrap token or certificate is not valid any more; write a new one into --bootstrap-kubeconfig',
    };
  }
  if (status === 403)
    return { advice: 'bind the ClusterRole system:node-bootstrapper to the group of the bootstrap token' };
  return {};
}
