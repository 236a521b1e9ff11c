import { CertificateError } from '../../certificates/certificate-error.js';
import { signRequest } from '../../certificates/sign-request.js';
import type { Signer } from '../../certificates/issue-certificate.js';
import { asFields, asItems } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { objectTime } from '../../registry/write/system-fields.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { followRequests } from './follow-requests.js';
import { hasCertificate, hasCondition, isApproved, parsedRequest, signerNameOf, usagesOf } from './request-state.js';
import { refusalOf, signerKindOf, type SignerKind } from './signers.js';
import { openSigners } from './signing-files.js';

const lifetimeMsMin = 10 * 60_000;
/** The authority may get its key, and a certificate that has ended may be replaced. */
const lookAgainMs = 60_000;

/** Signs approved requests of the built-in signers, or marks them as Failed where they do not fit their signer. */
export const requestSigning: Reconciler = {
  name: 'certificatesigningrequest-signing-controller',
  yieldsToUpstream: true,
  account: 'certificate-controller',
  async start(parts): Promise<RunningReconciler> {
    const files = await openSigners(parts.config.reconcilers.signing, parts);
    const signing = new RequestSigning(parts, (kind) => (files ? files.of(kind) : parts.server.issuer()));
    const following = followRequests(parts, 'csrsigning', (request, place, signal) =>
      signing.look(request, place, signal),
    );
    return {
      async stop() {
        await following.stop();
        files?.close();
      },
    };
  },
};

type Look = Parameters<typeof followRequests>[2];

class RequestSigning {
  constructor(
    private readonly parts: ReconcilerParts,
    /** Undefined where nothing signs for this signer. */
    private readonly signerOf: (kind: SignerKind) => Signer | undefined,
  ) {}

  readonly look: Look = async (request, place, signal) => {
    const { config, logger, clock, client } = this.parts;
    if (!isApproved(request) || hasCondition(request, 'Failed') || hasCertificate(request)) return;
    const kind = signerKindOf(signerNameOf(request), config.naming);
    const signer = kind && this.signerOf(kind);
    if (!kind || !signer) return;
    const { name } = place;
    const { uid, resourceVersion } = request.metadata;
    // The approval is still there when the certificate is written, or nothing is.
    const options = { subresource: 'status', preconditions: { uid, resourceVersion }, signal };
    const verdict = this.verdictOn(request, kind, signer);
    if ('again' in verdict) {
      logger.warn('could not sign a CertificateSigningRequest; check --cluster-signing-cert-file and its key', {
        name,
        reason: verdict.again,
      });
      return { againInMs: lookAgainMs };
    }
    const now = objectTime(clock.now());
    await client.change(
      place,
      (current) => ('pem' in verdict ? issued(current, verdict.pem) : failed(current, verdict.refusal, now)),
      options,
    );
    if ('pem' in verdict) logger.info('signed a CertificateSigningRequest', { name, signer: signerNameOf(request) });
  };

  private verdictOn(
    request: KubeObject,
    kind: SignerKind,
    signer: Signer,
  ): { readonly pem: string } | { readonly refusal: string } | { readonly again: string } {
    const nowMs = this.parts.clock.now();
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

  /** As asked for, but no longer than --cluster-signing-duration. */
  private lifetimeMs(request: KubeObject): number {
    const { durationMsMax } = this.parts.config.reconcilers.signing;
    const { expirationSeconds: seconds } = asFields(request['spec']);
    if (typeof seconds !== 'number') return durationMsMax;
    return Math.min(durationMsMax, Math.max(lifetimeMsMin, seconds * 1000));
  }
}

function issued(request: KubeObject, pem: string): KubeObject {
  const certificate = Buffer.from(pem, 'latin1').toString('base64');
  return { ...request, status: { ...asFields(request['status']), certificate } };
}

function failed(request: KubeObject, message: string, lastUpdateTime: string): KubeObject {
  const status = asFields(request['status']);
  const condition = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, lastUpdateTime };
  return { ...request, status: { ...status, conditions: [...asItems(status['conditions']), condition] } };
}
