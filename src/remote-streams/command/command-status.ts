import { encodeJson, parseJson } from '../../codec/json.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import { hasStatus } from './protocols.js';

/** The outcome of a command as the message on its error channel. */
export interface CommandStatus {
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes: readonly { readonly reason?: string; readonly message: string }[] };
  readonly code?: number;
}

export const success: CommandStatus = { metadata: {}, status: 'Success' };

export function internalError(message: string): CommandStatus {
  return {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  };
}

function exitCodeStatus(exitCode: number): CommandStatus {
  const reason = `command terminated with exit code ${exitCode}`;
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: ${reason}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

export const encodeStatus = (status: CommandStatus): Buffer => encodeJson(status);

/** Returns the status that a server has sent on the error stream, which may be text without a format. */
export function receivedStatus(message: Buffer, protocol: string): CommandStatus {
  if (!hasStatus(protocol)) {
    return message.length === 0 ? success : internalError(`error executing remote command: ${message.toString()}`);
  }
  // Servers send a Status after every command: without one the command may have failed, or still run.
  if (message.length === 0) return internalError('the connection ended before the status of the command');
  let fields;
  try {
    fields = asFields(parseJson(message));
  } catch {
    return internalError(`error stream protocol error: no Status: ${message.toString()}`);
  }
  if (fields['status'] === 'Success') return success;
  if (fields['status'] !== 'Failure') return internalError('error stream protocol error: unknown error');
  if (fields['reason'] !== 'NonZeroExitCode') return internalError(asText(fields['message']));
  const causes = asItems(asFields(fields['details'])['causes']);
  const cause = causes.find(({ reason }) => reason === 'ExitCode');
  if (!cause) return internalError('error stream protocol error: no ExitCode cause given');
  const text = asText(cause['message']);
  if (!/^\d{1,3}$/.test(text) || Number(text) > 255) {
    return internalError(`error stream protocol error: invalid exit code value "${text}"`);
  }
  return exitCodeStatus(Number(text));
}
