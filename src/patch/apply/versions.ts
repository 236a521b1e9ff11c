import type { JsonObject } from '../../machinery/kube-object.js';
import { Changes, changesBetween } from './changes.js';
import { onlyMatching, type FieldPattern } from './field-pattern.js';
import { differenceWithBelow, type FieldSet } from './field-set.js';
import type { Schema } from './schema.js';

/** The versions of a kind, for owners of other versions. */
export interface KindVersions {
  /** Undefined for versions that are no longer served: their owners are dropped. */
  schema(apiVersion: string): Schema | undefined;
  /** Converts the object to another version. The argument is not changed. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** Fields that writes through this subresource do not change, and so never own: `status` for the object itself. */
  unreached?(apiVersion: string): FieldSet | undefined;
  /**
   * The few fields that writes through this subresource change: `spec/ephemeralContainers`; undefined for all others.
   */
  reached?(apiVersion: string): FieldPattern | undefined;
}

/** Returns the fields that writes through this subresource change. */
export function reachedFields(fields: FieldSet, apiVersion: string, versions: KindVersions): FieldSet {
  const pattern = versions.reached?.(apiVersion);
  const found = pattern ? onlyMatching(fields, pattern) : fields;
  const unreached = versions.unreached?.(apiVersion);
  return unreached ? differenceWithBelow(found, unreached) : found;
}

function reachedChanges(changes: Changes, apiVersion: string, versions: KindVersions): Changes {
  if (!versions.reached?.(apiVersion) && !versions.unreached?.(apiVersion)) return changes;
  return new Changes(
    reachedFields(changes.added, apiVersion, versions),
    reachedFields(changes.modified, apiVersion, versions),
    reachedFields(changes.removed, apiVersion, versions),
  );
}

export interface VersionedObject {
  readonly apiVersion: string;
  readonly schema: Schema;
  readonly object: unknown;
}

/** Returns undefined if the version is no longer served. */
export function inVersion(
  versioned: VersionedObject,
  apiVersion: string,
  versions: KindVersions,
): VersionedObject | undefined {
  if (versioned.apiVersion === apiVersion) return versioned;
  const schema = versions.schema(apiVersion);
  if (!schema) return undefined;
  const { object } = versioned;
  return {
    apiVersion,
    schema,
    object: typeof object === 'object' && object !== null ? versions.convert(object as JsonObject, apiVersion) : object,
  };
}

/** The differences between two objects, computed in each version on first use. */
export class VersionedChanges {
  private readonly known = new Map<string, Changes | undefined>();

  constructor(
    private readonly from: VersionedObject,
    private readonly to: VersionedObject,
    private readonly toIsComplete: boolean,
    private readonly versions: KindVersions,
  ) {}

  /** Returns undefined if the version is no longer served. */
  in(apiVersion: string): Changes | undefined {
    if (this.known.has(apiVersion)) return this.known.get(apiVersion);
    const from = inVersion(this.from, apiVersion, this.versions);
    const to = inVersion(this.to, apiVersion, this.versions);
    const changes =
      from &&
      to &&
      changesBetween({ schema: to.schema, from: from.object, to: to.object, toIsComplete: this.toIsComplete });
    const reached = changes && reachedChanges(changes, apiVersion, this.versions);
    this.known.set(apiVersion, reached);
    return reached;
  }
}
