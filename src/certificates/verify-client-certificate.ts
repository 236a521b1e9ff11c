import { X509Certificate, type KeyObject } from 'node:crypto';
import type { CaBundle } from './ca-bundle.js';
import { reasonOf } from './certificate-error.js';
import { certificateFacts, extensionIds, pathLengthMax, type CertificateFacts } from './der.js';
import { validFromMs, validToMs } from './pem.js';

/**
 * Result of verifying a client certificate as RFC 5280 and Go's crypto/x509 do: signatures from the leaf through the
 * presented intermediates to a CA of the bundle, each certificate valid now, allowed to sign, within its path length,
 * and for client authentication. OpenSSL verifies the same in the handshake, but only once per session and for one
 * bundle: it notices neither a reload nor an expiry while a connection is open.
 */
type ClientVerification =
  | { readonly ok: true; /** Time until which the result is valid, for this bundle. */ readonly validToMs: number }
  | { readonly ok: false; readonly reason: string };

export const presentedMax = 10;
/** Bounds the cost of intermediates that all issue each other, which form exponentially many paths. */
const signatureChecksMax = 32;

const clientAuthUsages = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

/** Object identifiers of accepted algorithms, in hex: RSA and ECDSA with SHA-2, RSA-PSS, Ed25519. Not SHA-1 and MD5. */
const soundSignatures = new Set([
  '2a864886f70d01010a',
  '2a864886f70d01010b',
  '2a864886f70d01010c',
  '2a864886f70d01010d',
  '2a8648ce3d040302',
  '2a8648ce3d040303',
  '2a8648ce3d040304',
  '2b6570',
]);

const understoodExtensions = new Set<string>(Object.values(extensionIds));

interface Link {
  readonly certificate: X509Certificate;
  readonly facts: CertificateFacts;
}

/** Verifies the certificates `presented` by a client, in DER, the leaf first. */
export function verifyClientCertificate(
  presented: readonly Buffer[],
  bundle: CaBundle,
  nowMs: number,
): ClientVerification {
  if (presented.length === 0) return refused('no certificate was presented');
  if (presented.length > presentedMax) return refused(`more than ${presentedMax} certificates were presented`);
  try {
    const [leaf, ...intermediates] = presented.map((der) => linkOf(new X509Certificate(der)));
    return new Verification(intermediates, bundle.certificates, nowMs).run(leaf!);
  } catch (error) {
    return refused(`the certificate cannot be read: ${reasonOf(error)}`);
  }
}

class Verification {
  private signatureChecks = 0;
  /** Reason for which the last path failed. */
  private reason = 'certificate signed by unknown authority';

  constructor(
    private readonly intermediates: readonly Link[],
    private readonly roots: readonly X509Certificate[],
    private readonly nowMs: number,
  ) {}

  run(leaf: Link): ClientVerification {
    const problem = this.problemOf(leaf);
    if (problem !== undefined) return refused(problem);
    const chain = this.extend([leaf]);
    if (chain === undefined) return refused(this.reason);
    return { ok: true, validToMs: Math.min(...chain.map(({ certificate }) => validToMs(certificate))) };
  }

  private extend(chain: readonly Link[]): readonly Link[] | undefined {
    const last = chain.at(-1)!;
    if (this.roots.some((root) => root.raw.equals(last.certificate.raw))) return chain;
    for (const root of this.roots) {
      if (!last.certificate.checkIssued(root)) continue;
      const link = linkOf(root);
      if (this.isSigner(link, chain, { isRoot: true })) return [...chain, link];
    }
    for (const link of this.intermediates) {
      if (chain.includes(link) || !last.certificate.checkIssued(link.certificate)) continue;
      if (!this.isSigner(link, chain, { isRoot: false })) continue;
      const whole = this.extend([...chain, link]);
      if (whole !== undefined) return whole;
    }
    return undefined;
  }

