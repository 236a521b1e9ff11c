import { posix } from 'node:path';

/** The paths of another server, as clients of this server reach them. */
export interface LinkContext {
  /** The path of this server that stands for the root of the other: `/api/v1/nodes/n/proxy`. */
  readonly prefix: string;
  /** Hosts that mean the other server: its own, and the one that the client asked for. */
  readonly hosts: readonly (string | undefined)[];
}

const urlParts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)([^]*)$/;

/**
 * Rewrites an absolute path, or a URL of the same host, so that it leads through this server, as kube-apiserver does
 * (apimachinery, pkg/util/proxy/transport.go). Relative URLs and those of other hosts stay as they are.
 */
export function rewriteLink(link: string, { prefix, hosts }: LinkContext): string {
  const parts = urlParts.exec(link);
  if (!parts) return link;
  const [, scheme, host = '', path = '', rest = ''] = parts;
  const isOther = host !== '' && !hosts.includes(host);
  if (isOther || !path.startsWith('/') || (scheme !== undefined && host === '')) return link;
  if (path.startsWith(prefix)) return `${path}${rest}`;
  const joined = posix.join(prefix, path);
  return `${path.endsWith('/') && !joined.endsWith('/') ? `${joined}/` : joined}${rest}`;
}
