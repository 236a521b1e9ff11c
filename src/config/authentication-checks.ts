import { isGateOn } from './feature-gates.js';
import type { ServerConfig } from './server-config.js';

/** Bounds of --service-account-max-token-expiration, as in kube-apiserver: an hour and 2^32 seconds. */
const tokenLifeMsLeast = 3_600_000;
const tokenLifeMsMost = 2 ** 32 * 1000;

/** The expiration that the kubelet requests for tokens of Pods, and a year, to which it is extended. */
const podTokenMs = 3_607_000;
const extendedTokenMs = 365 * 24 * 3_600_000;

/**
 * Returns errors about combinations of authentication flags. `isSet` is true for the keys of flags that are given. The
 * file of --authentication-config is checked when it is read.
 */
export function authenticationErrors(config: ServerConfig, isSet: (key: string) => boolean): string[] {
  return [
    ...requestHeaderErrors(config),
    ...issuerErrors(config, isSet),
    ...tokenLifeErrors(config),
    ...signingEndpointErrors(config),
  ];
}

/** Returns warnings about flags that limit each other. */
export function authenticationWarnings({ authentication }: ServerConfig): { flag: string; message: string }[] {
  const { extendsTokens, tokenLifeMsMax } = authentication.serviceAccount;
  if (!extendsTokens || tokenLifeMsMax === 0) return [];
  const flag = 'service-account-max-token-expiration';
  if (tokenLifeMsMax < podTokenMs) {
    const message = `--${flag} is below the 3607 seconds that the kubelet requests, so --service-account-extend-token-expiration has no effect`;
    return [{ flag, message }];
  }
  if (tokenLifeMsMax >= extendedTokenMs) return [];
  return [
    {
      flag,
      message: `--${flag} does not limit tokens of Pods, which --service-account-extend-token-expiration makes valid for a year; set that to false to limit them too`,
    },
  ];
}

function requestHeaderErrors({ authentication: { requestHeader }, featureGates }: ServerConfig): string[] {
  const { clientCaFile, usernameHeaders, allowedNames, uidHeaders, groupHeaders, extraHeaderPrefixes } = requestHeader;
  const lists = {
    'allowed-names': allowedNames,
    'username-headers': usernameHeaders,
    'uid-headers': uidHeaders,
    'group-headers': groupHeaders,
    'extra-headers-prefix': extraHeaderPrefixes,
  };
  const errors: string[] = [];
  for (const [name, values] of Object.entries(lists)) {
    // The rule about user names has one message for both directions, below.
    if (clientCaFile === undefined && values.length > 0 && name !== 'username-headers') {
      errors.push(
        `--requestheader-${name}, --requestheader-client-ca-file: the first has no effect without the second`,
      );
    }
  }
  if ((clientCaFile === undefined) !== (usernameHeaders.length === 0)) {
    errors.push('--requestheader-client-ca-file, --requestheader-username-headers: give both or neither');
  }
  if (uidHeaders.length > 0) {
    if (!isGateOn(featureGates, 'RemoteRequestHeaderUID')) {
      errors.push('--requestheader-uid-headers, --feature-gates: the first requires RemoteRequestHeaderUID=true');
    } else if (!uidHeaders.some((name) => name.toLowerCase() === 'x-remote-uid')) {
      errors.push('--requestheader-uid-headers: must contain X-Remote-Uid, which aggregated API servers read');
    }
  }
  return errors;
}

function issuerErrors({ authentication }: ServerConfig, isSet: (key: string) => boolean): string[] {
  const { issuers, keysUri, extendsTokens } = authentication.serviceAccount;
  const errors = issuers.flatMap((issuer, index) => {
    if (issuer.includes(':') && !URL.canParse(issuer)) {
      return [`--service-account-issuer: "${issuer}" contains ":" and is not a URL`];
    }
    return issuers.indexOf(issuer) < index ? [`--service-account-issuer: "${issuer}" is given twice`] : [];
  });
  const isOwnIssuer = !isSet('authentication.serviceAccount.issuers');
  if (isOwnIssuer && isSet('authentication.apiAudiences')) {
    errors.push('--api-audiences, --service-account-issuer: give the issuer too, whose tokens the audiences restrict');
  }
  if (isOwnIssuer && extendsTokens && isSet('authentication.serviceAccount.extendsTokens')) {
    errors.push(
      '--service-account-extend-token-expiration, --service-account-issuer: give the issuer too, whose tokens are extended',
    );
  }
  if (keysUri !== undefined && (!URL.canParse(keysUri) || new URL(keysUri).protocol !== 'https:')) {
    errors.push(`--service-account-jwks-uri: "${keysUri}" must be an https URL`);
  }
  return errors;
}

function tokenLifeErrors({ authentication }: ServerConfig): string[] {
  const { tokenLifeMsMax } = authentication.serviceAccount;
  if (tokenLifeMsMax === 0 || (tokenLifeMsMax >= tokenLifeMsLeast && tokenLifeMsMax <= tokenLifeMsMost)) return [];
  return ['--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds'];
}

function signingEndpointErrors({ authentication, featureGates }: ServerConfig): string[] {
  const { signingEndpoint, signingKeyFile, keyFiles } = authentication.serviceAccount;
  if (signingEndpoint === undefined) return [];
  const own = '--service-account-signing-endpoint';
  const errors: string[] = [];
  if (signingKeyFile !== undefined) {
    errors.push(`${own}, --service-account-signing-key-file: cannot be given together; the endpoint signs all tokens`);
  }
  if (keyFiles.length > 0) {
    errors.push(`${own}, --service-account-key-file: cannot be given together; the endpoint names all public keys`);
  }
  if (!isGateOn(featureGates, 'ExternalServiceAccountTokenSigner')) {
    errors.push(`${own}, --feature-gates: the first requires ExternalServiceAccountTokenSigner=true`);
  }
  if (signingEndpoint.startsWith('@') && !/^@([\w-]+\.)*[\w-]+$/.test(signingEndpoint)) {
    errors.push(`${own}: "${signingEndpoint}" is not the name of an abstract socket`);
  }
  return errors;
}
