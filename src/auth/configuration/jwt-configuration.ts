import type { AuthenticationExpression } from '../../expressions/authentication-expression.js';
import type { SignatureAlgorithm } from '../jwt-issuers/signature-algorithms.js';

/** A text claim with a prefix before it, or an expression. */
export type ClaimMapping =
  | { readonly claim: string; readonly prefix: string; readonly expression?: undefined }
  | { readonly claim?: undefined; readonly expression: AuthenticationExpression };

export interface ExtraMapping {
  readonly key: string;
  readonly expression: AuthenticationExpression;
}

export interface ValidationRule {
  readonly expression: AuthenticationExpression;
  readonly message: string;
}

export interface RequiredClaim {
  readonly claim: string;
  readonly value: string;
}

/** Location of the documents of an issuer. */
export interface IssuerSource {
  readonly url: string;
  /** URL of the discovery document. */
  readonly discoveryUrl: string;
  /** CA certificates in PEM that verify the servers of the issuer. Undefined: the root certificates of Node. */
  readonly certificateAuthority: string | undefined;
}

/** One entry of `jwt` in an AuthenticationConfiguration, validated, with its expressions compiled. */
export interface JwtConfiguration {
  readonly issuer: IssuerSource;
  /** A token must have at least one of them. */
  readonly audiences: readonly string[];
  readonly algorithms: ReadonlySet<SignatureAlgorithm>;
  readonly username: ClaimMapping;
  readonly groups: ClaimMapping | undefined;
  readonly uid: ClaimMapping | undefined;
  readonly extra: readonly ExtraMapping[];
  readonly requiredClaims: readonly RequiredClaim[];
  readonly claimRules: readonly ValidationRule[];
  readonly userRules: readonly ValidationRule[];
}
