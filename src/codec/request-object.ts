import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { parseApiVersion } from '../machinery/gvk.js';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import type { Steps } from '../std/steps.js';
import type { DecodeOptions, Decoder } from './encoding.js';

/** The body of a write, of which only the kind has been checked. */
interface RequestObject {
  readonly object: JsonObject;
  /** apiVersion and kind of the body; '' if absent. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly duplicates: readonly string[];
}

/**
 * Decodes a body to an object, in steps if the decoder supports them. An empty JSON value is an empty object: validation
 * reports its missing fields. `expectedKind` is the kind of the route, for error messages.
 */
export function* requestObjectInSteps(
  bytes: Buffer,
  decoder: Decoder,
  expectedKind: string,
  options?: DecodeOptions,
): Steps<RequestObject> {
  try {
    const { value, duplicates } = decoder.decodeInSteps
      ? yield* decoder.decodeInSteps(bytes, options)
      : decoder.decode(bytes, options);
    const object = requireObject(value);
    return { object, ...typeOf(object), duplicates };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unrecognizedObject(expectedKind, error.message, bytes, error);
  }
}

/** The error for a body whose kind cannot be determined. */
function unrecognizedObject(expectedKind: string, problem: string, body: Buffer, cause?: unknown): ApiError {
  return ApiError.badRequest(
    `the object provided is unrecognized (must be of type ${expectedKind}): ${problem} (${summary(body)})`,
    cause,
  );
}

/** The error for a body with a kind that is not an acceptable object of the route's kind. */
export function cannotBeHandled(
  submitted: { readonly kind: string; readonly version: string },
  expectedKind: string,
  problem: string,
  cause?: unknown,
): ApiError {
  return ApiError.badRequest(
    `${submitted.kind} in version ${goQuote(submitted.version)} cannot be handled as a ${expectedKind}: ${problem}`,
    cause,
  );
}

/** The error message for unknown and duplicate fields under fieldValidation=Strict. */
export function strictDecodingProblem(findings: readonly string[]): string {
  return `strict decoding error: ${findings.join(', ')}`;
}

const typeMetaStruct =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function requireObject(value: JsonValue): JsonObject {
  if (value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw noTypeMeta(`json: cannot unmarshal ${goTypeOf(value)} into Go value of type ${typeMetaStruct}`);
}

function typeOf(object: JsonObject): { apiVersion: string; kind: string } {
  const apiVersion = typeField(object, 'apiVersion');
  const kind = typeField(object, 'kind');
  if (parseApiVersion(apiVersion) === undefined) {
    throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  }
  return { apiVersion, kind };
}

function typeField(object: JsonObject, name: 'apiVersion' | 'kind'): string {
  const value = object[name];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw noTypeMeta(`json: cannot unmarshal ${goTypeOf(value)} into Go struct field .${name} of type string`);
}

const noTypeMeta = (problem: string): DecodeError =>
  new DecodeError(`couldn't get version/kind; json parse error: ${problem}`);

/** Returns the Go type of a JSON value. */
export function goTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

const summaryBytesMax = 30;

/** Quotes the start of the body: as text if it looks like JSON, else in hex. */
function summary(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const start = body.subarray(0, summaryBytesMax);
  const shown = body[0] === 0x7b ? start.toString('utf8') : start.toString('hex');
  return body.length > summaryBytesMax ? `${shown} ...` : shown;
}
