import { headerText } from '../../machinery/header-text.js';
import { percentDecode } from '../../machinery/query.js';
import { allAuthenticated } from '../../machinery/user-info.js';
import type { Authenticator } from '../authenticator.js';
import { defineAuthenticator } from '../authenticator-definition.js';

/** Configured headers of a front proxy. Header names are case-insensitive. */
export interface RequestHeaderNames {
  /** Common names of trusted proxies. If empty, all certificates of the CA are trusted. */
  readonly allowedNames: readonly string[];
  /** Headers with the user name; the first one with a value is used. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  /** Headers whose values are groups. */
  readonly groupHeaders: readonly string[];
  /**
   * Prefixes of headers with extra information. The rest of the header name, in lower case and then percent-decoded, is
   * the key.
   */
  readonly extraHeaderPrefixes: readonly string[];
}

export const requestHeader = defineAuthenticator({
  name: 'request-header',
  make: ({ config, trustsProxies }) =>
    trustsProxies ? requestHeaderAuthenticator(config.authentication.requestHeader) : undefined,
});

/** Authenticates users by the headers of a front proxy, whose client certificate makes them trusted. */
export function requestHeaderAuthenticator(names: RequestHeaderNames): Authenticator {
  const prefixes = names.extraHeaderPrefixes.map((prefix) => prefix.toLowerCase());
  return {
    reads: 'request',
    authenticate({ proxyName, rawHeaders }) {
      if (proxyName === undefined) return undefined;
      if (names.allowedNames.length > 0 && !names.allowedNames.includes(proxyName)) return 'rejected';
      const headers = headerValues(rawHeaders);
      if (!headers) return 'rejected';
      const valuesOf = (headerNames: readonly string[]) =>
        headerNames.flatMap((name) => headers.get(name.toLowerCase()) ?? []).filter((value) => value !== '');
      const name = valuesOf(names.usernameHeaders)[0];
      if (name === undefined) return undefined;
      const groups = valuesOf(names.groupHeaders);
      return {
        user: {
          name,
          uid: valuesOf(names.uidHeaders)[0] ?? '',
          groups: groups.includes(allAuthenticated) ? groups : [...groups, allAuthenticated],
          extra: extraOf(headers, prefixes),
        },
      };
    },
  };
}

/**
 * Returns the values of each header. Read from the raw list, since Node joins repeated headers by commas, which names
 * may contain. Undefined if a value is not valid UTF-8.
 */
function headerValues(rawHeaders: readonly string[]): Map<string, string[]> | undefined {
  const values = new Map<string, string[]>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = headerText(rawHeaders[i + 1]!);
    if (value === undefined) return undefined;
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
}

function extraOf(headers: ReadonlyMap<string, string[]>, prefixes: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const [name, values] of headers) {
    const prefix = prefixes.find((candidate) => name.startsWith(candidate));
    if (prefix === undefined) continue;
    // As in kube-apiserver: the header name is in lower case, its decoded bytes are not changed.
    const encoded = name.slice(prefix.length);
    const key = percentDecode(encoded) ?? encoded;
    extra.set(key, [...(extra.get(key) ?? []), ...values]);
  }
  return Object.fromEntries(extra);
}
