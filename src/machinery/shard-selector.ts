import { ApiError } from './api-error.js';
import { fnv1a64, type Hash64 } from './fnv.js';
import { goQuote } from './field-error.js';

/** The field whose hash assigns an object to a shard. */
type ShardField = 'uid' | 'namespace';

/** From `start` (inclusive) to `end` (exclusive). Without `end`, up to 2^64. */
interface HashRange {
  readonly start: Hash64;
  readonly end: Hash64 | undefined;
}

/**
 * Selects a part of a collection, the same on every replica:
 *
 *   shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000') || shardRange(…)
 *
 * matches objects whose field hashes (FNV-1a, 64 bits) into one of the ranges. Syntax errors throw a BadRequest.
 */
export class ShardSelector {
  constructor(
    readonly text: string,
    readonly field: ShardField,
    private readonly ranges: readonly HashRange[],
  ) {}

  matches(attributes: { readonly uid?: string | undefined; readonly namespace: string }): boolean {
    const hash = fnv1a64((this.field === 'uid' ? attributes.uid : attributes.namespace) ?? '');
    return this.ranges.some(({ start, end }) => compare(hash, start) >= 0 && (!end || compare(hash, end) < 0));
  }
}

const fields: Readonly<Record<string, ShardField>> = {
  'object.metadata.uid': 'uid',
  'object.metadata.namespace': 'namespace',
};
const call = /^\s*shardRange\s*\(\s*([\w.]+)\s*,\s*'([^']*)'\s*,\s*'([^']*)'\s*\)\s*$/;
/** Each range costs a comparison per object; no client has this many replicas. */
const rangesMax = 1024;

export function parseShardSelector(text: string): ShardSelector {
  const parts = text.split('||');
  if (parts.length > rangesMax) throw refused(`it has more than ${rangesMax} ranges`);
  const ranges: HashRange[] = [];
  let field: ShardField | undefined;
  for (const part of parts) {
    const [, path = '', start = '', end = ''] = call.exec(part) ?? [];
    if (path === '')
      throw refused(`${goQuote(part.trim())} is not of the form shardRange(<field-path>, '<start>', '<end>')`);
    const named = Object.hasOwn(fields, path) ? fields[path]! : undefined;
    if (!named) throw refused(`unknown field path ${goQuote(path)}: expected one of ${Object.keys(fields).join(', ')}`);
    if (field && field !== named) throw refused('all ranges must use the same field path');
    field = named;
    ranges.push(rangeOf(start, end));
  }
  return new ShardSelector(text, field!, ranges);
}

function rangeOf(startText: string, endText: string): HashRange {
  const start = hashOf(startText);
  if (!start) throw refused(`the start ${goQuote(startText)} is not 0x and 16 lowercase hexadecimal digits`);
  // 2^64 is the only allowed value of seventeen digits.
  const end = endText === allHashes ? undefined : hashOf(endText);
  if (!end && endText !== allHashes) {
    throw refused(`the end ${goQuote(endText)} is neither 0x and 16 lowercase hexadecimal digits nor ${allHashes}`);
  }
  if (end && compare(start, end) >= 0) throw refused(`the start ${startText} is not below the end ${endText}`);
  return { start, end };
}

const allHashes = `0x1${'0'.repeat(16)}`;

function hashOf(text: string): Hash64 | undefined {
  if (!/^0x[0-9a-f]{16}$/.test(text)) return undefined;
  return { high: Number.parseInt(text.slice(2, 10), 16), low: Number.parseInt(text.slice(10), 16) };
}

function compare(a: Hash64, b: Hash64): number {
  return a.high - b.high || a.low - b.low;
}

function refused(problem: string): ApiError {
  return ApiError.badRequest(`invalid shardSelector: ${problem}`);
}
