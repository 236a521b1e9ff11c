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

/** The steps that the same apply may skip: decoding and merging, or also all that follows but for the check of the stored state. */
type Skipped = 'merge' | 'write';

/**
 * Remembers which configurations, applied to a state of an object, left it as it is. Controllers apply the same
 * configuration again and again; such a request needs neither be decoded nor merged. What is remembered is forgotten with
 * that state of the object, or when the kind changes, since custom kinds then get another store.
 */
export class UnchangedApplies {
  private readonly known = new WeakMap<EncodedObject, KnownApply[]>();

  find(object: EncodedObject, request: ApplyRequest): Skipped | undefined {
    const applies = this.known.get(object);
    if (!applies) return undefined;
    const digest = digestOf(request);
    return applies.find((apply) => apply.digest === digest)?.skips;
  }

  remember(object: EncodedObject, request: ApplyRequest, skips: Skipped): void {
    const digest = digestOf(request);
    const applies = this.known.get(object);
    if (!applies) {
      this.known.set(object, [{ digest, skips }]);
      return;
    }
    const known = applies.find((apply) => apply.digest === digest);
    if (known) known.skips = skips;
    else if (applies.push({ digest, skips }) > managersMax) applies.shift();
  }
}

interface KnownApply {
  readonly digest: string;
  skips: Skipped;
}

/** The usual number of managers that apply to one object, and a few more. */
const managersMax = 8;

function digestOf({ body, mediaType, fieldValidation, version, subresource, manager, force }: ApplyRequest): string {
  const hash = createHash('sha256');
  hash.update([mediaType, fieldValidation, version, subresource, manager, force, ''].join('\0'));
  return hash.update(body).digest('base64');
}
