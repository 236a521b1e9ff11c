import { createHash } from 'node:crypto';
import type { EncodedObject } from '../../cache/encoded-object.js';

/** Everything that the result of an apply depends on, beside the stored object. */
export interface ApplyRequest {
  readonly body: Buffer;
  readonly mediaType: string;
  readonly fieldValidation: string;
  /** The version and subresource of the request. */
  readonly version: string;
  readonly subresource: string;
  readonly manager: string;
  readonly force: boolean;
}

/**
 * Remembers which configurations, applied to a state of an object, left it as it is. Controllers apply the same
 * configuration again and again; such a request needs neither be decoded nor merged. What is remembered is forgotten with
 * that state of the object, or when the kind changes, since custom kinds then get another store.
 */
export class UnchangedApplies {
  private readonly known = new WeakMap<EncodedObject, string[]>();

  isKnown(object: EncodedObject, request: ApplyRequest): boolean {
    return this.known.get(object)?.includes(digestOf(request)) ?? false;
  }

  remember(object: EncodedObject, request: ApplyRequest): void {
    const digests = this.known.get(object);
    if (!digests) this.known.set(object, [digestOf(request)]);
    else if (digests.push(digestOf(request)) > managersMax) digests.shift();
  }
}

/** The usual number of managers that apply to one object, and a few more. */
const managersMax = 8;

function digestOf({ body, mediaType, fieldValidation, version, subresource, manager, force }: ApplyRequest): string {
  const hash = createHash('sha256');
  hash.update([mediaType, fieldValidation, version, subresource, manager, force, ''].join('\0'));
  return hash.update(body).digest('base64');
}
