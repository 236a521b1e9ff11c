import type { WatchCache } from '../cache/watch-cache.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { FieldError } from '../machinery/field-error.js';
import { isCustom, type ServedResource } from '../registry/resource-registry.js';
import { unchangedUpdateErrors } from '../registry/write/update-errors.js';
import type { KeyValue } from '../storage/kv-store.js';
import type { Problem, ResourceReport } from './check-report.js';
import { encryptionOf } from './encryption.js';

interface TallyOptions {
  readonly cache: WatchCache;
  /** Undefined for a custom kind without served versions: its objects are read, but not validated. */
  readonly served: ServedResource | undefined;
  /** True if --runtime-config enables a version of the resource. */
  readonly isServed: boolean;
  /** The path of the keys below the prefix. */
  readonly path: string;
  readonly problemsMax: number;
}

/** Reads and validates the values of one resource as the server does, and counts them. */
export class ResourceTally {
  private objects = 0;
  private unreadable = 0;
  private invalid = 0;
  private converted = 0;
  private readonly problems: Problem[] = [];

  constructor(private readonly options: TallyOptions) {}

  /** Returns the problem of the value, if it has one. */
  take(item: KeyValue): Problem | undefined {
    this.objects++;
    const problem = this.problemOf(item);
    if (!problem) return undefined;
    if (problem.type === 'unreadable') this.unreadable++;
    else this.invalid++;
    if (this.problems.length < this.options.problemsMax) this.problems.push(problem);
    return problem;
  }

  report(): ResourceReport {
    const { objects, unreadable, invalid, converted, problems } = this;
    const { served, path, isServed } = this.options;
    const readable = objects - unreadable;
    const counts = { objects, readable, converted, valid: readable - invalid, problems };
    if (!served) return { group: '', resource: path, kind: '', isCustom: true, ...counts };
    const { group, version, plural: resource, kind } = served.definition;
    const flag = `--runtime-config=${apiVersionOf(group, version)}=true`;
    return { group, resource, kind, isCustom: isCustom(served), ...(!isServed && { servedWith: flag }), ...counts };
  }

  private problemOf(item: KeyValue): Problem | undefined {
    const { key } = item;
    const encryption = encryptionOf(item);
    if (encryption !== undefined) return { key, type: 'unreadable', reason: encryption };
    const encoded = this.options.cache.decode(item);
    if (encoded.corruption) return { key, type: 'unreadable', reason: shortened(encoded.corruption.message) };
    if (encoded.isOutdated) this.converted++;
    const { unknownFields, attributes } = encoded;
    // As in ResourceStore.checkRewritable(): an object that is being deleted may lose them.
    if (unknownFields.length > 0 && !attributes.lifetime?.isDeleting) {
      const shown = unknownFields.slice(0, shownMax).join(', ') + (unknownFields.length > shownMax ? ', …' : '');
      return { key, type: 'unknownFields', reason: shortened(`fields that this server does not know: ${shown}`) };
    }
    const { served } = this.options;
    if (!served) return undefined;
    try {
      const errors = unchangedUpdateErrors(served.store, encoded);
      return errors.length === 0 ? undefined : { key, type: 'invalid', reason: textOf(errors) };
    } catch (error) {
      return { key, type: 'invalid', reason: shortened(`validation failed: ${(error as Error).message}`) };
    }
  }
}

const shownMax = 3;
const reasonLengthMax = 300;

function textOf(errors: readonly FieldError[]): string {
  const shown = errors.slice(0, shownMax).map(({ field, detail }) => shortened(`${field}: ${detail}`));
  const more = errors.length - shown.length;
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

const shortened = (text: string): string =>
  text.length > reasonLengthMax ? `${text.slice(0, reasonLengthMax)}…` : text;
