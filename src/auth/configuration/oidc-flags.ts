import { readFile } from 'node:fs/promises';
import { parseCertificates } from '../../certificates/pem.js';
import { FlagError } from '../../config/flag-error.js';
import type { ServerConfig } from '../../config/server-config.js';
import { path } from '../../machinery/field-error.js';
import { isSignatureAlgorithm } from '../jwt-issuers/signature-algorithms.js';
import { urlErrors } from './issuer-url.js';
import type { JwtConfiguration, RequiredClaim } from './jwt-configuration.js';
import { issuerSource } from './jwt-list.js';

/** Returns the issuer of the flags --oidc-*; undefined without them. Rejects with a FlagError. */
export async function jwtOfFlags({ authentication }: ServerConfig): Promise<JwtConfiguration | undefined> {
  const { oidc, serviceAccount } = authentication;
  const { issuerUrl: url, clientId, usernameClaim, groupsClaim, groupsPrefix = '' } = oidc;
  if (url === undefined || clientId === undefined) return undefined;
  const errors = urlErrors(url, path('oidc-issuer-url'), serviceAccount.issuers);
  if (errors.length > 0) {
    throw new FlagError(
      'oidc-issuer-url',
      errors.map(({ detail }) => detail),
    );
  }
  return {
    issuer: issuerSource(url, await certificateAuthority(oidc.caFile)),
    audiences: [clientId],
    algorithms: new Set(oidc.signingAlgorithms.filter(isSignatureAlgorithm)),
    username: { claim: usernameClaim, prefix: usernamePrefix(url, oidc) },
    groups: groupsClaim === undefined ? undefined : { claim: groupsClaim, prefix: groupsPrefix },
    uid: undefined,
    extra: [],
    requiredClaims: oidc.requiredClaims.map(requiredClaim),
    claimRules: [],
    userRules: [],
  };
}

function usernamePrefix(
  url: string,
  { usernamePrefix: prefix, usernameClaim }: ServerConfig['authentication']['oidc'],
) {
  if (prefix === '-') return '';
  return prefix ?? (usernameClaim === 'email' ? '' : `${url}#`);
}

function requiredClaim(pair: string): RequiredClaim {
  const equals = pair.indexOf('=');
  return { claim: pair.slice(0, equals).trim(), value: pair.slice(equals + 1).trim() };
}

async function certificateAuthority(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    const pem = await readFile(file, 'utf8');
    parseCertificates(pem, file);
    return pem;
  } catch (error) {
    throw new FlagError('oidc-ca-file', [error instanceof Error ? error.message : String(error)], file);
  }
}
