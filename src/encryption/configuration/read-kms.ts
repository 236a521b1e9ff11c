import { parseDuration } from '../../config/duration.js';
import type { ConfigReader } from '../../machinery/config-reader.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isSet } from '../../machinery/fields.js';
import type { KmsConfiguration } from './encryption-configuration.js';

/** Names of the KMS providers that were read before. */
export type KmsNames = Set<string>;

const timeoutMsDefault = 3_000;

/** Reads a KMS provider. There is none if its API version is not v2. */
export function readKms(
  entry: ConfigReader,
  at: FieldPath,
  names: KmsNames,
): { readonly kms: KmsConfiguration | undefined; readonly errors: readonly FieldError[] } {
  entry.allowOnly('apiVersion', 'name', 'cachesize', 'endpoint', 'timeout');
  const errors: FieldError[] = [];
  // As in kube-apiserver, v1 is the default.
  const version = entry.string('apiVersion') || 'v1';
  const name = entry.string('name') ?? '';
  const nameAt = at.child('name');
  if (name === '') errors.push(fieldError.required(nameAt, 'name is a mandatory field for a provider'));
  if (version !== 'v1' && name.includes(':')) {
    errors.push(fieldError.invalid(nameAt, name, `invalid KMS provider name ${name}, must not contain ':'`));
  }
  if (names.has(name)) {
    errors.push(fieldError.invalid(nameAt, name, `duplicate KMS provider name ${name}, names must be unique`));
  }
  names.add(name);
  const timeoutMs = timeoutOf(entry, at.child('timeout'), errors);
  const endpoint = entry.string('endpoint') ?? '';
  const socketPath = socketPathOf(endpoint, at.child('endpoint'), errors);
  const cacheSize = entry.integer('cachesize');
  if (cacheSize !== undefined && version !== 'v1') {
    errors.push(fieldError.invalid(at.child('cachesize'), cacheSize, 'cachesize is not supported in v2'));
  } else if (cacheSize === 0) {
    errors.push(
      fieldError.invalid(at.child('cachesize'), 0, 'cachesize should be a positive value, or negative to disable'),
    );
  }
  const versionAt = at.child('apiVersion');
  if (version === 'v1') {
    errors.push(
      fieldError.invalid(versionAt, version, 'KMSv1 is deprecated and not supported by this server; use apiVersion v2'),
    );
  } else if (version !== 'v2') {
    const detail = 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported';
    errors.push(fieldError.invalid(versionAt, version, detail));
  }
  return { kms: version === 'v2' ? { name, socketPath, timeoutMs } : undefined, errors };
}

function timeoutOf(entry: ConfigReader, at: FieldPath, errors: FieldError[]): number {
  if (!isSet(entry.raw('timeout'))) return timeoutMsDefault;
  const text = entry.string('timeout');
  const timeoutMs = text === undefined ? undefined : parseDuration(text);
  if (timeoutMs === undefined) {
    if (text !== undefined) errors.push(fieldError.invalid(at, text, 'must be a duration like 3s'));
    return timeoutMsDefault;
  }
  if (timeoutMs <= 0) errors.push(fieldError.invalid(at, text, 'timeout should be a positive value'));
  return timeoutMs;
}

/** Returns the path of `unix:///path`, or of `unix:///@name` for an abstract socket. */
function socketPathOf(endpoint: string, at: FieldPath, errors: FieldError[]): string {
  if (endpoint === '') {
    errors.push(fieldError.invalid(at, '', 'endpoint is a mandatory field for a kms'));
    return '';
  }
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(endpoint)?.[1]?.toLowerCase() ?? '';
  if (scheme !== 'unix') {
    const detail = `unsupported scheme "${scheme}" for KMS provider, only unix is supported`;
    errors.push(fieldError.invalid(at, endpoint, detail));
    return '';
  }
  const path = /^unix:(?:\/\/[^/]*)?(\/[^?#]*)/i.exec(endpoint)?.[1];
  if (path === undefined) {
    errors.push(fieldError.invalid(at, endpoint, 'invalid endpoint for kms provider, error: it has no path'));
    return '';
  }
  return path.startsWith('/@') ? path.slice(1) : path;
}
