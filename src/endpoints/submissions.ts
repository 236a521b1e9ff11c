import type { FastifyRequest } from 'fastify';
import { decodeCbor } from '../codec/cbor-decoder.js';
import { DecodeError } from '../codec/decode-error.js';
import type { Decoder } from '../codec/encodings.js';
import { decodeJsonInSteps } from '../codec/json.js';
import { negotiateInput } from '../codec/negotiate.js';
import { requestObjectInSteps } from '../codec/request-object.js';
import { findDuplicateFields, positionsOfFields, renameRepeated } from '../codec/strict-json.js';
import { ValueBudget } from '../codec/value-budget.js';
import { decodeYamlInSteps } from '../codec/yaml.js';
import type { Limits } from '../config/limits.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { asItems } from '../machinery/fields.js';
import type { FieldValidation } from '../machinery/list-options.js';
import { findingsMax } from '../schema/conform.js';
import { FieldReport, type Submission } from '../registry/submission.js';
import type { Clock } from '../std/clock.js';
import type { Steps } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import { applyInCbor, type PatchType } from '../verbs/patch.js';
import { readBody } from './request-body.js';

/** What clients send, decoded, with what is to be said of its fields. Whether it is an object of its kind is for the verbs. */
export interface SubmissionOptions {
  readonly decoders: readonly Decoder[];
  readonly limits: Pick<Limits, 'requestBodyBytesMax' | 'requestValuesMax'>;
  readonly clock: Clock;
  /** Of the route, for messages. */
  readonly kind: string;
  readonly fieldValidation: FieldValidation;
}

export async function submission(request: FastifyRequest, options: SubmissionOptions): Promise<Submission> {
  // The type is looked at first: a body that cannot be read is not waited for.
  const decoder = negotiateInput(request.raw.headers['content-type'], options.decoders);
  return decoded(await readBody(request, options.limits.requestBodyBytesMax), decoder, options);
}

/** The options of a deletion may be left out altogether. */
export async function submittedOptions(
  request: FastifyRequest,
  options: Omit<SubmissionOptions, 'fieldValidation'>,
): Promise<unknown> {
  const bytes = await readBody(request, options.limits.requestBodyBytesMax);
  if (bytes.length === 0) return undefined;
  const decoder = negotiateInput(request.raw.headers['content-type'], options.decoders);
  return (await decoded(bytes, decoder, { ...options, fieldValidation: 'Ignore' })).value;
}

async function decoded(
  bytes: Buffer,
  decoder: Decoder,
  { kind, fieldValidation, limits, clock }: SubmissionOptions,
): Promise<Submission> {
  const timer = new YieldTimer(clock);
  const isJson = decoder.name === 'json';
  // What JSON says twice is read with both, also where nobody wants to know of it.
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

export interface PatchForm {
  readonly mediaType: string;
  readonly type: PatchType | 'apply';
}

export async function submittedPatch(
  bytes: Buffer,
  form: PatchForm,
  { fieldValidation: level, limits, clock }: Omit<SubmissionOptions, 'decoders' | 'kind'>,
): Promise<Submission> {
  const timer = new YieldTimer(clock);
  const { type } = form;
  const { value, duplicates } = await timer.run(decodedPatch(bytes, form, level, limits.requestValuesMax));
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
  { mediaType, type }: PatchForm,
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

/** How messages about bodies that cannot be read begin; clients know them. */
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