  private isSigner(signer: Link, chain: readonly Link[], { isRoot }: { isRoot: boolean }): boolean {
    const last = chain.at(-1)!;
    const problem =
      this.problemOf(signer) ?? this.signingProblem(signer, chain, isRoot) ?? this.signatureProblem(last, signer);
    if (problem !== undefined) this.reason = problem;
    return problem === undefined;
  }

  private problemOf({ certificate, facts }: Link): string | undefined {
    const subject = shownSubject(certificate);
    if (this.nowMs < validFromMs(certificate))
      return `certificate ${subject} is not valid before ${certificate.validFrom}`;
    if (this.nowMs > validToMs(certificate)) return `certificate ${subject} has expired at ${certificate.validTo}`;
    for (const [id, { isCritical }] of facts.extensions) {
      if (isCritical && !understoodExtensions.has(id))
        return `certificate ${subject} has an unknown critical extension`;
    }
    const keyIssue = keyProblem(certificate.publicKey);
    if (keyIssue !== undefined) return `certificate ${subject} ${keyIssue}`;
    // A certificate without extended key usage allows every usage.
    const usages = certificate.keyUsage as string[] | undefined;
    if (usages !== undefined && !usages.some((usage) => clientAuthUsages.includes(usage))) {
      return `certificate ${subject} is not for client authentication`;
    }
    return undefined;
  }

  private signingProblem({ certificate, facts }: Link, chain: readonly Link[], isRoot: boolean): string | undefined {
    const subject = shownSubject(certificate);
    // Roots of X.509 version 1 have no basic constraints; they are trusted because they are in the bundle.
    const isVersion1Root = isRoot && !facts.extensions.has(extensionIds.basicConstraints);
    if (!certificate.ca && !isVersion1Root) return `certificate ${subject} is not a certificate authority`;
    const bound = pathLengthMax(facts);
    if (bound !== undefined && chain.length - 1 > bound) return `too many intermediates below ${subject}`;
    // Name constraints apply to alternative names, which are not checked here: leaves with both are rejected.
    if (
      facts.extensions.has(extensionIds.nameConstraints) &&
      chain[0]!.facts.extensions.has(extensionIds.subjectAltName)
    ) {
      return `certificate ${subject} constrains names, which is not supported for clients with alternative names`;
    }
    return undefined;
  }

  private signatureProblem(signed: Link, signer: Link): string | undefined {
    const subject = shownSubject(signed.certificate);
    if (!soundSignatures.has(signed.facts.signatureAlgorithm))
      return `certificate ${subject} has a weak or unknown signature`;
    if (++this.signatureChecks > signatureChecksMax) return 'too many signatures to check';
    return signed.certificate.verify(signer.certificate.publicKey)
      ? undefined
      : `the signature of certificate ${subject} is wrong`;
  }
}

const [rsaBitsMin, rsaBitsMax] = [1024, 8192];
const rsaExponentMax = 2n ** 31n - 1n;

/**
 * Returns the problem of an RSA key outside the bounds of Go's crypto/rsa and crypto/tls: smaller keys can be broken,
 * and a signature check with a larger one takes many milliseconds (7 ms with an exponent of 3072 bits).
 */
export function keyProblem({ asymmetricKeyType, asymmetricKeyDetails }: PublicKeyFacts): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType !== 'rsa' && asymmetricKeyType !== 'rsa-pss') return undefined;
  if (modulusLength < rsaBitsMin) return `has an RSA key of less than ${rsaBitsMin} bits`;
  if (modulusLength > rsaBitsMax) return `has an RSA key of more than ${rsaBitsMax} bits`;
  if (publicExponent > rsaExponentMax) return 'has an RSA key with too large an exponent';
  return undefined;
}

type PublicKeyFacts = Pick<KeyObject, 'asymmetricKeyType' | 'asymmetricKeyDetails'>;

function linkOf(certificate: X509Certificate): Link {
  return { certificate, facts: certificateFacts(certificate) };
}

function shownSubject(certificate: X509Certificate): string {
  return `"${certificate.subject?.replaceAll('\n', ',') ?? ''}"`;
}

function refused(reason: string): ClientVerification {
  return { ok: false, reason };
}
