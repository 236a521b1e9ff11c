import { ApiError } from '../machinery/api-error.js';
import { listed } from '../machinery/listed.js';
import type { AdmissionAttributes } from './admission-plugin.js';

/** Creates the error with which a plug-in refuses a request: `<resource> "<name>" is forbidden: <why>`. */
export function forbid({ resource, name }: AdmissionAttributes, why: string): ApiError {
  return ApiError.forbidden(resource, name, why);
}

/** Joins distinct reasons into one text, as Go's aggregated errors are formatted: `[a, b]`. */
export function joinReasons(reasons: readonly string[]): string {
  return listed([...new Set(reasons)]);
}
