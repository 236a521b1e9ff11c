import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { parseApiVersion } from '../machinery/gvk.js';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { atOnce, type Steps } from '../std/steps.js';
import { DecodeError } from './decode-error.js';
import type { DecodeOptions, Decoder } from './encodings.js';

/** The body of a write, before anything but its kind is known to be right. */
export interface RequestObject {
  readonly object: JsonObject;
  /** As the body names them; '' where it does not. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly duplicates: readonly string[];
}

/**
 * Bytes of a body as an object. An empty JSON value is an empty object: what it lacks is said by validation.
 * `expectedKind` is the kind of the route, for messages.
 */
export function decodeRequestObject(
  bytes: Buffer,
  decoder: Decoder,
  expectedKind: string,
  options?: DecodeOptions,
): RequestObject {
  return atOnce(requestObjectInSteps(bytes, decoder, expectedKind, options));
}

/** The same in steps, where the decoder has them. */
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

/** The body cannot even be told to be of some kind. */
export function unrecognizedObject(expectedKind: string, problem: string, body: Buffer, cause?: unknown): ApiError {
  return ApiError.badRequest(
    `the object provided is unrecognized (must be of type ${expectedKind}): ${problem} (${summary(body)})`,
    cause,
  );
}

/** The body names a kind, but is not an acceptable object of the kind that the route takes. */
export function cannotBeHandled(
  given: { readonly kind: string; readonly version: string },
  expectedKind: string,
  problem: string,
  cause?: unknown,
): ApiError {
  return ApiError.badRequest(
    `${given.kind} in version ${goQuote(given.version)} cannot be handled as a ${expectedKind}: ${problem}`,
    cause,
  );
}

/** Unknown and duplicate fields under fieldValidation=Strict. */
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

/** What Go calls the type of a JSON value. */
export function goTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

const summaryBytesMax = 30;

/** The beginning of the body: as it is when it looks like JSON, else in hex. */
function summary(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const start = body.subarray(0, summaryBytesMax);
  const shown = body[0] === 0x7b ? start.toString('utf8') : start.toString('hex');
  return body.length > summaryBytesMax ? `${shown} ...` : shown;
}
