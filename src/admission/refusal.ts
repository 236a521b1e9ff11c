import { ApiError } from '../machinery/api-error.js';
import type { AdmissionAttributes } from './admission-plugin.js';

/** What a plug-in throws: `<resource> "<name>" is forbidden: <why>`. */
export function forbid({ resource, name }: AdmissionAttributes, why: string): ApiError {
  return ApiError.forbidden(resource, name, why);
}

/** Several reasons as one text, the way lists of errors are told. */
export function allOf(reasons: readonly string[]): string {
  const different = [...new Set(reasons)];
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`;
}
