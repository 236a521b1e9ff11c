import type { Rng } from '../std/rng.js';

/** The position of a request in the trace of its sender (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The text of `tracestate`; empty if there is none, or none that is valid. */
  readonly traceState: string;
}

type Header = string | readonly string[] | undefined;

const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Longer than any version that is known; later versions only append fields. */
const parentLengthMax = 128;
const zeroTrace = '0'.repeat(32);
const zeroSpan = '0'.repeat(16);

/** Returns the sender's context; undefined if `traceparent` is absent or invalid. An invalid `tracestate` is left out. */
export function readTraceContext(parent: Header, state: Header): TraceContext | undefined {
  if (typeof parent !== 'string' || parent.length > parentLengthMax) return undefined;
  const match = parentPattern.exec(parent);
  if (!match) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = match;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === zeroTrace || spanId === zeroSpan) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, traceState: typeof state === 'string' ? validState(state) : '' };
}

/** Bounds of the specification: what every server has to pass on. */
const stateLengthMax = 512;
const stateMembersMax = 32;
const stateMember =
  /^[ \t]*(?:[a-z0-9][a-z0-9_\-*/]{0,240}@)?[a-z0-9][a-z0-9_\-*/]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}[ \t]*$/;

function validState(text: string): string {
  if (text.length > stateLengthMax) return '';
  const members = text.split(',');
  return members.length <= stateMembersMax && members.every((member) => stateMember.test(member)) ? text : '';
}

function traceParent(traceId: string, spanId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Returns the headers that continue a trace at another server. */
export function traceHeaders(traceId: string, spanId: string, isSampled: boolean, traceState: string) {
  const traceparent = traceParent(traceId, spanId, isSampled);
  return traceState === '' ? { traceparent } : { traceparent, tracestate: traceState };
}

const wordBound = 2 ** 32;
const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export const randomTraceId = (rng: Rng): string => randomSpanId(rng) + randomSpanId(rng);

export function randomSpanId(rng: Rng): string {
  const id = hexWord(rng) + hexWord(rng);
  // Zero is no id.
  return id === zeroSpan ? randomSpanId(rng) : id;
}

function hexWord(rng: Rng): string {
  const number = rng.below(wordBound);
  const high = hexBytes[number >>> 24]! + hexBytes[(number >>> 16) & 0xff]!;
  return high + hexBytes[(number >>> 8) & 0xff]! + hexBytes[number & 0xff]!;
}
