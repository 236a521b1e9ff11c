import { decodeJson, encodeJson } from '../../codec/json.js';
import { ApiError } from '../../machinery/api-error.js';
import { fnv1a64 } from '../../machinery/fnv.js';
import type { Revision } from '../../machinery/revision.js';

/**
 * The position of a paged list: the revision that all pages show, and the key after the last item, relative to the
 * list's scope. Opaque to clients. The encoding is that of kube-apiserver, so that a list can continue on either
 * server; tokens of this server also hold a checksum, and a truncated or edited token is rejected. Revision -1
 * continues at the latest state, for lists whose revision was compacted.
 */
interface ContinueToken {
  readonly revision: Revision | 'latest';
  /** Relative to the scope: `name`, or `namespace/name` in a list over all namespaces. */
  readonly start: string;
}

const version = 'meta.k8s.io/v1';

export function encodeContinue(token: ContinueToken): string {
  const rv = token.revision === 'latest' ? -1 : token.revision;
  const start = `${token.start}\0`;
  return encodeJson({ v: version, rv, start, sum: sumOf(rv, start) }).toString('base64url');
}

export function decodeContinue(text: string): ContinueToken {
  const invalid = (why: string) => ApiError.badRequest(`invalid continue token: continue key is not valid: ${why}`);
  if (!/^[A-Za-z0-9_-]*$/.test(text)) {
    throw invalid(`illegal base64 data at input byte ${text.search(/[^A-Za-z0-9_-]/)}`);
  }
  let value: unknown;
  try {
    value = decodeJson(Buffer.from(text, 'base64url'));
  } catch {
    throw invalid(
      text.length < 2
        ? `illegal base64 data at input byte ${Math.max(0, text.length - 1)}`
        : 'it was cut short or changed',
    );
  }
  if (typeof value !== 'object' || value === null) throw invalid('it was cut short or changed');
  const { v, rv, start, sum } = value as { v?: unknown; rv?: unknown; start?: unknown; sum?: unknown };
  if (v !== version) throw invalid(`server does not recognize this encoded version ${goText(v)}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) {
    throw invalid('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw invalid('encoded start key empty (version meta.k8s.io/v1)');
  // kube-apiserver's watch cache issues tokens whose key begins with a slash.
  const key = start.startsWith('/') ? start.slice(1) : start;
  if (key.split('/').some((part) => ['', '.', '..'].includes(part))) throw invalid(start);
  if (sum !== undefined && sum !== sumOf(rv, start)) throw invalid('it was changed');
  return {
    revision: rv === -1 ? 'latest' : (rv as Revision),
    start: key.endsWith('\0') ? key.slice(0, -1) : key,
  };
}

function goText(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : '""';
}

function sumOf(rv: number, start: string): string {
  const { high, low } = fnv1a64(`${rv}\0${start}`);
  return high.toString(36) + low.toString(36).padStart(7, '0');
}
