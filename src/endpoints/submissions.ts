import type { FastifyRequest } from 'fastify';
import { decodeCbor } from '../codec/cbor-decoder.js';
import { DecodeError } from '../codec/decode-error.js';
import type { Decoder } from '../codec/encodings.js';
import { decodeJson } from '../codec/json.js';
import { negotiateInput } from '../codec/negotiate.js';
import { decodeRequestObject } from '../codec/request-object.js';
import { findDuplicateFields, positionsOfFields, renameRepeated } from '../codec/strict-json.js';
import { decodeYaml } from '../codec/yaml.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { asItems } from '../machinery/fields.js';
import type { FieldValidation } from '../machinery/list-options.js';
import { FieldReport, type Submission } from '../registry/submission.js';
import { applyInCbor, type PatchType } from '../verbs/patch.js';
import { readBody } from './request-body.js';

/** What clients send, decoded, with what is to be said of its fields. Whether it is an object of its kind is for the verbs. */
export interface SubmissionOptions {
  readonly decoders: readonly Decoder[];
  readonly bytesMax: number;
  /** Of the route, for messages. */
  readonly kind: string;
  readonly fieldValidation: FieldValidation;
}

export async function submission(request: FastifyRequest, options: SubmissionOptions): Promise<Submission> {
  // The type is looked at first: a body that cannot be read is not waited for.
  const decoder = negotiateInput(request.raw.headers['content-type'], options.decoders);
  return decoded(await readBody(request, options.bytesMax), decoder, options);
}

/** The options of a deletion may be left out altogether. */
export async function submittedOptions(
  request: FastifyRequest,
  options: Omit<SubmissionOptions, 'fieldValidation'>,
): Promise<unknown> {
  const bytes = await readBody(request, options.bytesMax);
  if (bytes.length === 0) return undefined;
  const decoder = negotiateInput(request.raw.headers['content-type'], options.decoders);
  return decoded(bytes, decoder, { ...options, fieldValidation: 'Ignore' }).value;
}

function decoded(
  bytes: Buffer,
  decoder: Decoder,
  { kind, fieldValidation }: Pick<SubmissionOptions, 'kind' | 'fieldValidation'>,
): Submission {
  const isJson = decoder.name === 'json';
  // What JSON says twice is read with both, also where nobody wants to know of it.
  const options = { findDuplicates: isJson || fieldValidation !== 'Ignore' };
  const { object, duplicates } = decodeRequestObject(bytes, decoder, kind, options);
  const fields = new FieldReport(fieldValidation, duplicates, isJson ? positionsIn(bytes) : undefined);
  return { value: object, fields, repeated: isJson && duplicates.length > 0 ? repeatedIn(bytes) : undefined };
}

function repeatedIn(bytes: Buffer): Submission['repeated'] {
  const { text, mark } = renameRepeated(bytes.toString());
  return { value: decodeJson(text), mark };
}

export function submittedPatch(
  bytes: Buffer,
  mediaType: string,
  type: PatchType | 'apply',
  level: FieldValidation,
): Submission {
  let value: unknown;
  try {
    if (mediaType === applyInCbor) return { value: decodeCbor(bytes), fields: new FieldReport(level, []) };
    if (type === 'apply') {
      const decoded = decodeYaml(bytes, { findDuplicates: level !== 'Ignore' });
      return { value: decoded.value, fields: new FieldReport(level, decoded.duplicates) };
    }
    value = decodeJson(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw ApiError.badRequest(undecodable(mediaType, type) + error.message, error);
  }
  if (level === 'Ignore') return { value, fields: new FieldReport(level, []) };
  const duplicates = findDuplicateFields(bytes.toString());
  const texts =
    type === 'json' ? [...duplicates, ...unknownInOperations(value)].map((text) => `json patch ${text}`) : duplicates;
  return { value, fields: new FieldReport(level, texts, type === 'json' ? undefined : positionsIn(bytes)) };
}

/** How messages about bodies that cannot be read begin; clients know them. */
function undecodable(mediaType: string, type: PatchType | 'apply'): string {
  if (type === 'strategic') return '';
  if (type !== 'apply') return 'error decoding patch: ';
  return mediaType === applyInCbor ? 'error decoding CBOR: ' : 'error decoding YAML: error converting YAML to JSON: ';
}

const operationFields = new Set(['op', 'path', 'from', 'value']);

function unknownInOperations(operations: unknown): string[] {
  return asItems(operations).flatMap((operation, index) =>
    Object.keys(operation)
      .filter((name) => !operationFields.has(name))
      .map((name) => `unknown field ${goQuote(`[${index}].${name}`)}`),
  );
}

const positionsIn = (bytes: Buffer) => (paths: ReadonlySet<string>) => positionsOfFields(bytes.toString(), paths);
