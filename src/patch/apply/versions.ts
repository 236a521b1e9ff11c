import type { JsonObject } from '../../machinery/kube-object.js';
import { changesBetween, changesWithout, type Changes } from './changes.js';
import type { FieldSet } from './field-set.js';
import type { Schema } from './schema.js';

/** How owners of other versions see an object. */
export interface KindVersions {
  /** Undefined for versions that nobody serves any more: who owns fields in their words is forgotten. */
  schema(apiVersion: string): Schema | undefined;
  /** The object, whatever version it is in, in another one. The argument is not changed. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** Fields that writes through this path do not reach, and so never own: `status` of the object itself. */
  unreached?(apiVersion: string): FieldSet | undefined;
}

export interface VersionedObject {
  readonly apiVersion: string;
  readonly schema: Schema;
  readonly object: unknown;
}

/** Undefined when the version is gone. */
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

/** The differences between two states, made in each version that somebody asks for. */
export class VersionedChanges {
  private readonly known = new Map<string, Changes | undefined>();

  constructor(
    private readonly from: VersionedObject,
    private readonly to: VersionedObject,
    private readonly toIsComplete: boolean,
    private readonly versions: KindVersions,
  ) {}

  /** Undefined when the version is gone. */
  in(apiVersion: string): Changes | undefined {
    if (this.known.has(apiVersion)) return this.known.get(apiVersion);
    const from = inVersion(this.from, apiVersion, this.versions);
    const to = inVersion(this.to, apiVersion, this.versions);
    const changes =
      from &&
      to &&
      changesBetween({ schema: to.schema, from: from.object, to: to.object, toIsComplete: this.toIsComplete });
    const reached = changes && changesWithout(changes, this.versions.unreached?.(apiVersion));
    this.known.set(apiVersion, reached);
    return reached;
  }
}
