import { decodeJsonInSteps, encodeJson } from '../../codec/json.js';
import { asFields, asItems, asText, isSet } from '../../machinery/fields.js';
import { isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../machinery/kube-object.js';
import { validateAnnotations, validateLabels } from '../../machinery/object-meta-validation.js';
import { putOwn } from '../../machinery/put-own.js';
import type { Steps } from '../../std/steps.js';
import { ConversionFailure } from './conversion-failure.js';

interface ReviewRequest {
  readonly uid: string;
  /** `apiextensions.k8s.io/v1`, the version of the ConversionReview. */
  readonly reviewVersion: string;
  /** The version that the objects are converted to. */
  readonly desiredApiVersion: string;
  readonly objects: readonly KubeObject[];
}

/** Encodes the ConversionReview that is sent to a webhook. */
export function encodeReview({ uid, reviewVersion, desiredApiVersion, objects }: ReviewRequest): Buffer {
  const request = { uid, desiredAPIVersion: desiredApiVersion, objects };
  return encodeJson({ kind: 'ConversionReview', apiVersion: reviewVersion, request });
}

/** Returns the answer of a webhook that cannot convert the objects. */
export function failedReview({ uid, reviewVersion }: ReviewRequest, message: string): object {
  const response = { uid, convertedObjects: [], result: { status: 'Failed', message } };
  return { kind: 'ConversionReview', apiVersion: reviewVersion, response };
}

/**
 * Returns the converted objects of an answer, with the metadata of the originals except for labels and annotations,
 * which a webhook may change. Throws ConversionFailure if the answer or one of its objects is invalid.
 */
export function* decodeReview(answer: Buffer, request: ReviewRequest): Steps<KubeObject[]> {
  const { objects, desiredApiVersion } = request;
  const converted = convertedObjects(yield* decodedAnswer(answer), request);
  if (converted.length !== objects.length) {
    throw new ConversionFailure(
      'conversion_webhook_partial_response_failure',
      `returned ${converted.length} objects, expected ${objects.length}`,
    );
  }
  const results: KubeObject[] = [];
  for (const [index, original] of objects.entries()) {
    results.push(checked(original, converted[index], desiredApiVersion, objects.length > 1 ? index : undefined));
    yield;
  }
  return results;
}

function* decodedAnswer(answer: Buffer): Steps<JsonValue> {
  try {
    return yield* decodeJsonInSteps(answer.toString());
  } catch (error) {
    throw malformed(`the answer is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function convertedObjects(answer: JsonValue, { uid, reviewVersion }: ReviewRequest): readonly unknown[] {
  if (!isJsonObject(answer)) throw malformed('the answer is not a ConversionReview');
  const { kind, apiVersion, response } = answer;
  // kube-apiserver does not check kind, version and uid of v1beta1 answers.
  const isChecked = !reviewVersion.endsWith('/v1beta1');
  if (isChecked && (kind !== 'ConversionReview' || apiVersion !== reviewVersion)) {
    const got = `${asText(apiVersion)}, Kind=${asText(kind)}`;
    throw malformed(`expected webhook response of ${reviewVersion}, Kind=ConversionReview, got ${short(got)}`);
  }
  if (!isJsonObject(response ?? null)) throw malformed('no response provided');
  const { uid: answeredUid, result, convertedObjects: converted } = asFields(response);
  if (isChecked && answeredUid !== uid) {
    throw malformed(`expected response.uid="${uid}", got "${short(asText(answeredUid))}"`);
  }
  const { status, message } = asFields(result);
  if (status !== 'Success') {
    throw malformed(short(asText(message)) || `response.result.status was '${short(asText(status))}', not 'Success'`);
  }
  return asItems(converted);
}

/** `index` is that of the object in a list; undefined for a single object. */
function checked(
  original: KubeObject,
  converted: unknown,
  desiredApiVersion: string,
  index: number | undefined,
): KubeObject {
  const what = index === undefined ? 'object' : `converted object at index ${index}`;
  if (!isJsonObject(converted)) throw invalid(`returned invalid ${what}: it is not an object`);
  const { apiVersion, kind, metadata } = converted;
  if (apiVersion !== desiredApiVersion) {
    const at = index === undefined ? 'object at index 0' : what;
    const received = short(asText(apiVersion));
    throw invalid(`returned invalid ${at}: invalid groupVersion (expected ${desiredApiVersion}, received ${received})`);
  }
  if (kind !== original.kind) {
    const at = index === undefined ? 'object at index 0' : what;
    throw invalid(
      `returned invalid ${at}: invalid kind (expected ${asText(original.kind)}, received ${short(asText(kind))})`,
    );
  }
  const difference = identityDifference(original, asFields(metadata));
  if (difference !== undefined) throw invalid(`returned invalid ${what}: ${difference}`);
  const problem = metadataProblem(original, metadata);
  if (problem !== undefined) {
    throw invalid(`returned invalid metadata${index === undefined ? '' : ` in object at index ${index}`}: ${problem}`);
  }
  return { ...(converted as KubeObject), metadata: restoredMetadata(original, asFields(metadata)) };
}

function identityDifference(
  { metadata }: KubeObject,
  converted: Readonly<Record<string, unknown>>,
): string | undefined {
  const fields = [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const;
  for (const [field, label] of fields) {
    const [expected, got] = [metadata[field] ?? '', asText(converted[field])];
    if (expected !== got) return `must have the same ${label}: ${expected} != ${short(got)}`;
  }
  return undefined;
}

function metadataProblem(original: KubeObject, metadata: JsonValue | undefined): string | undefined {
  if (metadata === undefined) return 'missing metadata in converted object';
  if (!isJsonObject(metadata)) return 'invalid metadata in converted object: it is not an object';
  for (const field of ['labels', 'annotations'] as const) {
    const texts = metadata[field];
    if (!isSet(texts)) continue;
    if (!isJsonObject(texts)) return `invalid metadata.${field} in converted object: it is not an object`;
    for (const [key, text] of Object.entries(texts)) {
      if (typeof text !== 'string') return `metadata.${field}[${short(key)}] must be a string`;
    }
    if (isSame(original.metadata[field] ?? {}, texts)) continue;
    const errors =
      field === 'labels'
        ? validateLabels(texts as Record<string, string>, 'metadata.labels')
        : validateAnnotations(texts as Record<string, string>, 'metadata.annotation');
    if (errors.length > 0) return errors.map(({ field: path, detail }) => `${path}: ${detail}`).join(', ');
  }
  return undefined;
}

function isSame(original: Readonly<Record<string, string>>, converted: JsonObject): boolean {
  const entries = Object.entries(converted);
  return Object.keys(original).length === entries.length && entries.every(([key, text]) => original[key] === text);
}

/** Returns the metadata of the original with the labels and annotations of the converted object. */
export function restoredMetadata(
  { metadata }: KubeObject,
  { labels, annotations }: Readonly<Record<string, unknown>>,
): KubeObject['metadata'] {
  const restored: Record<string, unknown> = { ...metadata };
  for (const [field, texts] of [
    ['labels', labels],
    ['annotations', annotations],
  ] as const) {
    if (isSet(texts)) putOwn(restored, field, texts);
    else delete restored[field];
  }
  return restored;
}

const malformed = (problem: string) =>
  new ConversionFailure('conversion_webhook_malformed_response_failure', `failed: ${problem}`);
const invalid = (problem: string) =>
  new ConversionFailure('conversion_webhook_invalid_converted_object_failure', problem);

/** Shortens a text of the webhook for an error message. */
const short = (text: string) => (text.length > shownMax ? `${text.slice(0, shownMax)}…` : text);
const shownMax = 1000;
