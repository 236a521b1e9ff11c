import type { FastifyRequest } from 'fastify';
import { decodeCbor } from '../codec/cbor-decoder.js';
import { DecodeError } from '../std/decode-error.js';
import type { Decoder } from '../codec/encoding.js';
import { decodeJsonInSteps } from '../codec/json.js';
import { negotiateInput } from '../codec/negotiate.js';
import { requestObjectInSteps } from '../codec/request-object.js';
import { findDuplicateFields, positionsOfFields, renameRepeated } from '../codec/strict-json.js';
import { ValueBudget } from '../codec/value-budget.js';
import { decodeYamlInSteps } from '../codec/yaml.js';
import type { Limits } from '../config/limits.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { asFields, asItems, asText } from '../machinery/fields.js';
import type { KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import type { FieldValidation } from '../machinery/write-options.js';
import { findingsMax } from '../typed/conform.js';
import { FieldReport, type Submission } from '../registry/write/submission.js';
import type { Clock } from '../std/clock.js';
import type { Steps } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import { applyInCbor, type PatchType } from '../verbs/patch.js';
import { readBody } from './request-body.js';

/** Options of decoding a request body. The verbs check that the result is an object of the kind. */
interface SubmissionOptions {
  readonly decoders: readonly Decoder[];
  readonly limits: Pick<Limits, 'requestBodyBytesMax' | 'requestValuesMax'>;
  readonly clock: Clock;
  /** Kind of the route, for error messages. */
  readonly kind: string;
  readonly fieldValidation: FieldValidation;
}

export async function submission(request: FastifyRequest, options: SubmissionOptions): Promise<Submission> {
  // Negotiated first, so that a body of an unsupported media type is not read.
  const decoder = negotiateInput(request.raw.headers['content-type'], options.decoders);
  const bytes = await readBody(request, options.limits.requestBodyBytesMax);
  request.kube.begin('decode');
  const submitted = await decoded(bytes, decoder, options);
  request.kube.begin('handling');
  return submitted;
}

/** The fields of a type, whose values may be of any other one. */
type Unchecked<T> = { readonly [Field in keyof T]: unknown };

/** Returns the name of a decoded object, or else its generateName; '' without both. The object is not validated yet. */
export function submittedName(value: unknown): string {
  const { metadata } = asFields(value) as Partial<Unchecked<KubeObject>>;
  const { name, generateName } = asFields(metadata) as Partial<Unchecked<ObjectMeta>>;
  return asText(name) || asText(generateName);
}

/** Returns the decoded DeleteOptions, or undefined if the request has no body. */
export async function submittedOptions(
  request: FastifyRequest,
  options: Omit<SubmissionOptions, 'fieldValidation'>,
): Promise<unknown> {
  const bytes = await readBody(request, options.limits.requestBodyBytesMax);
  request.kube.begin('decode');
  if (bytes.length === 0) return undefined;
  const decoder = negotiateInput(request.raw.headers['content-type'], options.decoders);
  const { value } = await decoded(bytes, decoder, { ...options, fieldValidation: 'Ignore' });
  request.kube.begin('handling');
  return value;
}

async function decoded(
  bytes: Buffer,
  decoder: Decoder,
  { kind, fieldValidation, limits, clock }: SubmissionOptions,
): Promise<Submission> {
  const timer = new YieldTimer(clock);
  const isJson = decoder.name === 'json';
  // Duplicate JSON fields are merged as kube-apiserver does, also with fieldValidation=Ignore.
  const findDuplicates = isJson || fieldValidation !== 'Ignore';
  const { object, duplicates } = await timer.run(
    requestObjectInSteps(bytes, decoder, kind, { findDuplicates, valuesMax: limits.requestValuesMax }),
  );
  if (timer.isDue()) await timer.yield();
  const fields = new FieldReport(fieldValidation, duplicates, isJson ? positionsIn(bytes) : undefined);
  const repeated = isJson && duplicates.length > 0 ? await timer.run(repeatedIn(bytes)) : undefined;
  if (timer.isDue()) await timer.yield();
  return { value: object, fields, repeated };
}

function* repeatedIn(bytes: Buffer): Steps<Submission['repeated']> {
  const { text, mark } = renameRepeated(bytes.toString());
  yield;
  return { value: yield* decodeJsonInSteps(text), mark };
}

interface PatchEncoding {
  readonly mediaType: string;
  readonly type: PatchType | 'apply';
}

export async function submittedPatch(
  bytes: Buffer,
  encoding: PatchEncoding,
  { fieldValidation: level, limits, clock }: Omit<SubmissionOptions, 'decoders' | 'kind'>,
): Promise<Submission> {
  const timer = new YieldTimer(clock);
  const { type } = encoding;
  const { value, duplicates } = await timer.run(decodedPatch(bytes, encoding, level, limits.requestValuesMax));
  if (timer.isDue()) await timer.yield();
  if (type === 'apply' || level === 'Ignore') return { value, fields: new FieldReport(level, duplicates) };
  const repeated = findDuplicateFields(bytes.toString());
  if (timer.isDue()) await timer.yield();
  const texts =
    type === 'json' ? [...repeated, ...unknownInOperations(value)].map((text) => `json patch ${text}`) : repeated;
  return { value, fields: new FieldReport(level, texts, type === 'json' ? undefined : positionsIn(bytes)) };
}

function* decodedPatch(
  bytes: Buffer,
  { mediaType, type }: PatchEncoding,
  level: FieldValidation,
  valuesMax: number,
): Steps<{ readonly value: unknown; readonly duplicates: readonly string[] }> {
  try {
    if (mediaType === applyInCbor) return { value: decodeCbor(bytes, valuesMax), duplicates: [] };
    if (type === 'apply') return yield* decodeYamlInSteps(bytes, { findDuplicates: level !== 'Ignore', valuesMax });
    new ValueBudget(valuesMax).takeJson(bytes);
    yield;
    return { value: yield* decodeJsonInSteps(bytes.toString()), duplicates: [] };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw ApiError.badRequest(undecodable(mediaType, type) + error.message, error);
  }
}

/** Returns the prefix of a decoding error. kube-apiserver's texts, which clients match. */
function undecodable(mediaType: string, type: PatchType | 'apply'): string {
  if (type === 'strategic') return '';
  if (type !== 'apply') return 'error decoding patch: ';
  return mediaType === applyInCbor ? 'error decoding CBOR: ' : 'error decoding YAML: error converting YAML to JSON: ';
}

const operationFields = new Set(['op', 'path', 'from', 'value']);

function unknownInOperations(operations: unknown): string[] {
  const found: string[] = [];
  for (const [index, operation] of asItems(operations).entries()) {
    for (const name of Object.keys(operation)) {
      if (!operationFields.has(name)) found.push(`unknown field ${goQuote(`[${index}].${name}`)}`);
      if (found.length >= findingsMax) return found;
    }
  }
  return found;
}

const positionsIn = (bytes: Buffer) => (paths: ReadonlySet<string>) => positionsOfFields(bytes.toString(), paths);
