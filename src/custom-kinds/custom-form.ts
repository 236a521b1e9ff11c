import type { Fields } from '../machinery/fields.js';
import type { JsonObject, KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';
import type { StructType, TypeSource } from '../machinery/type-model.js';
import { schemaOfJsonSchema } from '../patch/apply/schema-of-json-schema.js';
import { schemaOfType } from '../patch/apply/schema-of-type.js';
import type { Schema } from '../patch/apply/schema.js';
import type { CustomType } from '../registry/definition/custom-type.js';
import type { SubmittedObject } from '../registry/definition/custom-type.js';
import { ordered } from '../registry/write/submitted-object.js';
import { conform } from '../typed/conform.js';
import { compileSchema, type ValueSchema } from '../structural-schema/value-schema.js';

/** The schema of a version without one: keeps all fields. */
const anything: Fields = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

interface CustomFormOptions {
  readonly kind: string;
  readonly apiVersion: string;
  readonly schema: Fields | undefined;
  readonly types: TypeSource;
  /** Returns the form of another stored version whose objects a webhook converts; undefined if none does. */
  readonly formOfStored?: (apiVersion: string) => CustomForm | undefined;
}

/**
 * Prunes, defaults and converts objects of one version of a custom kind by its OpenAPI schema, which is compiled on
 * first use.
 */
export class CustomForm implements CustomType {
  readonly openApiSchema: JsonObject;
  private compiled: ValueSchema | undefined;
  private owned: Schema | undefined;
  private bare: StructType | undefined;

  constructor(private readonly options: CustomFormOptions) {
    this.openApiSchema = (options.schema ?? anything) as JsonObject;
  }

  get values(): ValueSchema {
    return (this.compiled ??= compileSchema(this.openApiSchema, { objectMeta: this.objectMeta() }));
  }

  get ownership(): Schema {
    return (this.owned ??= schemaOfJsonSchema(this.openApiSchema, schemaOfType(this.objectMeta())));
  }

  read(given: KubeObject): SubmittedObject {
    const { metadata, unknownFields } = this.metadataOf(given);
    const unknown: string[] = [];
    const pruned = this.values.pruned(given as unknown as JsonObject, (path) => unknown.push(path));
    const object = { ...(this.values.filled(pruned) as JsonObject), metadata } as unknown as KubeObject;
    return {
      object: ordered(object, this.options.kind, this.options.apiVersion),
      unknownFields: [...unknownFields, ...unknown],
    };
  }

  canonical(object: KubeObject): KubeObject {
    return ordered({ ...object, metadata: this.metadataOf(object).metadata }, this.options.kind, object.apiVersion);
  }

  refreshed(stored: KubeObject): KubeObject | undefined {
    const other =
      stored.apiVersion === this.options.apiVersion ? undefined : this.options.formOfStored?.(stored.apiVersion);
    if (other) return other.refreshed(stored);
    const object = { ...stored, kind: this.options.kind, apiVersion: this.options.apiVersion } as unknown as JsonObject;
    const current = this.values.refreshed(object);
    const isSame =
      current === object && stored.apiVersion === this.options.apiVersion && stored.kind === this.options.kind;
    return isSame ? undefined : ordered(current as unknown as KubeObject, this.options.kind, this.options.apiVersion);
  }

  /** Converts an object of another version to this one by pruning the fields that this version does not have. */
  converted(object: KubeObject): KubeObject {
    return this.values.converted(object as unknown as JsonObject) as unknown as KubeObject;
  }

  /** Sets the defaults of the schema and removes nulls of fields that are not nullable. */
  fill(object: KubeObject): void {
    const filled = this.values.filled(object as unknown as JsonObject) as JsonObject;
    if ((filled as unknown) === object) return;
    for (const field of Object.keys(object)) if (!Object.hasOwn(filled, field)) delete object[field];
    for (const [field, value] of Object.entries(filled)) putOwn(object, field, value);
  }

  private objectMeta(): StructType {
    return this.options.types.struct('meta.v1.ObjectMeta');
  }

  private metadataOf({ metadata = {} }: KubeObject): { metadata: ObjectMeta; unknownFields: readonly string[] } {
    this.bare ??= this.options.types.struct('meta.v1.PartialObjectMetadata');
    const { object, unknownFields } = conform({ metadata } as unknown as JsonObject, this.bare);
    return { metadata: (object['metadata'] ?? {}) as unknown as ObjectMeta, unknownFields };
  }
}
