import type { UserInfo } from '../machinery/user-info.js';

/** The names of the headers by which aggregated servers get the user of a request. */
export interface IdentityHeaderNames {
  readonly username: string;
  readonly group: string;
  /** Undefined without the feature gate RemoteRequestHeaderUID. */
  readonly uid: string | undefined;
  readonly extraPrefix: string;
}

const defaults = {
  username: 'X-Remote-User',
  group: 'X-Remote-Group',
  uid: 'X-Remote-Uid',
  extraPrefix: 'X-Remote-Extra-',
} as const;

interface ConfiguredNames {
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Chooses the names among those of --requestheader-*, which aggregated servers accept: X-Remote-* if they are there. */
export function identityHeaderNames(configured: ConfiguredNames, sendsUid: boolean): IdentityHeaderNames {
  return {
    username: chosen(configured.usernameHeaders, defaults.username),
    group: chosen(configured.groupHeaders, defaults.group),
    uid: sendsUid ? chosen(configured.uidHeaders, defaults.uid) : undefined,
    extraPrefix: chosen(configured.extraHeaderPrefixes, defaults.extraPrefix),
  };
}

function chosen(configured: readonly string[], usual: string): string {
  if (configured.some((name) => name.toLowerCase() === usual.toLowerCase())) return usual;
  return configured[0] ?? usual;
}

/** Returns the headers of a user: pairs of name and value, in the bytes that Node writes. */
export function identityHeaders(user: UserInfo, names: IdentityHeaderNames): (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = [[names.username, wireText(user.name)]];
  if (names.uid !== undefined && user.uid !== '') headers.push([names.uid, wireText(user.uid)]);
  for (const group of user.groups) headers.push([names.group, wireText(group)]);
  for (const [key, values] of Object.entries(user.extra)) {
    const name = `${names.extraPrefix}${escapedKey(key)}`;
    for (const value of values) headers.push([name, wireText(value)]);
  }
  return headers;
}

/**
 * True for a header that a client must not choose: who it is, on whose behalf, and with which credentials. Compares with the
 * usual names too, which a server may trust besides the configured ones.
 */
export function isIdentityHeader(lowerName: string, names: IdentityHeaderNames): boolean {
  return (
    lowerName.startsWith('x-remote-') ||
    lowerName.startsWith('impersonate-') ||
    lowerName === 'authorization' ||
    lowerName === names.username.toLowerCase() ||
    lowerName === names.group.toLowerCase() ||
    lowerName === names.uid?.toLowerCase() ||
    lowerName.startsWith(names.extraPrefix.toLowerCase())
  );
}

/** Node writes header values as Latin-1: UTF-8 is passed as its bytes. */
function wireText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Percent-encodes the bytes of a key that a header name cannot have, and the percent sign. */
function escapedKey(key: string): string {
  if (/^[\w!#$&'*+.^`|~-]*$/.test(key)) return key;
  let escaped = '';
  for (const byte of Buffer.from(key, 'utf8')) {
    const character = String.fromCharCode(byte);
    escaped += /[\w!#$&'*+.^`|~-]/.test(character) && byte < 128 ? character : `%${hex(byte)}`;
  }
  return escaped;
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}
