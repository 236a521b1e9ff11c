import { headerText } from '../../machinery/header-text.js';
import { allAuthenticated } from '../../machinery/user-info.js';
import type { Authenticator } from '../authenticator.js';

/** Names of headers are compared without regard to case. */
export interface RequestHeaderNames {
  /** Common names of trusted proxies; none trusts all that the authority has signed for. */
  readonly allowedNames: readonly string[];
  /** The first with a value is the user. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  /** All values of all of them are groups. */
  readonly groupHeaders: readonly string[];
  /** What follows the prefix, percent-decoded and in lower case, is the key. */
  readonly extraHeaderPrefixes: readonly string[];
}

/** A proxy in front that has verified the user and says so in headers. Its certificate is what makes them believed. */
export function requestHeaderAuthenticator(names: RequestHeaderNames): Authenticator {
  const prefixes = names.extraHeaderPrefixes.map((prefix) => prefix.toLowerCase());
  return {
    name: 'request-header',
    authenticate({ proxyName, rawHeaders }) {
      if (proxyName === undefined) return undefined;
      if (names.allowedNames.length > 0 && !names.allowedNames.includes(proxyName)) return 'rejected';
      const headers = headerValues(rawHeaders);
      if (!headers) return 'rejected';
      const valuesOf = (wanted: readonly string[]) =>
        wanted.flatMap((name) => headers.get(name.toLowerCase()) ?? []).filter((value) => value !== '');
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
 * Node joins repeated headers by commas, which names may hold: the raw list keeps them apart. Undefined if one is no
 * text.
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
    const key = percentDecoded(name.slice(prefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...values]);
  }
  return Object.fromEntries(extra);
}

/** A key that is no percent-encoding is taken as it stands. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text).toLowerCase();
  } catch {
    return text;
  }
}
