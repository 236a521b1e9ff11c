import { ApiError } from './api-error.js';
import { fieldError, goQuote, type FieldError } from './field-error.js';
import { int64Max, toInt64, type Int64 } from './int64.js';
import type { Query } from './query.js';
import { noRevision, revisionOf, type Revision } from './revision.js';

/**
 * Parses and validates the options of all verbs from the query, and for deletions from the body. Throws 400 for invalid
 * syntax and 422 for invalid combinations.
 */
export interface OptionsContext {
  /** The group of options kinds in messages: `meta.k8s.io`. */
  readonly metaGroup: string;
}

/** `?dryRun` without a value counts as absent. */
export function dryRunOf(query: Query): readonly string[] {
  return query.isBare('dryRun') ? [] : query.all('dryRun');
}

export function dryRunProblems(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((stage) => stage === 'All') ? [] : [fieldError.notSupported('dryRun', dryRun, ['All'])];
}

export function int64Parameter(query: Query, name: string): Int64 | undefined {
  const text = query.first(name);
  if (text === undefined) return undefined;
  if (!/^[-+]?[0-9]+$/.test(text)) throw ApiError.badRequest(parseIntError(text, 'invalid syntax'));
  const digits = text.replace(/^[-+]?0*/, '');
  const exact = digits.length > 19 ? int64Max + 1n : BigInt(digits === '' ? '0' : digits);
  const isNegative = text.startsWith('-');
  if (exact > (isNegative ? int64Max + 1n : int64Max)) {
    throw ApiError.badRequest(parseIntError(text, 'value out of range'));
  }
  return toInt64(isNegative ? -exact : exact);
}

/** Numbers beyond Number.MAX_SAFE_INTEGER are reduced to it. */
export function boundedParameter(query: Query, name: string): number | undefined {
  const value = int64Parameter(query, name);
  if (typeof value !== 'bigint') return value;
  return value < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

const parseIntError = (text: string, problem: string): string =>
  `strconv.ParseInt: parsing ${goQuote(text)}: ${problem}`;

/**
 * Converts a resourceVersion to a revision; '' and '0' are the first one. Throws 400 for an invalid resourceVersion.
 */
export function revisionOption(resourceVersion: string): Revision {
  if (resourceVersion === '') return noRevision;
  const isNumber = /^[0-9]+$/.test(resourceVersion);
  const digits = resourceVersion.replace(/^0+/, '');
  const isTooLarge = isNumber && (digits.length > 20 || (digits.length === 20 && digits > uint64MaxText));
  if (isNumber && !isTooLarge) return revisionOf(Math.min(Number(digits || '0'), Number.MAX_SAFE_INTEGER));
  const problem = isTooLarge ? 'value out of range' : 'invalid syntax';
  const shown = goQuote(resourceVersion);
  throw ApiError.badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: ${problem}`,
  );
}

const uint64MaxText = '18446744073709551615';
