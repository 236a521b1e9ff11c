import type { CertificateSigningRequest } from '../../catalog/types/certificates.v1.js';
import { CertificateError } from '../../certificates/certificate-error.js';
import { signRequest } from '../../certificates/sign-request.js';
import type { Signer } from '../../certificates/issue-certificate.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { followRequests, type CheckRequest } from './follow-requests.js';
import {
  hasCertificate,
  hasCondition,
  isApproved,
  parsedRequest,
  signerNameOf,
  statusWith,
  usagesOf,
} from './request-state.js';
import { refusalOf, signerKindOf, type SignerKind } from './signers.js';
import { openSigners } from './signing-files.js';

const lifetimeMsMin = 10 * 60_000;
/** The CA key may be added, and an expired CA certificate replaced. */
const recheckMs = 60_000;

/** Signs approved requests of the built-in signers, or marks them as Failed if they violate the rules of their signer. */
export const requestSigning = defineReconciler({
  name: 'certificatesigningrequest-signing-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  role: 'certificate-controller',
  async start(dependencies): Promise<RunningReconciler> {
    const files = await openSigners(dependencies.config.reconcilers.signing, dependencies);
    const signing = new RequestSigning(dependencies, (kind) => (files ? files.of(kind) : dependencies.server.issuer()));
    const following = followRequests(dependencies, 'csrsigning', signing.check);
    return {
      async stop() {
        await following.stop();
        files?.close();
      },
    };
  },
});

class RequestSigning {
  constructor(
    private readonly dependencies: ReconcilerDependencies,
    /** Undefined if the signer has no CA. */
    private readonly signerOf: (kind: SignerKind) => Signer | undefined,
  ) {}

  readonly check: CheckRequest = async (request, ref, signal) => {
    const { config, logger, clock, client } = this.dependencies;
    if (!isApproved(request) || hasCondition(request, 'Failed') || hasCertificate(request)) return;
    const kind = signerKindOf(signerNameOf(request), config.naming);
    const signer = kind && this.signerOf(kind);
    if (!kind || !signer) return;
    const { name } = ref;
    const { uid, resourceVersion } = request.metadata;
    // Nothing is written if the approval has been removed meanwhile.
    const options = { subresource: 'status', preconditions: { uid, resourceVersion }, signal };
    const verdict = this.verdictOn(request, kind, signer);
    if ('again' in verdict) {
      logger.warn('could not sign a CertificateSigningRequest; check --cluster-signing-cert-file and its key', {
        name,
        reason: verdict.again,
      });
      return { againInMs: recheckMs };
    }
    const now = objectTime(clock.now());
    await client.change(
      ref,
      (current) => ('pem' in verdict ? issued(current, verdict.pem) : failed(current, verdict.refusal, now)),
      options,
    );
    if ('pem' in verdict) logger.info('signed a CertificateSigningRequest', { name, signer: signerNameOf(request) });
  };

  private verdictOn(
    request: CertificateSigningRequest,
    kind: SignerKind,
    signer: Signer,
  ): { readonly pem: string } | { readonly refusal: string } | { readonly again: string } {
    const nowMs = this.dependencies.clock.now();
    const usages = usagesOf(request);
    try {
      const parsed = parsedRequest(request);
      const refusal = refusalOf(kind, parsed, usages);
      if (refusal !== undefined) return { refusal };
      if (Date.parse(signer.certificate.validTo) <= nowMs) {
        return { again: `the signing certificate expired at ${signer.certificate.validTo}` };
      }
      return { pem: signRequest(parsed, signer, { usages, lifetimeMs: this.lifetimeMs(request), nowMs }) };
    } catch (error) {
      if (error instanceof CertificateError) return { refusal: error.message };
      throw error;
    }
  }

  /** The requested lifetime, limited by --cluster-signing-duration. */
  private lifetimeMs({ spec }: CertificateSigningRequest): number {
    const { durationMsMax } = this.dependencies.config.reconcilers.signing;
    const seconds = spec?.expirationSeconds;
    if (seconds === undefined) return durationMsMax;
    return Math.min(durationMsMax, Math.max(lifetimeMsMin, seconds * 1000));
  }
}

function issued(request: CertificateSigningRequest, pem: string): CertificateSigningRequest {
  const certificate = Buffer.from(pem, 'latin1').toString('base64');
  return { ...request, status: { ...request.status, certificate } };
}

function failed(
  request: CertificateSigningRequest,
  message: string,
  lastUpdateTime: string,
): CertificateSigningRequest {
  const condition = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, lastUpdateTime };
  return { ...request, status: statusWith(request, condition) };
}
