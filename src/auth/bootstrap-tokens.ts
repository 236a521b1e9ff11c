import type { Secret } from '../catalog/types/core.v1.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { canonicalTime } from '../typed/go-time.js';

// Bootstrap tokens: `<id>.<secret>`, stored in Secrets of one type in the system namespace.

const namePrefix = 'bootstrap-token-';
const idFormat = /^[a-z0-9]{6}$/;
const tokenFormat = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** Returns the parts of a token; undefined if a text has another format. */
export function parseBootstrapToken(token: string): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = tokenFormat.exec(token) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

export function bootstrapTokenType(naming: NamingProfile): string {
  return naming.label('token', 'bootstrap');
}

/** The name of the Secret of a token. */
export function bootstrapTokenName(id: string): string {
  return namePrefix + id;
}

/** Returns the id in the name of a Secret; undefined for names that have none. */
export function bootstrapTokenIdOf(name: string): string | undefined {
  const id = name.startsWith(namePrefix) ? name.slice(namePrefix.length) : '';
  return idFormat.test(id) ? id : undefined;
}

/** A value in the data of a Secret as text; '' if it is absent. */
export function secretText({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}

/** The end of a token's validity: Infinity without an expiration, -Infinity for one that is not a time in RFC 3339. */
export function bootstrapTokenEndMs(secret: Secret): number {
  const expiration = secretText(secret, 'expiration');
  if (expiration === '') return Infinity;
  try {
    return Date.parse(canonicalTime(expiration) ?? '0001-01-01T00:00:00Z');
  } catch {
    return -Infinity;
  }
}
