import { decodeJson } from '../codec/json.js';
import { CheckedFields } from './checked-fields.js';
import { reasonOf } from './client-error.js';
import type { Credentials } from './credentials.js';
import { headerValue } from './header-value.js';

export interface PluginCredentials extends Credentials {
  /** Milliseconds since the epoch; without it the credentials are used until an answer 401. */
  readonly expiresAtMs: number | undefined;
}

/** Parses the ExecCredential that a plug-in printed. `failure` creates the error for a problem. */
export function parsePluginOutput(
  bytes: Buffer,
  apiVersion: string,
  failure: (problem: string) => Error,
): PluginCredentials {
  if (bytes.length === 0) throw failure('its output is empty');
  let value;
  try {
    value = decodeJson(bytes);
  } catch (error) {
    // Without cause: the output has credentials in it.
    throw failure(`its output is not JSON (${reasonOf(error)})`);
  }
  const output = CheckedFields.of(value, '', (problem) => failure(`in its output ${problem}`));
  if (output.text('kind') !== 'ExecCredential') throw output.wrong('kind', 'must be ExecCredential');
  if (output.text('apiVersion') !== apiVersion) {
    throw output.wrong('apiVersion', `must be ${apiVersion}, as in the kubeconfig`);
  }
  const status = output.object('status');
  if (!status) throw output.wrong('status', 'is required');
  const token = status.text('token');
  const certificate = status.text('clientCertificateData');
  const key = status.text('clientKeyData');
  if (certificate !== undefined && key === undefined) throw status.wrong('clientKeyData', 'is required, too');
  if (key !== undefined && certificate === undefined) throw status.wrong('clientCertificateData', 'is required, too');
  if (token === undefined && certificate === undefined) {
    throw status.wrong('token', 'or clientCertificateData and clientKeyData are required');
  }
  if (token !== undefined && headerValue(token) === undefined) {
    throw status.wrong('token', 'contains characters that a header cannot contain');
  }
  return {
    token,
    clientCertificate:
      certificate === undefined || key === undefined
        ? undefined
        : { certificate: Buffer.from(certificate), key: Buffer.from(key) },
    expiresAtMs: expiration(status),
  };
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function expiration(status: CheckedFields): number | undefined {
  const text = status.text('expirationTimestamp');
  if (text === undefined) return undefined;
  const timeMs = rfc3339.test(text) ? Date.parse(text.toUpperCase()) : NaN;
  if (Number.isNaN(timeMs)) {
    throw status.wrong('expirationTimestamp', 'must be a time such as 2030-01-31T12:00:00Z');
  }
  return timeMs;
}
