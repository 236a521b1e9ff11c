import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';

/** A path inside a volume: it may not leave it. */
export function isFilePath(path: string, at: FieldPath): FieldError[] {
  return [
    ...(path.startsWith('/') ? [fieldError.invalid(String(at), path, 'must be a relative path')] : []),
    ...hasNoBackstep(path, at),
  ];
}

export function hasNoBackstep(path: string, at: FieldPath): FieldError[] {
  return path.split('/').includes('..') ? [fieldError.invalid(String(at), path, "must not contain '..'")] : [];
}

/** As above, and no name in it that the writer of the volume keeps for itself. */
export function isVolumeFilePath(path: string, at: FieldPath): FieldError[] {
  return [
    ...isFilePath(path, at),
    ...(path.startsWith('..') ? [fieldError.invalid(String(at), path, "must not start with '..'")] : []),
  ];
}
