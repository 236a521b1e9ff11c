import { ApiError } from './api-error.js';

/** Returns the resourceVersion of an `If-Match` header, quoted or not; undefined for `*`. */
export function resourceVersionOfIfMatch(header: string | undefined): string | undefined {
  const text = header?.trim() ?? '';
  if (text === '' || text === '*') return undefined;
  const version = /^("?)([0-9]+)\1$/.exec(text)?.[2];
  if (version === undefined) throw ApiError.badRequest('an If-Match header takes one resourceVersion');
  return version;
}
