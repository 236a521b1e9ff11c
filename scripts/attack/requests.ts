import { gzipSync } from 'node:zlib';
import { defaultConfig } from '../../src/config/load-config.js';
import { bodyBytesMax, fillBytes, type HostileRequest, type UserName } from './attack.js';

/** Media types in the requests of families. */
const mediaTypes = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
  jsonPatch: 'application/json-patch+json',
  mergePatch: 'application/merge-patch+json',
  strategicPatch: 'application/strategic-merge-patch+json',
  applyPatch: 'application/apply-patch+yaml',
} as const;
export type MediaType = keyof typeof mediaTypes;

interface Extras {
  readonly as?: UserName | 'nobody';
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly cutAfterMs?: number;
  readonly mayFailWith?: readonly number[];
}

/** A request with a body: strings and bytes as they are, other values as JSON. */
export function withBody(
  about: string,
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body: unknown,
  type: MediaType = 'json',
  { headers, ...extras }: Extras = {},
): HostileRequest {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(isRaw ? (body as string) : JSON.stringify(body));
  if (bytes.length > bodyBytesMax) throw new Error(`${about} is larger than a body may be: ${bytes.length}`);
  return { about, method, path, body: bytes, headers: { 'content-type': mediaTypes[type], ...headers }, ...extras };
}

export const post = (about: string, path: string, body: unknown, type?: MediaType, extras?: Extras): HostileRequest =>
  withBody(about, 'POST', path, body, type, extras);
export const put = (about: string, path: string, body: unknown, type?: MediaType, extras?: Extras): HostileRequest =>
  withBody(about, 'PUT', path, body, type, extras);
export const patch = (about: string, path: string, body: unknown, type: MediaType, extras?: Extras): HostileRequest =>
  withBody(about, 'PATCH', path, body, type, extras);
export const get = (about: string, path: string, extras: Extras = {}): HostileRequest => ({
  ...{ about, method: 'GET', path },
  ...extras,
});
export const remove = (about: string, path: string, extras: Extras = {}): HostileRequest => ({
  ...{ about, method: 'DELETE', path },
  ...extras,
});

/** Returns `count` values computed from their index. */
export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Just below the limit on the values of a body: the worst accepted case, also with a few values added. */
const acceptedValues = Math.floor(defaultConfig().limits.requestValuesMax * 0.97);
let valuesMax = acceptedValues;
let scale = 1;
/** Fills bodies only up to a fraction of the limits. */
export function scaleBodies(part: number): void {
  scale = part;
  valuesMax = Math.floor(acceptedValues * part);
}
export const valuesBound = (): number => valuesMax;
export const bytesBound = (): number => Math.floor(fillBytes * scale);

/** Builds a body up to the limit on bytes, ignoring the limit on values. */
export function beyondValues<T>(make: () => T): T {
  const before = valuesMax;
  valuesMax = Infinity;
  try {
    return make();
  } finally {
    valuesMax = before;
  }
}

/** Approximate number of values in a JSON text: counts separators and brackets. */
export const valuesOf = (text: string): number => 1 + (text.match(/[,{[]/g)?.length ?? 0);

/** Repeats entries between a head and a tail as often as they fit, joined by a separator. */
export function filling(
  make: (index: number) => string,
  { head = '', tail = '', separator = ',', bytes = fillBytes * scale }: FillingOptions = {},
): string {
  const parts: string[] = [];
  let values = valuesOf(head) + valuesOf(tail);
  for (let size = head.length + tail.length, index = 0; ; index++) {
    const part = make(index);
    size += Buffer.byteLength(part) + separator.length;
    values += valuesOf(part);
    if (size > bytes || values > valuesMax) return head + parts.join(separator) + tail;
    parts.push(part);
  }
}
interface FillingOptions {
  readonly head?: string;
  readonly tail?: string;
  readonly separator?: string;
  readonly bytes?: number;
}

export const gzipped = (body: string | Buffer): Buffer => gzipSync(body);
