import { nameIsDnsLabel } from '../machinery/names.js';

const prefix = '/clusters/';
const [slash, questionMark] = [0x2f, 0x3f];

/**
 * Splits the URL of a request for a logical cluster: `/clusters/a/api/v1?x` → `a` and `/api/v1?x`. Undefined for all other
 * URLs. Only these exact bytes are the prefix: nothing is decoded or normalized, so that no URL has two readings.
 */
export function parseClusterPath(url: string): { readonly name: string; readonly url: string } | undefined {
  if (!url.startsWith(prefix)) return undefined;
  let end = prefix.length;
  while (end < url.length && url.charCodeAt(end) !== slash && url.charCodeAt(end) !== questionMark) end++;
  const name = url.slice(prefix.length, end);
  if (nameIsDnsLabel(name).length > 0) return undefined;
  return { name, url: url.charCodeAt(end) === slash ? url.slice(end) : `/${url.slice(end)}` };
}
