import { goQuote } from '../../machinery/go-quote.js';
import type { InjectedDecision } from '../../kubeconfig-client/injected-call.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/kube-object.js';

/** An answer that is no AdmissionResponse to the review. Messages are those of kube-apiserver. */
export class InvalidResponse extends Error {}

/** The Status of a denial, as the webhook wrote it. */
export interface DenialStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details: JsonObject | undefined;
}

export interface AdmissionResponse {
  readonly isAllowed: boolean;
  readonly status: DenialStatus | undefined;
  /** JSON; undefined without a patch. */
  readonly patch: Buffer | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: readonly (readonly [string, string])[];
}

/** Entries of an answer at most, and the characters of each. */
const entriesMax = 100;
const charactersMax = 10 * 1024;

/** Reads the answer to a review. Throws InvalidResponse. */
export function readReview(
  review: JsonValue,
  expected: { readonly uid: string; readonly apiVersion: string; readonly mutates: boolean },
): AdmissionResponse {
  const document = new Answered(review, 'AdmissionReview');
  const response = document.object('response');
  if (!response) throw new InvalidResponse('webhook response was absent');
  const isV1 = expected.apiVersion.endsWith('/v1');
  if (isV1) {
    const uid = response.text('uid') ?? '';
    if (uid !== expected.uid)
      throw new InvalidResponse(`expected response.uid=${goQuote(expected.uid)}, got another one`);
    const isReview = document.text('kind') === 'AdmissionReview' && document.text('apiVersion') === expected.apiVersion;
    if (!isReview) {
      throw new InvalidResponse(
        `expected webhook response of ${expected.apiVersion}, Kind=AdmissionReview, got another kind`,
      );
    }
  }
  return {
    isAllowed: response.flag('allowed'),
    status: statusOf(response.object('status')),
    patch: patchOf(response, expected.mutates, isV1),
    warnings: response.texts('warnings').slice(0, entriesMax),
    auditAnnotations: response
      .entries('auditAnnotations')
      .slice(0, entriesMax)
      .map(([key, value]) => [key.slice(0, charactersMax), value.slice(0, charactersMax)] as const),
  };
}

/** Returns an answer with a decision alone. */
export function reviewWith(
  { isAllowed, message }: InjectedDecision,
  { uid, apiVersion }: { readonly uid: string; readonly apiVersion: string },
): object {
  const response = { uid, allowed: isAllowed, ...(message !== '' && { status: { message } }) };
  return { kind: 'AdmissionReview', apiVersion, response };
}

function patchOf(response: Answered, mutates: boolean, isV1: boolean): Buffer | undefined {
  const patch = Buffer.from(response.text('patch') ?? '', 'base64');
  const type = response.text('patchType');
  const hasPatch = patch.length > 0;
  if (!mutates) {
    if (hasPatch) throw new InvalidResponse('validating webhook may not return response.patch');
    if (type !== undefined) throw new InvalidResponse('validating webhook may not return response.patchType');
    return undefined;
  }
  // In v1beta1, the type of a patch is JSONPatch if it is absent.
  if (isV1 && hasPatch && type === undefined) {
    throw new InvalidResponse('webhook returned response.patch but not response.patchType');
  }
  if (isV1 && !hasPatch && type !== undefined) {
    throw new InvalidResponse('webhook returned response.patchType but not response.patch');
  }
  if (hasPatch && type !== undefined && type !== 'JSONPatch') {
    throw new InvalidResponse('unsupported patch type; the only one is JSONPatch');
  }
  return hasPatch ? patch : undefined;
}

function statusOf(status: Answered | undefined): DenialStatus | undefined {
  if (!status) return undefined;
  const details = status.object('details');
  return {
    code: status.integer('code') ?? 0,
    reason: status.text('reason') ?? '',
    message: status.text('message') ?? '',
    details: details && detailsOf(details),
  };
}

/** Keeps the fields of StatusDetails. */
function detailsOf(details: Answered): JsonObject {
  const kept: JsonObject = {};
  for (const field of ['name', 'group', 'kind', 'uid'] as const) {
    const text = details.text(field) ?? '';
    if (text !== '') kept[field] = text;
  }
  const causes = details.items('causes').map((cause) => {
    const fields: JsonObject = {};
    for (const field of ['reason', 'message', 'field'] as const) {
      const text = cause.text(field) ?? '';
      if (text !== '') fields[field] = text;
    }
    return fields;
  });
  if (causes.length > 0) kept['causes'] = causes;
  const seconds = details.integer('retryAfterSeconds') ?? 0;
  if (seconds > 0) kept['retryAfterSeconds'] = seconds;
  return kept;
}

/** Reads own fields of an answer; absent, null and zero values are equal, as in Go. */
class Answered {
  private readonly fields: JsonObject;

  constructor(
    value: JsonValue,
    private readonly path: string,
  ) {
    if (!isJsonObject(value)) throw this.wrong('', 'an object');
    this.fields = value;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw this.wrong(name, 'a string');
    return value;
  }

  flag(name: string): boolean {
    const value = this.value(name) ?? false;
    if (typeof value !== 'boolean') throw this.wrong(name, 'a boolean');
    return value;
  }

  integer(name: string): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > 2 ** 31) {
      throw this.wrong(name, 'an integer');
    }
    return value;
  }

  object(name: string): Answered | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : new Answered(value, `${this.path}.${name}`);
  }

  items(name: string): Answered[] {
    return this.list(name).map((item, index) => new Answered(item, `${this.path}.${name}[${index}]`));
  }

  texts(name: string): string[] {
    return this.list(name).map((item) => {
      if (typeof item !== 'string') throw this.wrong(name, 'a list of strings');
      return item.slice(0, charactersMax);
    });
  }

  entries(name: string): (readonly [string, string])[] {
    const value = this.value(name) ?? {};
    if (!isJsonObject(value)) throw this.wrong(name, 'a map');
    return Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string') throw this.wrong(name, 'a map of strings');
      return [key, text] as const;
    });
  }

  private list(name: string): readonly JsonValue[] {
    const value = this.value(name) ?? [];
    if (!Array.isArray(value)) throw this.wrong(name, 'a list');
    return value.slice(0, entriesMax);
  }

  private value(name: string): JsonValue | undefined {
    return Object.hasOwn(this.fields, name) ? (this.fields[name] ?? undefined) : undefined;
  }

  private wrong(name: string, type: string): InvalidResponse {
    return new InvalidResponse(`${this.path}${name === '' ? '' : `.${name}`} must be ${type}`);
  }
}
