import { posix } from 'node:path';

/** Characters of a path that Go's URL.EscapedPath leaves as they are. */
const unescaped = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@');

/** Escapes a decoded path as Go does, so that it has no bytes that end or split a request line. */
export function escapePath(path: string): string {
  let escaped = '';
  for (const character of path) {
    if (unescaped.has(character)) escaped += character;
    else for (const byte of Buffer.from(character)) escaped += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}

/** Removes `.`, `..` and repeated slashes of a decoded path, and keeps a slash at its end. No path leads above the root. */
export function cleanPath(path: string): string {
  return path === '' ? '' : posix.normalize(path.startsWith('/') ? path : `/${path}`);
}

/** Returns the path of this server below which the paths of the other server are: `/api/v1/nodes/n/proxy`. */
export function prefixOf(requestPath: string, path: string): string {
  const suffix = requestPath.endsWith('/') && !path.endsWith('/') ? `${path}/` : path;
  return requestPath.endsWith(suffix) ? requestPath.slice(0, requestPath.length - suffix.length) : requestPath;
}
