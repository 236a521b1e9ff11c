import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';

/** Requires a relative path without `..`, so that it stays inside the volume. */
export function validateRelativePath(path: string, at: FieldPath): FieldError[] {
  return [
    ...(path.startsWith('/') ? [fieldError.invalid(at, path, 'must be a relative path')] : []),
    ...validateNoBackstep(path, at),
  ];
}

/** Rejects a path with the segment `..`. */
export function validateNoBackstep(path: string, at: FieldPath): FieldError[] {
  return /(?:^|\/)\.\.(?:\/|$)/.test(path) ? [fieldError.invalid(at, path, "must not contain '..'")] : [];
}

/** Like validateRelativePath, and rejects names that begin with `..`: the kubelet uses them inside the volume. */
export function validateVolumeFilePath(path: string, at: FieldPath): FieldError[] {
  return [
    ...validateRelativePath(path, at),
    ...(path.startsWith('..') ? [fieldError.invalid(at, path, "must not start with '..'")] : []),
  ];
}
